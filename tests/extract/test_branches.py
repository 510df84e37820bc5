"""Conditions on the paths through ``if`` and loops."""

from __future__ import annotations

import pytest
from support.facts import when_marked

from veomni_opslint.conditions import FALSE, TRUE, Condition

A, B, C = ("name", "a"), ("name", "b"), ("name", "c")
NOT_A, NOT_B = ("not", A), ("not", B)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if a:\n    mark\nmark", [A, TRUE]),
        ("if a:\n    mark\nelse:\n    mark\nmark", [A, NOT_A, TRUE]),
        ("if a:\n    pass\nelif b:\n    mark\nelse:\n    mark", [("and", NOT_A, B), ("and", NOT_A, NOT_B)]),
        ("if a:\n    if b:\n        mark", [("and", A, B)]),
        ("if a:\n    if a:\n        mark\n    else:\n        mark", [A, FALSE]),
        ("if a: raise E\nmark", [NOT_A]),
        ("if a:\n    pass\nelse:\n    raise E\nmark", [A]),
        ("if a:\n    raise E\nelif b:\n    raise E\nmark", [("and", NOT_A, NOT_B)]),
        ("if a:\n    raise E\nelif b:\n    pass\nelse:\n    raise E\nmark", [("and", NOT_A, B)]),
        ("if a:\n    if b:\n        raise E\nmark", [("or", ("and", A, NOT_B), NOT_A)]),
        ("x = a\nif x:\n    mark", [A]),
        ("if a:\n    x = b\nelse:\n    x = c\nif x:\n    mark", [("or", ("and", A, B), ("and", NOT_A, C))]),
        ("x = b\nif a:\n    raise E\nelse:\n    x = c\nif x:\n    mark", [("and", NOT_A, C)]),
    ],
)
def test_if(text: str, expected: list[Condition]) -> None:
    """Each branch runs under its own condition, and what follows under the conditions that lead past."""
    assert when_marked(text) == expected


FOR = ("opaque", 1, 0, "for")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for x in y:\n    mark\nmark", [FOR, TRUE]),
        ("for x in (1, 2):\n    mark\nmark", [TRUE, TRUE]),
        ("for x in range(2):\n    mark", [TRUE]),
        ("for x in range(0):\n    mark", [FOR]),
        ("for x in 'ab':\n    mark", [TRUE]),
        ("for x in (*y,):\n    mark", [FOR]),
        ("for x in (1, 2):\n    if a:\n        continue\n    mark\nmark", [NOT_A, TRUE]),
        ("for x in (1, 2):\n    if a:\n        break\n    mark\nelse:\n    mark\nmark", [NOT_A, NOT_A, TRUE]),
        ("for x in (1, 2):\n    if a:\n        raise E\nmark", [NOT_A]),
        ("for a in y:\n    if a:\n        mark", [("and", FOR, ("opaque", 1, 4, "a"))]),
        ("while a:\n    mark\nmark", [A, TRUE]),
        ("while True:\n    if a:\n        break\nmark", [A]),
        ("while True:\n    mark\nmark", [TRUE, FALSE]),
        ("x = a\nwhile x:\n    x = b\nif x:\n    mark", [("opaque", 2, 0, "x")]),
    ],
)
def test_loops(text: str, expected: list[Condition]) -> None:
    """A body may not run unless there surely is an element; what a loop changes is not known after it."""
    assert when_marked(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("break\nmark", [FALSE]),
        ("continue\nmark", [FALSE]),
    ],
)
def test_outside_a_loop(text: str, expected: list[Condition]) -> None:
    """What only the compiler would refuse does no harm."""
    assert when_marked(text) == expected
