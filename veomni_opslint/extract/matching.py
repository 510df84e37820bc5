"""``match`` statements: each case runs where its pattern holds and no earlier one did."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias, Union

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.extract.flow import merge
from veomni_opslint.extract.operands import Operand, compare, condition, operand, truth_of

if TYPE_CHECKING:
    from veomni_opslint.extract.walk import Walker

Subject: TypeAlias = Union[Operand, "list[Subject]"]
"""What is matched: an operand, or the elements of a tuple or list that is written there."""


def match_statement(walker: Walker, node: ast.Match, when: Condition) -> Condition:
    """Walk the cases in order; without a catch-all the statement can be passed with no case run."""
    scope = walker.scope
    walker.scan(node.subject, when)
    subject = _subject(node.subject, scope.names)
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


def _subject(node: ast.expr, names: dict[str, Operand]) -> Subject:
    if isinstance(node, ast.Tuple | ast.List) and not any(isinstance(one, ast.Starred) for one in node.elts):
        return [_subject(one, names) for one in node.elts]
    return operand(node, names)


def _pattern(pattern: ast.pattern, subject: Subject, node: ast.Match) -> Condition:
    if isinstance(subject, list):
        return _sequence_pattern(pattern, subject, node)
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


def _sequence_pattern(pattern: ast.pattern, subject: list[Subject], node: ast.Match) -> Condition:
    match pattern:
        case ast.MatchSequence():
            paired = _paired(pattern, subject)
            result = FALSE if paired is None else TRUE
            for one, element in paired or ():
                result = both(result, _pattern(one, element, node))
            return result
        case ast.MatchOr(patterns=patterns):
            result = FALSE
            for one in patterns:
                result = either(result, _pattern(one, subject, node))
            return result
        case ast.MatchAs(pattern=None):
            return TRUE
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _pattern(inner, subject, node)
        case ast.MatchValue() | ast.MatchSingleton():
            return FALSE
    return ("opaque", pattern.lineno, pattern.col_offset, "case")


def _paired(pattern: ast.MatchSequence, subject: list[Subject]) -> list[tuple[ast.pattern, Subject]] | None:
    """The patterns of a sequence and the elements that they have to fit; None where the lengths differ."""
    patterns = pattern.patterns
    star = next((index for index, one in enumerate(patterns) if isinstance(one, ast.MatchStar)), None)
    if star is None:
        return list(zip(patterns, subject, strict=True)) if len(patterns) == len(subject) else None
    after = len(patterns) - star - 1
    if star + after > len(subject):
        return None
    behind = zip(patterns[star + 1 :], subject[len(subject) - after :], strict=True)
    return [*zip(patterns[:star], subject[:star], strict=True), *behind]


def _captured(pattern: ast.pattern, subject: Subject) -> Iterator[tuple[ast.pattern, Operand]]:
    """The patterns that give what they fit a name, and that, where it is known."""
    if isinstance(pattern, ast.MatchAs):
        if isinstance(subject, tuple):
            yield pattern, subject
        if pattern.pattern is not None:
            yield from _captured(pattern.pattern, subject)
    elif isinstance(pattern, ast.MatchSequence) and isinstance(subject, list):
        for one, element in _paired(pattern, subject) or ():
            yield from _captured(one, element)


def _capture(walker: Walker, pattern: ast.pattern, subject: Subject, when: Condition) -> None:
    known = dict(_captured(pattern, subject))
    for inner in ast.walk(pattern):
        if isinstance(inner, ast.MatchClass):
            walker.scan(inner.cls, when)
        elif isinstance(inner, ast.MatchValue) and isinstance(inner.value, ast.Attribute):
            walker.scan(inner.value, when)
        name = getattr(inner, "name", None) or getattr(inner, "rest", None)
        if isinstance(name, str) and isinstance(inner, ast.pattern):
            value = known.get(inner, ("opaque", inner.lineno, inner.col_offset, name))
            walker.bind_name(name, value, inner, when, None)
