"""Constants, names and calls of which a name holds, or a function returns, one or the other by a condition."""

from __future__ import annotations

from collections.abc import Sequence

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, negate
from veomni_opslint.extract.operands import Operand

Choices = tuple[tuple[Condition, Operand], ...]
_MAX_RETURNED = 8
_NOTHING: Operand = ("const", None)


def choices_of(value: Operand) -> Choices:
    """What an operand chooses among, each with its condition; empty for a constant, and where it is not known."""
    return () if value[0] == "const" else _chosen(TRUE, value)


def returned_choices(outcomes: Sequence[tuple[Condition, Operand]], end: Condition) -> Choices:
    """What a function returns where it does, and that it returns nothing where its *end* is reached."""
    found: Choices = ()
    for when, value in outcomes if end == FALSE else (*outcomes, (end, _NOTHING)):
        among = _chosen(when, value)
        if not among or len(found) > _MAX_RETURNED:
            return ()
        found += among
    return found if any(isinstance(value[1], str) for _, value in found) else ()


def _chosen(when: Condition, value: Operand) -> Choices:
    found: list[tuple[Condition, Operand]] = []
    pending = [(when, value)]
    while pending:
        held, one = pending.pop()
        if one[0] == "select":
            _, test, left, right = one
            pending += [(both(held, negate(test)), right), (both(held, test), left)]
        elif one[0] in ("const", "name", "call") or (one[0] == "param" and one[1].startswith("self.")):
            found.append((held, one))
        else:
            return ()
    return tuple(found)
