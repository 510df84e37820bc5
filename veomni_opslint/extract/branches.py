"""``if`` and loops: each branch runs under its condition, and what follows under the conditions that lead past it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.extract.flow import merge
from veomni_opslint.extract.imports import imports_by_map
from veomni_opslint.extract.operands import Operand, condition, dotted, operand, strings_of
from veomni_opslint.extract.scope_state import Loop, ScopeState, names_assigned
from veomni_opslint.extract.unpacking import mark_elements

if TYPE_CHECKING:
    from veomni_opslint.extract.walk import Walker


def if_statement(walker: Walker, node: ast.If, when: Condition) -> Condition:
    reached = FALSE
    earlier = TRUE
    outcomes: list[tuple[Condition, dict[str, Operand]]] = []
    current: ast.If | None = node
    otherwise: list[ast.stmt] = []
    while current is not None:
        walker.scan(current.test, both(when, earlier))
        test = condition(current.test, walker.scope.names)
        before = dict(walker.scope.names)
        branch = both(earlier, test)
        after = walker.block(current.body, both(when, branch))
        reached = either(reached, both(branch, after))
        if after != FALSE:
            outcomes.append((branch, walker.scope.names))
        walker.scope.names = before
        earlier = both(earlier, negate(test))
        otherwise = current.orelse
        chained = len(otherwise) == 1 and isinstance(otherwise[0], ast.If)
        current = otherwise[0] if chained else None  # type: ignore[assignment]
    after = walker.block(otherwise, both(when, earlier)) if otherwise else TRUE
    reached = either(reached, both(earlier, after))
    if after == FALSE and outcomes:
        walker.scope.names = outcomes.pop()[1]
    for branch, names in reversed(outcomes):
        walker.scope.names = merge(branch, names, walker.scope.names, node)
    return reached


def loop_statement(walker: Walker, node: ast.For | ast.AsyncFor | ast.While, when: Condition) -> Condition:
    scope = walker.scope
    changed = names_assigned(node.body)
    if isinstance(node, ast.While):
        first = condition(node.test, scope.names)
        _forget(scope, changed, node)
        walker.scan(node.test, when)
        test = condition(node.test, scope.names)
        at_least_once = first == TRUE
    else:
        if walker.deep:
            mark_elements(walker, node.target, node.iter)
        walker.scan(node.iter, when)
        imports_by_map(walker, node.iter, when)
        _forget(scope, changed, node)
        walker.bind_target(node.target, None, when)
        listed = strings_of(operand(node.iter, scope.names))
        at_least_once = bool(listed) or _has_elements(node.iter)
        if listed and isinstance(node.target, ast.Name) and node.target.id not in changed:
            scope.elements[node.target.id] = listed
        test = TRUE if at_least_once else ("opaque", node.lineno, node.col_offset, "for")
    loop = Loop()
    scope.loops.append(loop)
    after = walker.block(node.body, both(when, test))
    scope.loops.pop()
    scope.elements.clear()
    _forget(scope, changed, node)
    end = either(after, loop.continues)
    if isinstance(node, ast.While) and test == TRUE:
        exhausted = FALSE
    elif at_least_once:
        exhausted = end
    else:
        exhausted = either(negate(test), both(test, end))
    reached = exhausted
    if node.orelse:
        reached = both(exhausted, walker.block(node.orelse, both(when, exhausted)))
    return either(reached, both(test, loop.breaks))


def _has_elements(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(not isinstance(element, ast.Starred) for element in node.elts)
    if isinstance(node, ast.Call) and dotted(node.func) == "range" and len(node.args) == 1:
        return isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, int) and node.args[0].value > 0
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(node.value)


def _forget(scope: ScopeState, changed: set[str], node: ast.stmt) -> None:
    for name in changed:
        scope.names[name] = ("opaque", node.lineno, node.col_offset, name)


def break_statement(walker: Walker, node: ast.Break, when: Condition) -> Condition:
    if walker.scope.loops:
        walker.scope.loops[-1].breaks = either(walker.scope.loops[-1].breaks, when)
    return FALSE


def continue_statement(walker: Walker, node: ast.Continue, when: Condition) -> Condition:
    if walker.scope.loops:
        walker.scope.loops[-1].continues = either(walker.scope.loops[-1].continues, when)
    return FALSE
