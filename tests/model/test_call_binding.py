"""Calls are bound as Python binds them."""

from __future__ import annotations

import ast
import functools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veomni_opslint.model.call_binding import Arguments, Signature, binding_problem
from veomni_opslint.model.call_texts import calls_in
from veomni_opslint.parameters import parameters_of

_SIGNATURES = [
    "", "a", "a, b", "a, b=1", "a=1, b=2", "a, /", "a, /, b", "a, b=1, /, c=2", "*args", "a, *args", "*, k", "*, k=1",
    "a, *, k", "a, *args, k", "a, *args, k=1, **kw", "**kw", "a, **kw", "a, /, **kw", "a, b=1, *, k, j=2, **kw",
]  # fmt: skip
_NAMES = ["a", "b", "c", "k", "z"]


@given(
    st.sampled_from(_SIGNATURES),
    st.integers(0, 4),
    st.lists(st.sampled_from(_NAMES), unique=True, max_size=3),
    st.integers(0, 2),
    st.lists(st.sampled_from(_NAMES), unique=True, max_size=2),
)
@settings(max_examples=400, deadline=None)
def test_a_call_binds_where_python_binds_it(
    parameters: str, positional: int, keywords: list[str], bound: int, bound_names: list[str]
) -> None:
    """Whatever the parameters, the arguments and what a partial gives."""
    node = ast.parse(f"def f({parameters}): pass").body[0]
    assert isinstance(node, ast.FunctionDef)
    namespace: dict[str, Any] = {}
    exec(f"def f({parameters}): pass", namespace)
    partial = functools.partial(namespace["f"], *[0] * bound, **dict.fromkeys(bound_names, 0))
    signature = Signature(parameters_of(node.args)).given(bound, tuple(bound_names))
    problem = binding_problem(signature, Arguments(positional, False, tuple(keywords), False))
    try:
        partial(*[0] * positional, **dict.fromkeys(keywords, 0))
    except TypeError:
        assert problem
    else:
        assert not problem


@pytest.mark.parametrize(
    ("parameters", "given_", "problem"),
    [
        ("a", Arguments(2, False, (), False), "takes 1 positional argument and gets 2"),
        ("*, k", Arguments(1, False, (), False), "takes no positional arguments and gets 1"),
        ("a, b", Arguments(0, False, ("b",), False), "needs `a`"),
        ("a, b", Arguments(0, True, ("b",), False), ""),
        ("a, b", Arguments(0, False, (), True), ""),
        ("a, *, k", Arguments(0, True, (), False), "needs `k`"),
        ("a", Arguments(0, False, ("z",), True), "has no parameter `z`"),
        ("a, b=1", Arguments(1, False, ("a",), False), "gets `a` twice, by position and by name"),
    ],
)
def test_what_is_wrong_is_said(parameters: str, given_: Arguments, problem: str) -> None:
    """What ``*x`` and ``**x`` may give is not missing; what no call can give is too much."""
    node = ast.parse(f"def f({parameters}): pass").body[0]
    assert isinstance(node, ast.FunctionDef)
    assert binding_problem(Signature(parameters_of(node.args)), given_) == problem


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("f()", Arguments(0, False, (), False)),
        ("f(1, x == 2, b=3,)", Arguments(2, False, ("b",), False)),
        ("f(*a, **b)", Arguments(0, True, (), True)),
        ("f(a * b, -c, d ** e)", Arguments(3, False, (), False)),
        ('f("a, b)", x[1, 2], {3: 4, 5: (6, (7, [8]))})', Arguments(3, False, (), False)),
        ("f(  # one, two)\n  1,\n)", Arguments(1, False, (), False)),
        ("f(lambda a, b=1: a, 2)", Arguments(2, False, (), False)),
        ("f(x for x, y in z)", Arguments(1, False, (), False)),
        ("f(((((((1, 2))))), 3), 4)", Arguments(2, False, (), False)),
        ('f("""a, (""", 1)', Arguments(2, False, (), False)),
        ("f(a", None),
    ],
)
def test_arguments_are_read_off_the_text(written: str, expected: Arguments | None) -> None:
    """Commas count where they separate arguments, and only there."""
    assert list(calls_in(f"x.{written}", {"x.f"}.__contains__)) == [("x.f", expected, 0)]


def test_only_calls_by_name_are_read() -> None:
    """Definitions, calls of results and other names are passed over; a call of ``super()`` is one of its method."""
    text = "def f(a): f(1)\nclass f(b): pass\ng()(2).f(3)\nh(4)\nsuper().f(5)\n"
    found = [(name, text[offset:][:3]) for name, _, offset in calls_in(text, {"f", "super().f"}.__contains__)]
    assert found == [("super().f", "sup"), ("f", "f(1")]
