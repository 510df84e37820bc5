"""The definitions behind the factories of kernel specs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy
from functools import lru_cache
from typing import NamedTuple

from veomni_opslint.facts import FileFacts, Scope
from veomni_opslint.findings import Place
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.registrations import Factory, KernelSpec, Registrations

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Definition(NamedTuple):
    """The def, lambda or class of the project that a factory is, or that it calls if it is a partial."""

    module: str
    facts: FileFacts
    scope: Scope


def known_factories(registrations: Registrations) -> Iterator[tuple[KernelSpec, Factory]]:
    """Each kernel spec whose factory is known."""
    for spec in registrations.kernel_specs:
        if isinstance(spec.factory, Factory):
            yield spec, spec.factory


def definition(model: OpsModel, factory: Factory) -> Definition | None:
    """Where *factory* is defined; None where that is not in the project."""
    if factory.place is None or factory.module not in model.symbols.modules:
        return None
    shallow = model.module(factory.module)
    for scope in shallow.scopes:
        if _is_at(model, shallow, scope, factory.place):
            return Definition(factory.module, shallow, scope)
    deep = model.deep(factory.module)
    for scope in deep.scopes:
        if _is_at(model, deep, scope, factory.place):
            return Definition(factory.module, deep, scope)
    return None


def _is_at(model: OpsModel, facts: FileFacts, scope: Scope, place: Place) -> bool:
    return scope.kind != "module" and scope.span[0] == place.line and model.place(facts.path, scope.span) == place


def required_arguments(scope: Scope, factory: Factory) -> tuple[str, ...]:
    """Parameters of a function that a call of *factory* without arguments leaves open."""
    left = factory.bound
    open_: list[str] = []
    for one in scope.parameters:
        if one.kind in ("positional", "normal") and left > 0:
            left -= 1
        elif one.kind in ("positional", "normal", "keyword") and not one.has_default:
            open_.append(one.name)
    return tuple(name for name in open_ if name not in factory.bound_names)


def function_node(found: Definition) -> FunctionNode | None:
    """The function or lambda with its body, at its real position."""
    node = _node_at(found.facts.tree, found.scope)
    if node is None or isinstance(node, ast.Lambda):
        return node or _node_at(parsed(found.facts.text), found.scope)
    whole = copy(node)
    whole.body = found.facts.function_body(node)
    return whole


def _node_at(tree: ast.Module | None, scope: Scope) -> FunctionNode | None:
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, FunctionNode) and (node.lineno, node.col_offset) == scope.span[:2]:
            return node
    return None


@lru_cache(maxsize=16)
def parsed(text: str) -> ast.Module | None:
    """The whole tree of a file, function bodies included, for the few files in which they are needed."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
