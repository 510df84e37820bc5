"""A factory has a path that returns None or something else that cannot be called."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.factories import (
    Definition,
    FunctionNode,
    definition,
    function_node,
    known_factories,
    required_arguments,
)
from veomni_opslint.model.return_paths import BadReturn, Surroundings, bad_returns
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)

_WHAT = {"None": "None", "value": "a value that cannot be called", "module": "a module, which cannot be called"}


def check(model: OpsModel) -> Iterator[Finding]:
    seen: set[Place] = set()
    for spec, factory in known_factories(model.registrations):
        found = definition(model, factory)
        if found is None or found.scope.kind == "class" or required_arguments(found.scope, factory):
            continue
        node = function_node(found)
        if node is None or factory.place is None:
            continue
        slot = f"{spec.name!r} for {spec.op_name}/{spec.variant}"
        for place, what in _faults(model, found, node, factory.place):
            if place not in seen:
                seen.add(place)
                message = (
                    f"the factory of {slot} {what}: the model is bound to that and fails at the first call, "
                    "or stays eager without a word; return the kernel, or raise an error that says what is missing"
                )
                yield rule.finding(place, message, [Related(factory.written, f"the factory of {slot} is given here")])


def _faults(model: OpsModel, found: Definition, node: FunctionNode, defined: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(node, ast.AsyncFunctionDef):
        yield defined, "is a coroutine function, so it returns a coroutine"
    elif _is_generator(node):
        yield defined, "has a yield, so it returns a generator"
    else:
        for bad in bad_returns(node, Surroundings(model, found)):
            yield _place(model, found, bad, defined), _described(bad)


def _place(model: OpsModel, found: Definition, bad: BadReturn, defined: Place) -> Place:
    if bad.node is None:
        return defined
    end = (bad.node.end_lineno or bad.node.lineno, bad.node.end_col_offset or bad.node.col_offset)
    return model.place(found.facts.path, (bad.node.lineno, bad.node.col_offset, *end))


def _described(bad: BadReturn) -> str:
    if bad.node is None:
        return "can reach its end without returning the kernel, so it returns None"
    return f"returns {_WHAT[bad.kind]} on this path"


def _is_generator(node: FunctionNode) -> bool:
    pending: list[ast.AST] = list(node.body) if isinstance(node, ast.FunctionDef) else [node.body]  # type: ignore[list-item]
    while pending:
        current = pending.pop()
        if isinstance(current, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending.extend(ast.iter_child_nodes(current))
    return False
