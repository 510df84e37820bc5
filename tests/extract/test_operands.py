"""Expressions as conditions, under what is known of local names."""

from __future__ import annotations

import ast
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veomni_opslint.conditions import FALSE, TRUE, Condition, truth
from veomni_opslint.extract.operands import Names, Operand, condition, dotted, marks, operand

A, B = ("name", "a"), ("name", "b")
KNOWN: dict[str, Operand] = {
    "const": ("const", "npu"),
    "number": ("const", 3),
    "empty": ("const", ""),
    "guard": ("cond", ("call", "is_npu", ())),
    "alias": ("name", "device.kind"),
    "argument": ("param", "argument"),
    "chosen": ("select", A, ("const", "npu"), ("const", "gpu")),
    "unknown": ("opaque", 9, 9, "unknown"),
}


def read(source: str, names: Names = KNOWN) -> Condition:
    """The truth of an expression."""
    return condition(ast.parse(source, mode="eval").body, names)


def equal(left: Operand, value: object) -> Condition:
    """A comparison with a constant."""
    return ("cmp", "Eq", left, ("const", value))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("True", TRUE), ("None", FALSE), ("0", FALSE), ("'x'", TRUE), ("()", FALSE), ("[1]", TRUE), ("...", TRUE),
        ("a", A), ("a.b.c", ("name", "a.b.c")), ("(a)", A), ("not a", ("not", A)), ("not not a", A),
        ("a and b", ("and", A, B)), ("a or b", ("or", A, B)), ("a and True", A), ("a and not a", FALSE),
        ("not (a and b)", ("not", ("and", A, B))), ("bool(a)", A), ("bool(a) is True", A), ("(x := a)", A),
        ("f()", ("call", "f", ())), ("f('x', 1)", ("call", "f", ("x", 1))),
        ("f(a)", ("call", "f", (A,))), ("f(k=1)", ("call", "f", (("=", "k", 1),))),
        ("f(const)", ("call", "f", ("npu",))), ("f(argument)", ("call", "f", (("param", "argument"),))),
        ("f([])", ("call", "f", (("opaque", 1, 2, ""),))),
        ("f(1, 2, 3, 4)", ("opaque", 1, 0, "f")), ("guard()", ("opaque", 1, 0, "guard")),
        ("f()()", ("opaque", 1, 0, "")), ("f().g", ("opaque", 1, 0, "f().g")),
        ("a is True", A), ("a == False", ("not", A)), ("a.b.startswith('npu')", equal(("name", "a.b"), "npu")),
        ("a['k']", ("item", "a", "k")), ("a[0]", ("opaque", 1, 0, "")), ("const['k']", ("opaque", 1, 0, "")),
        ("a == 'npu'", equal(A, "npu")), ("'npu' == a", equal(A, "npu")), ("a != 1", ("not", equal(A, 1))),
        ("a is None", ("cmp", "Is", A, ("const", None))), ("a is not None", ("not", ("cmp", "Is", A, ("const", None)))),
        ("a in ('x', 'y')", ("or", equal(A, "x"), equal(A, "y"))), ("a not in []", TRUE), ("a in {'x'}", equal(A, "x")),
        ("'x' in a", ("cmp", "In", ("const", "x"), A)), ("a < 3", ("cmp", "Lt", A, ("const", 3))),
        ("3 < a", ("opaque", 1, 0, "")), ("a == b", ("cmp", "Eq", A, B)),
        ("a == 1 == b", ("and", equal(A, 1), equal(B, 1))),
        ("a < b", ("opaque", 1, 0, "")), ("a + b", ("opaque", 1, 0, "")), ("-a", ("opaque", 1, 0, "")),
        ("lambda: a", ("opaque", 1, 0, "")), ("await_", ("name", "await_")),
        ("b if a else a", ("and", A, B)),
        ("1 == 1", TRUE), ("1 == 2", FALSE), ("'a' in 'abc'", TRUE), ("2 > 1", TRUE), ("1 > 2", FALSE),
        ("'a' > 1", ("opaque", 1, 0, "")), ("None is None", TRUE), ("1 is None", FALSE),
        ("const == 'npu'", TRUE), ("const == 'gpu'", FALSE), ("number", TRUE), ("empty", FALSE), ("number > 2", TRUE),
        ("guard", ("call", "is_npu", ())), ("not guard", ("not", ("call", "is_npu", ()))),
        ("guard is False", ("not", ("call", "is_npu", ()))), ("guard == True", ("call", "is_npu", ())),
        ("guard is None", FALSE), ("guard.x", ("opaque", 1, 0, "guard.x")),
        ("alias", ("name", "device.kind")), ("alias.type == 'npu'", equal(("name", "device.kind.type"), "npu")),
        ("argument", ("param", "argument")), ("argument.x", ("param", "argument.x")),
        ("chosen == 'npu'", A), ("chosen == 'gpu'", ("not", A)), ("chosen", TRUE), ("chosen != 'x'", TRUE),
        ("unknown", ("opaque", 9, 9, "unknown")), ("unknown.x", ("opaque", 9, 9, "unknown.x")),
        ("all([a, b])", ("and", A, B)), ("any((a, b))", ("or", A, B)), ("all(())", TRUE), ("any([])", FALSE),
        ("not all({a, not b})", ("not", ("and", A, ("not", B)))),
        ("any([guard, a]) is True", ("or", ("call", "is_npu", ()), A)),
        ("all(x for x in (a, b))", ("and", A, B)), ("any([not x for x in (a, b)])", ("or", ("not", A), ("not", B))),
        ("all(x.ready for x in [a, b])", ("and", ("name", "a.ready"), ("name", "b.ready"))),
        ("any(x == 'npu' for x in (a, alias))", ("or", equal(A, "npu"), equal(("name", "device.kind"), "npu"))),
        ("all(x for x in (a,) if b)", ("or", ("not", B), A)), ("any(x for x in (a,) if b)", ("and", B, A)),
        ("all([*a, b])", ("call", "all", (("opaque", 1, 4, ""),))), ("all(a)", ("call", "all", (A,))),
        ("all(x for x in a)", ("opaque", 1, 0, "x")),
        ("any(x.ready for x in a if b)", ("and", ("opaque", 1, 0, "any"), B, ("opaque", 1, 0, "x.ready"))),
        ("all(x for x, y in ((a, b),))", ("opaque", 1, 0, "x")),
        ("all(x for y in ((a,),) for x in y)", ("call", "all", (("opaque", 1, 3, ""),))),
        ("pytest.mark.skipif(a)", ("not", A)), ("unittest.skipUnless(a, 'r')", A),
    ],
)  # fmt: skip
def test_condition(source: str, expected: Condition) -> None:
    """Every kind of expression that guards are written with."""
    assert read(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("'x'", ("const", "x")),
        ("('x', 1)", ("const", ("x", 1))),
        ("('x', a)", ("opaque", 1, 0, "")),
        ("'x' if a else b", ("select", A, ("const", "x"), B)),
        ("'x' if True else b", ("const", "x")),
        ("a and b", ("cond", ("and", A, B))),
        ("[" + "1, " * 41 + "]", ("opaque", 1, 0, "")),
    ],
)
def test_operand(source: str, expected: Operand) -> None:
    """The values that comparisons are made with."""
    assert operand(ast.parse(source, mode="eval").body, KNOWN) == expected


