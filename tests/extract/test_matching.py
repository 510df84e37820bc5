"""Conditions on the paths through ``match``, and what patterns bind."""

from __future__ import annotations

import pytest
from support.facts import facts_of, when_marked

from veomni_opslint.conditions import TRUE, Condition

A = ("name", "a")
NPU, GPU = (("cmp", "Eq", A, ("const", name)) for name in ("npu", "gpu"))
CASE = ("opaque", 2, 9, "case")


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ("    case 'npu':\n        mark\nmark", [NPU, TRUE]),
        ("    case 'npu' | 'gpu':\n        mark", [("or", NPU, GPU)]),
        ("    case 'npu':\n        mark\n    case 'gpu':\n        mark", [NPU, ("and", ("not", NPU), GPU)]),
        ("    case 'npu':\n        raise E\nmark", [("not", NPU)]),
        ("    case 'npu':\n        mark\n    case _:\n        raise E\nmark", [NPU, NPU]),
        ("    case 'npu':\n        pass\n    case other:\n        mark", [("not", NPU)]),
        ("    case True:\n        mark", [A]),
        ("    case None:\n        mark", [("cmp", "Is", A, ("const", None))]),
        ("    case b.c:\n        mark", [("cmp", "Eq", A, ("name", "b.c"))]),
        ("    case 'npu' as x:\n        mark", [NPU]),
        ("    case _ if b:\n        mark", [("name", "b")]),
        ("    case 'npu' if b:\n        mark\n    case _:\n        mark",
         [("and", NPU, ("name", "b")), ("not", ("and", NPU, ("name", "b")))]),
        ("    case [x, *y]:\n        mark", [CASE]),
        ("    case {'k': x, **y}:\n        mark", [CASE]),
        ("    case C(x, y=z):\n        mark", [CASE]),
        ("    case x:\n        if x == 'npu':\n            mark", [NPU]),
    ],
)  # fmt: skip
def test_match(cases: str, expected: list[Condition]) -> None:
    """A case runs where its pattern holds and none before it did."""
    assert when_marked(f"match a:\n{cases}\n") == expected


B, C = ("name", "b"), ("name", "c")


@pytest.mark.parametrize(
    ("subject", "case", "expected"),
    [
        ("(a, b)", "(True, False)", ("and", A, ("not", B))),
        ("[a, b]", "['npu', _]", NPU),
        ("a, b", "('npu', True) | ('gpu', _)", ("or", ("and", NPU, B), GPU)),
        ("(a, b)", "(True, _) as both", A),
        ("(a, b)", "_", TRUE),
        ("(a, b, c)", "(True, *_)", A),
        ("(a, b, c)", "(*_, True)", C),
        ("(a, b, c)", "(True, *_, False)", ("and", A, ("not", C))),
        ("(a, (b, c))", "(_, (True, x)) if x", ("and", B, C)),
        ("(a, b)", "(x, y) if x and not y", ("and", A, ("not", B))),
        ("(a, b)", "{'k': True}", CASE),
        ("(*a, b)", "(True, _)", CASE),
    ],
)
def test_match_of_several(subject: str, case: str, expected: Condition) -> None:
    """What is put together to be matched is matched part by part."""
    assert when_marked(f"match {subject}:\n    case {case}:\n        mark\n") == [expected]


@pytest.mark.parametrize("case", ["(_, _, _)", "(_,)", "None", "'npu'", "(_, *_, _, _)"])
def test_match_of_another_length(case: str) -> None:
    """A pattern with more or fewer parts never fits, nor does one for a single value."""
    text = f"match (a, b):\n    case {case}:\n        x = a\n    case _:\n        x = b\nif x:\n    mark\n"
    assert when_marked(text) == [B]


def test_names_in_patterns() -> None:
    """Classes and values that patterns name are uses of names, each where no earlier case took the subject."""
    cases = "    case 'npu':\n        pass\n    case {'k': C(y=d.e)} | [f.g]:\n        pass\n"
    refs = facts_of(f"match a:\n{cases}").refs
    assert sorted((one.span[:2], one.name, one.when) for one in refs if one.name != "a") == [
        ((4, 15), "C", ("not", NPU)),
        ((4, 19), "d.e", ("not", NPU)),
        ((4, 28), "f.g", ("not", NPU)),
    ]


def test_captured_names() -> None:
    """At module level what a pattern captures is a name of the module."""
    cases = (
        "    case [p, *q]:\n        pass\n    case {'k': r, **s}:\n        pass\n    case C(t) as u:\n        pass\n"
    )
    bindings = facts_of(f"match a:\n{cases}").bindings
    assert sorted((one.name, one.kind, one.span[:2]) for one in bindings) == [
        ("p", "assign", (2, 10)),
        ("q", "assign", (2, 13)),
        ("r", "assign", (4, 15)),
        ("s", "assign", (4, 9)),
        ("t", "assign", (6, 11)),
        ("u", "assign", (6, 9)),
    ]


def test_names_after_a_match() -> None:
    """A name that the cases give values has one or the other."""
    text = "match a:\n    case 'npu':\n        x = b\n    case _:\n        x = c\nif x:\n    mark\n"
    b, c = ("name", "b"), ("name", "c")
    assert when_marked(text) == [("or", ("and", NPU, b), ("and", ("not", NPU), c))]
