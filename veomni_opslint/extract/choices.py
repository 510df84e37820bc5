"""Constants that a name holds one or the other of, by a condition."""

from __future__ import annotations

from veomni_opslint.conditions import TRUE, Condition, both, negate
from veomni_opslint.extract.operands import Operand

Choices = tuple[tuple[Condition, object], ...]


def choices_of(value: Operand) -> Choices:
    """The constants that an operand chooses among, each with its condition; empty for any other operand."""
    if value[0] != "select":
        return ()
    found: list[tuple[Condition, object]] = []
    pending: list[tuple[Condition, Operand]] = [(TRUE, value)]
    while pending:
        when, one = pending.pop()
        if one[0] == "select":
            _, test, left, right = one
            pending += [(both(when, negate(test)), right), (both(when, test), left)]
        elif one[0] == "const":
            found.append((when, one[1]))
        else:
            return ()
    return tuple(found)