@pytest.mark.parametrize(
    ("source", "expected"), [("a", "a"), ("a.b.c", "a.b.c"), ("a().b", ""), ("a[0].b", ""), ("1", ""), ("'a'.b", "")]
)
def test_dotted(source: str, expected: str) -> None:
    """A chain of attributes on a name has a dotted name, and nothing else has."""
    assert dotted(ast.parse(source, mode="eval").body) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("pytest.mark.skipif(a)", ("not", A)),
        ("[pytest.mark.skipif(a), pytest.mark.slow, pytest.mark.skipif(not b)]", ("and", ("not", A), B)),
        ("pytest.mark.slow", TRUE),
        ("guard", ("call", "is_npu", ())),
        ("a", TRUE),
    ],
)
def test_marks(source: str, expected: Condition) -> None:
    """Marks of tests, one or several, that let them run under a condition."""
    assert marks(ast.parse(source, mode="eval").body, KNOWN) == expected


def test_depth_limit() -> None:
    """An expression that is nested deeper than anyone writes is opaque within."""
    assert read("not " * 25 + "a") == ("not", A)
    assert read("not " * 26 + "a") == ("opaque", 1, 104, "")


expressions = st.recursive(
    st.sampled_from(["a", "b", "c()", "d == 'npu'", "d in ('npu', 'gpu')", "True", "None", "held", "picked == 'x'"]),
    lambda inner: st.one_of(
        inner.map("not ({})".format),
        inner.map("bool({})".format),
        st.tuples(inner, inner).map("({0[0]}) and ({0[1]})".format),
        st.tuples(inner, inner).map("({0[0]}) or ({0[1]})".format),
        st.tuples(inner, inner, inner).map("(({0[0]}) if ({0[1]}) else ({0[2]}))".format),
        inner.map("(({}) == True)".format),
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=200)
@given(source=expressions)
def test_truth_is_that_of_python(source: str) -> None:
    """For all values of what it depends on, a condition has the truth of the expression; what is opaque may be any."""
    names = {"held": ("cond", A), "picked": ("select", B, ("const", "x"), ("const", "y"))}
    read_condition = read(source, names)
    for a, b, c, d in product([True, False], [True, False], [True, False], ["npu", "gpu", "cpu"]):
        picked = "x" if b else "y"
        expected = eval(source, {"a": a, "b": b, "c": lambda c=c: c, "d": d, "held": a, "picked": picked})
        values: dict[Condition, bool] = {A: a, B: b, ("call", "c", ()): c, equal(("name", "d"), "npu"): d == "npu",
                                         equal(("name", "d"), "gpu"): d == "gpu"}  # fmt: skip
        assert truth(read_condition, values.get) in (bool(expected), None)
        if "==" not in source.replace("d == ", "").replace("picked == ", ""):
            assert truth(read_condition, values.get) is bool(expected)
