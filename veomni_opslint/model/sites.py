"""The condition on the path to any expression of a function, for questions that the facts do not answer."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either
from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.scope_state import ScopeState
from veomni_opslint.extract.walk import Walker
from veomni_opslint.facts import FileFacts, Scope, function_of

_MARK = "opslint_mark_"
_MAX_NESTED = 10
Path = tuple[ast.AST, ...]


class Site(NamedTuple):
    """An expression, the nodes around it from the outermost in, and when it is evaluated once its function runs."""

    node: ast.expr
    path: Path
    when: Condition


def sites_in(
    root: ast.Module,
    dialect: Dialect,
    pick: Callable[[ast.expr, Path], bool],
    function: bool,
    lines: Collection[int] | None = None,
) -> Iterator[Site]:
    """The expressions that *pick* takes; the functions in *root* run when they are used, but for one, the *function*.

    Only expressions that reach into one of the *lines* are looked at. The tree is the same again afterwards.
    """
    picked = list(_picked(root, pick, sorted(lines) if lines is not None else None))
    if not picked:
        return
    try:
        for number, (node, path) in enumerate(picked):
            mark = ast.copy_location(ast.Name(f"{_MARK}{number}", ast.Load()), node)
            _replace(path[-1], node, mark)
        scopes = Walker(root, dialect).walked()
    finally:
        for number, (node, path) in enumerate(picked):
            _restore(path[-1], f"{_MARK}{number}", node)
    found: dict[int, Condition] = {}
    for scope in scopes:
        for (name, _), use in scope.refs.items():
            if name.startswith(_MARK) and use is not None:
                number = int(name.removeprefix(_MARK).partition(".")[0])
                when = both(use[0], _entered(scope, scopes, function, 0))
                found[number] = either(found.get(number, FALSE), when)
    for number, when in sorted(found.items()):
        yield Site(*picked[number], when)


def tree_of(facts: FileFacts, scope: Scope) -> ast.Module | None:
    """A module with nothing but one function, parsed anew; None where the function cannot be read."""
    node = function_of(facts, scope)
    if node is None:
        return None
    node.decorator_list = []
    return ast.Module([node], [])


def outer_functions(facts: FileFacts) -> list[Scope]:
    """The functions of a file that are in no other function, in order."""
    found = []
    for scope in facts.scopes:
        parent = scope.parent
        while parent > 0 and facts.scopes[parent].kind == "class":
            parent = facts.scopes[parent].parent
        if scope.kind == "function" and parent == 0:
            found.append(scope)
    return found


def _picked(
    root: ast.AST, pick: Callable[[ast.expr, Path], bool], lines: list[int] | None
) -> Iterator[tuple[ast.expr, Path]]:
    stack: list[tuple[ast.AST, Path]] = [(root, ())]
    while stack:
        node, path = stack.pop()
        if lines is not None and isinstance(node, ast.stmt | ast.expr):
            first = node.lineno
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list:
                first = node.decorator_list[0].lineno
            position = bisect_left(lines, first)
            if position == len(lines) or lines[position] > (node.end_lineno or first):
                continue
        if isinstance(node, ast.expr) and pick(node, path):
            yield node, path
            continue
        inner = (*path, node)
        stack.extend((child, inner) for child in reversed(list(ast.iter_child_nodes(node))))


def _replace(parent: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for name, value in ast.iter_fields(parent):
        if value is old:
            setattr(parent, name, new)
        elif isinstance(value, list):
            value[:] = [new if one is old else one for one in value]


def _restore(parent: ast.AST, mark: str, node: ast.AST) -> None:
    for child in ast.iter_child_nodes(parent):
        if isinstance(child, ast.Name) and child.id == mark:
            _replace(parent, child, node)


def _entered(scope: ScopeState, scopes: list[ScopeState], function: bool, depth: int) -> Condition:
    """When a scope inside the outermost function is entered: where it is defined, and where it is used."""
    parent = scope.parent
    if parent is None or (function and parent.parent is None) or depth > _MAX_NESTED:
        return TRUE
    when = both(both(scope.when, scope.gate), _entered(parent, scopes, function, depth + 1))
    if scope.kind != "function":
        return when
    used = FALSE
    for user in scopes:
        if user is scope or not _is_inside(user, parent):
            continue
        for (name, _), use in user.refs.items():
            if name == scope.name and use is not None:
                inner = TRUE if user is parent else _entered(user, scopes, function, depth + 1)
                used = either(used, both(use[0], inner))
    return both(when, used) if used != FALSE else when


def _is_inside(scope: ScopeState, outer: ScopeState) -> bool:
    current: ScopeState | None = scope
    while current is not None and current is not outer:
        current = current.parent
    return current is outer
