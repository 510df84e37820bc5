"""``match`` statements: each case runs where its pattern holds and no earlier one did."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.extract.flow import merge
from veomni_opslint.extract.operands import Operand, compare, condition, operand, truth_of

if TYPE_CHECKING:
    from veomni_opslint.extract.walk import Walker


def match_statement(walker: Walker, node: ast.Match, when: Condition) -> Condition:
    """Walk the cases in order; without a catch-all the statement can be passed with no case run."""
    scope = walker.scope
    walker.scan(node.subject, when)
    subject = operand(node.subject, scope.names)
    before = dict(scope.names)
    earlier, reached = TRUE, FALSE
    outcomes: list[tuple[Condition, dict[str, Operand]]] = []
    for case in node.cases:
        scope.names = dict(before)
        _capture(walker, case.pattern, subject, both(when, earlier))
        holds = _pattern(case.pattern, subject, node)
        if case.guard is not None:
            walker.scan(case.guard, both(when, both(earlier, holds)))
            holds = both(holds, condition(case.guard, scope.names))
        branch = both(earlier, holds)
        after = walker.block(case.body, both(when, branch))
        reached = either(reached, both(branch, after))
        if after != FALSE:
            outcomes.append((branch, scope.names))
        earlier = both(earlier, negate(holds))
    scope.names = before
    if earlier == FALSE and outcomes:
        scope.names = outcomes.pop()[1]
    for branch, names in reversed(outcomes):
        scope.names = merge(branch, names, scope.names, node)
    return either(reached, earlier)


def _pattern(pattern: ast.pattern, subject: Operand, node: ast.Match) -> Condition:
    match pattern:
        case ast.MatchValue(value=value):
            return compare(ast.Eq(), subject, operand(value, {}), node.subject)
        case ast.MatchSingleton(value=True):
            return truth_of(subject)
        case ast.MatchSingleton(value=value):
            return compare(ast.Is(), subject, ("const", value), node.subject)
        case ast.MatchOr(patterns=patterns):
            result = FALSE
            for one in patterns:
                result = either(result, _pattern(one, subject, node))
            return result
        case ast.MatchAs(pattern=None):
            return TRUE
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _pattern(inner, subject, node)
    return ("opaque", pattern.lineno, pattern.col_offset, "case")


def _capture(walker: Walker, pattern: ast.pattern, subject: Operand, when: Condition) -> None:
    for inner in ast.walk(pattern):
        if isinstance(inner, ast.MatchClass):
            walker.scan(inner.cls, when)
        elif isinstance(inner, ast.MatchValue) and isinstance(inner.value, ast.Attribute):
            walker.scan(inner.value, when)
        name = getattr(inner, "name", None) or getattr(inner, "rest", None)
        if isinstance(name, str) and isinstance(inner, ast.pattern):
            value: Operand = ("opaque", inner.lineno, inner.col_offset, name)
            if inner is pattern and isinstance(inner, ast.MatchAs):
                value = subject
            walker.bind_name(name, value, inner, when, None)
