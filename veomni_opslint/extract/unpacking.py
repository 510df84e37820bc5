"""Results of calls that an assignment spreads over several names, at once or some lines later."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from veomni_opslint.extract.scope_state import span_of

if TYPE_CHECKING:
    from veomni_opslint.extract.walk import Walker

_FURTHEST = 12


def mark_unpacked_later(walker: Walker, statements: list[ast.stmt]) -> None:
    """Note calls whose result has a name that is used for nothing before one assignment of the block spreads it."""
    for position, statement in enumerate(statements):
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Name):
            continue
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Tuple | ast.List):
            continue
        call = _named(statements, position, statement.value.id)
        if call is not None:
            mark_unpacked(walker, call, target)
            walker.unpacked_later[id(call)] = span_of(statement)


def mark_spread(walker: Walker, target: ast.expr, value: ast.expr) -> None:
    """Note the calls in a value whose results an assignment to *target* spreads, also in a conditional expression."""
    if not isinstance(target, ast.Tuple | ast.List):
        return
    if isinstance(value, ast.Call):
        mark_unpacked(walker, value, target)
    elif isinstance(value, ast.IfExp):
        mark_spread(walker, target, value.body)
        mark_spread(walker, target, value.orelse)
    elif isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
        if any(isinstance(one, ast.Starred) for one in (*value.elts, *target.elts)):
            return
        for inner, element in zip(target.elts, value.elts, strict=True):
            mark_spread(walker, inner, element)


def mark_elements(walker: Walker, target: ast.expr, iterable: ast.expr) -> None:
    """Note the calls that make the elements that a loop over *target* goes through, where they are written there."""
    if isinstance(iterable, ast.List | ast.Tuple | ast.Set):
        for element in iterable.elts:
            mark_spread(walker, target, element)
    elif isinstance(iterable, ast.ListComp | ast.GeneratorExp | ast.SetComp):
        mark_spread(walker, target, iterable.elt)


def mark_unpacked(walker: Walker, call: ast.Call, target: ast.Tuple | ast.List) -> None:
    """Note over how many names the result of a call is spread."""
    rest = any(isinstance(element, ast.Starred) for element in target.elts)
    walker.unpacked[id(call)] = (len(target.elts) - rest, rest)


def _named(statements: list[ast.stmt], position: int, name: str) -> ast.Call | None:
    for before in reversed(statements[max(position - _FURTHEST, 0) : position]):
        if isinstance(before, ast.Assign | ast.AnnAssign) and isinstance(before.value, ast.Call):
            targets = before.targets if isinstance(before, ast.Assign) else [before.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name:
                return before.value
        if any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(before)):
            return None
    return None
