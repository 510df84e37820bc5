"""The expression or statement at the place of a finding, and what it stands in: for the fixes of rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.model.factories import parsed
from veomni_opslint.places import place_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where an expression stands.

    ``depends_on_loop``: it uses a name that takes several values, so that what is looked up later is another one.
    ``is_plain``: it uses no name that is local to a function, and none that the file binds more than once.
    """

    depends_on_loop: bool
    is_plain: bool

    @classmethod
    def of(cls, facts: FileFacts, node: ast.expr) -> Surroundings | None:
        """Those of *node*, an expression of the file; None where the file cannot be read."""
        tree = parsed(facts.text)
        if tree is None:
            return None
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        looped: set[str] = set()
        local = False
        for around in ancestors(tree, node):
            if isinstance(around, ast.For | ast.AsyncFor):
                looped |= _stored(around.target)
            elif isinstance(around, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                looped |= {name for generator in around.generators for name in _stored(generator.target)}
            local = local or isinstance(around, (*_FUNCTIONS, ast.ClassDef))
        times = [sum(binding.name == name and binding.scope == 0 for binding in facts.bindings) for name in names]
        return cls(bool(looped & names), not local and all(count <= 1 for count in times))


def expression_at(facts: FileFacts, place: Place) -> ast.expr | None:
    """The expression that is exactly at *place*."""
    tree = parsed(facts.text)
    for node in ast.walk(tree) if tree is not None else ():
        if (
            isinstance(node, ast.expr)
            and node.lineno == place.line
            and place_of(facts.path, facts.text, span_of(node)) == place
        ):
            return node
    return None


def is_in_function(facts: FileFacts, place: Place) -> bool:
    """Whether the expression at *place* is evaluated when a function runs, and not when it is defined."""
    node, tree = expression_at(facts, place), parsed(facts.text)
    if node is None or tree is None:
        return False
    below: ast.AST = node
    for around in ancestors(tree, node):
        if isinstance(around, _FUNCTIONS) and (below is around.body or below in _statements(around)):
            return True
        below = around
    return False


def parent_of(facts: FileFacts, place: Place) -> ast.AST | None:
    """What the expression at *place* is directly a part of."""
    node, tree = expression_at(facts, place), parsed(facts.text)
    return ancestors(tree, node)[0] if node is not None and tree is not None else None


def ancestors(tree: ast.Module, node: ast.AST) -> tuple[ast.AST, ...]:
    """The nodes that *node* is in, the innermost first."""
    parents = {id(child): parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}

    def upwards() -> Iterator[ast.AST]:
        current = parents.get(id(node))
        while current is not None:
            yield current
            current = parents.get(id(current))

    return tuple(upwards())


def _statements(function: ast.AST) -> list[ast.stmt]:
    body = getattr(function, "body", None)
    return body if isinstance(body, list) else []


def _stored(target: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
