"""What a call passes for the parameters of a function."""

from __future__ import annotations

import pytest
from support.facts import facts_of

from veomni_opslint.conditions import FALSE, TRUE, Condition
from veomni_opslint.extract.operands import Operand
from veomni_opslint.model.arguments import arguments_at, defaults_of, substitute

A = ("name", "a")


def given(parameters: str, call: str, before: str = "") -> dict[str, Operand]:
    """The arguments of a call in a function, as far as they are plain."""
    text = f"def f({parameters}): pass\ndef caller(own, flag):\n    {before}{call}\n"
    facts = facts_of(text, deep=True)
    (ref,) = [ref for ref in facts.refs if ref.name.endswith("f")]
    return arguments_at(facts, 2, ref.span, facts.scopes[1], defaults_of(facts.scopes[1], lambda _: None))


@pytest.mark.parametrize(
    ("parameters", "call", "expected"),
    [
        ("x", "f(1)", {"x": ("const", 1)}),
        ("x", "f(x='npu')", {"x": ("const", "npu")}),
        ("x, y", "f(a, y=a.b)", {"x": A, "y": ("name", "a.b")}),
        ("x", "f(own)", {"x": ("param", "own")}),
        ("x", "f(own.x)", {"x": ("param", "own.x")}),
        ("x", "f(not own)", {"x": ("cond", ("not", ("param", "own")))}),
        ("x, /, y, *, z", "f(1, 2, z=3)", {"x": ("const", 1), "y": ("const", 2), "z": ("const", 3)}),
        ("x, *y", "f(1, 2, 3)", {"x": ("const", 1)}),
        ("x, y", "f(*a, 2)", {}),
        ("x, y", "f(1, *a)", {"x": ("const", 1)}),
        ("x, y", "f(1, **a)", {"x": ("const", 1)}),
        ("x=1, y=a", "f()", {"x": ("const", 1)}),
        ("x=1, /, y='npu', *, z=None", "f()", {"x": ("const", 1), "y": ("const", "npu"), "z": ("const", None)}),
        ("x, y=1", "f(2)", {"x": ("const", 2), "y": ("const", 1)}),
        ("x=1", "f(x=2)", {"x": ("const", 2)}),
        ("x=1", "f(*a)", {}),
        ("x=1", "f(**a)", {}),
        ("self, x", "a.f(1)", {"x": ("const", 1)}),
        ("cls, x=2", "a.f()", {"x": ("const", 2)}),
        ("x, self", "a.f(1)", {"x": ("const", 1)}),
        ("x", "f(1)(2)", {"x": ("const", 1)}),
        ("x", "g(f(1))", {"x": ("const", 1)}),
    ],
)
def test_arguments(parameters: str, call: str, expected: dict[str, Operand]) -> None:
    """Positional and keyword arguments, and defaults where the call surely gives no other."""
    assert given(parameters, call) == expected


def test_locals_of_the_caller() -> None:
    """What the caller assigns itself is not known."""
    assert given("x, y", "f(z, flag)", "z = 1; flag = 2; ") == {
        "x": ("opaque", 2, 0, "z"),
        "y": ("opaque", 2, 0, "flag"),
    }


def test_no_such_call() -> None:
    """Where no call stands at the place, nothing is given."""
    facts = facts_of("def f(x): pass\nf(1)\n")
    assert arguments_at(facts, 0, (1, 0, 1, 1), facts.scopes[1], {}) == {}
    assert arguments_at(facts, 0, (2, 0, 2, 1), facts.scopes[1], {}) == {"x": ("const", 1)}


def test_defaults() -> None:
    """Constants as they are, a guard as what it is known to be, anything else not at all."""
    facts = facts_of("def f(x, y=1, z=a, *, u=b(), v=a): pass\n", deep=True)
    function = facts.scopes[1]
    known = {"a": False}
    assert defaults_of(function, lambda asked: known.get(asked[1])) == {
        "y": ("const", 1),
        "z": ("const", False),
        "v": ("const", False),
    }
    assert list(defaults_of(function, lambda asked: known.get(asked[1]), constants=False)) == ["z", "v"]


PARAMETER = ("param", "x")
IS_NPU = ("cmp", "Eq", PARAMETER, ("const", "npu"))
FREE = ("free", A)


@pytest.mark.parametrize(
    ("condition", "arguments", "expected"),
    [
        (PARAMETER, {"x": ("const", True)}, TRUE),
        (PARAMETER, {"x": ("const", None)}, FALSE),
        (PARAMETER, {"x": A}, A),
        (("not", PARAMETER), {"x": A}, ("not", A)),
        (IS_NPU, {"x": ("const", "npu")}, TRUE),
        (IS_NPU, {"x": ("const", "gpu")}, FALSE),
        (IS_NPU, {"x": A}, ("cmp", "Eq", A, ("const", "npu"))),
        (("cmp", "Is", PARAMETER, ("const", None)), {"x": ("const", None)}, TRUE),
        (("cmp", "Gt", PARAMETER, ("const", 1)), {"x": ("const", 2)}, TRUE),
        (("cmp", "Eq", A, PARAMETER), {"x": ("const", "npu")}, ("free", ("cmp", "Eq", A, ("const", "npu")))),
        (("cmp", "Eq", A, PARAMETER), {"x": A}, ("free", ("cmp", "Eq", A, PARAMETER))),
        (("cmp", "Eq", ("param", "y"), PARAMETER), {"x": ("const", 1), "y": ("const", 1)}, TRUE),
        (PARAMETER, {}, ("free", PARAMETER)),
        (("param", "x.y.z"), {"x": A}, ("name", f"{A[1]}.y.z")),
        (("param", "x.y"), {"x": A, "x.y": ("const", False)}, FALSE),
        (("param", "x.y"), {"x": ("const", 1)}, ("free", ("param", "x.y"))),
        (("param", "x.y"), {"x": ("opaque", 1, 0, "x")}, ("free", ("param", "x.y"))),
        (A, {}, FREE),
        (("name", "known"), {}, TRUE),
        (("and", PARAMETER, A), {"x": ("const", True)}, FREE),
        (("and", PARAMETER, A), {"x": ("const", False)}, FALSE),
        (("or", PARAMETER, A), {"x": ("const", False)}, FREE),
        (TRUE, {}, TRUE),
        (FALSE, {}, FALSE),
    ],
)
def test_substitute(condition: Condition, arguments: dict[str, Operand], expected: Condition) -> None:
    """A condition of the function, said of one call; what only the function knows is free unless it is known."""
    assert substitute(condition, arguments, {("name", "known"): True}.get) == expected
