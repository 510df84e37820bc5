"""The first look at calls passes over those that certainly bind, and over no other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.models import model_of

from veomni_opslint.model.accepted_arguments import AcceptedArguments
from veomni_opslint.model.call_binding import Arguments, Signature, binding_problem
from veomni_opslint.model.called_names import CalledNames
from veomni_opslint.parameters import parameters_of

_PARAMETERS = [
    "", "a", "a, b", "a, b=1", "a, /", "a, /, b", "a, b=1, /, c=2", "*args", "a, *args", "*, k", "*, k=1", "a, *, k",
    "a, *args, k", "**kw", "a, **kw", "a, /, **kw", "a, b=1, *, k, j=2, **kw",
]  # fmt: skip
_FILES = {
    "veomni/__init__.py": "",
    "veomni/layers.py": (
        "class Norm:\n    def __init__(self, size):\n        pass\n\n    def forward(self, x):\n        return x\n\n\n"
        "class Block:\n    def __init__(self):\n        self.norm = Norm(1)\n"
        "\n\ndef norm(a, b, c):\n    return a\n"
    ),
}
_OTHER = "class B:\n    def f(self):\n        self.norm = nn.Norm(1)\n"


def _arguments(parameters: str) -> ast.arguments:
    node = ast.parse(f"def f({parameters}): pass").body[0]
    assert isinstance(node, ast.FunctionDef)
    return node.args


@given(
    st.sampled_from(_PARAMETERS),
    st.sampled_from(_PARAMETERS),
    st.integers(0, 4),
    st.lists(st.sampled_from(["a", "b", "k", "z"]), unique=True, max_size=3),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_what_certainly_fits_binds(
    first: str, second: str, positional: int, keywords: list[str], is_method: bool
) -> None:
    """Arguments that fit a name bind to every definition of it, as a function or as a method of an object."""
    accepted = AcceptedArguments(lambda *_: None)
    definitions = [_arguments(f"self, {one}".rstrip(", ") if is_method else one) for one in (first, second)]
    for one in definitions:
        accepted.add("f", one)
    call = Arguments(positional, False, tuple(keywords), False)
    problems = [binding_problem(Signature(parameters_of(one), int(is_method)), call) for one in definitions]
    assert accepted.certainly_fit("f", call) == (not any(problems))


def test_what_a_class_takes_is_asked_for_when_it_is_called() -> None:
    """A class whose constructor is not known takes anything; a definition that only a look can tell takes nothing."""
    signature = Signature(parameters_of(_arguments("a")))
    accepted = AcceptedArguments(lambda module, _: signature if module == "known" else None)
    accepted.add_class("Known", "known", 1)
    accepted.add_class("Unknown", "unknown", 1)
    accepted.add("slot", None)
    one, two = Arguments(1, False, (), False), Arguments(2, False, (), False)
    verdicts = [accepted.certainly_fit(name, call) for name in ("Known", "Unknown", "slot") for call in (one, two)]
    assert verdicts == [True, False, True, True, False, False]


def test_names_that_a_text_calls() -> None:
    """Definitions, methods of results, attributes of attributes of an object and unknown names are passed over."""
    text = (
        "def f(a):\n    g(f(1), x.f)\n    f.g(2)\n    self.f(3)\n    self.a.f(4)\n    myself.f(5)\n    y().f(6)\n"
        "    super().g(7)\n    super().a.f(8)\nclass f(f): pass\nasync def f(): pass\nselfdef = f(9)\n"
    )
    found = [(name.whole, text[offset:].partition("(")[0]) for offset, name in CalledNames(frozenset({"f"})).of(text)]
    expected = ["f", "self.f", "myself.f", "super().g", "f"]
    assert found == [(one, "super" if one == "super().g" else one) for one in expected]


@pytest.mark.parametrize(
    ("code", "suspect"),
    [
        ("from veomni.layers import norm\nnorm(1, 2, 3)\n", False),
        ("from veomni.layers import norm\nnorm(1, 2)\n", True),
        ("from veomni.layers import norm as n\nn(1, 2)\n", True),
        ("from veomni.layers import norm\nn = norm\nn(1, 2)\n", True),
        ("from veomni.layers import *\nnorm(1, 2)\n", True),
        ("from elsewhere import norm\nnorm(1, 2)\n", False),
        ('"""Call it as norm(1, 2)."""\nfrom veomni.layers import norm\n', False),
        ("from veomni.layers import Norm\nNorm()\n", True),
        ("class A:\n    def norm(self, x):\n        self.norm(1)\n", False),
        ("class A:\n    def norm(self, x):\n        self.norm(1, 2)\n", True),
        ("import nn\nclass A:\n    def f(self):\n        self.norm = nn.Norm(1)\n        self.norm(1, 2)\n", False),
        (
            "from veomni.layers import Norm\nclass A:\n  def f(self):\n    self.norm = Norm(1)\n    self.norm()\n",
            True,
        ),
        (
            "import nn\nfrom veomni.layers import Block\nclass A(Block):\n    def f(self):\n        self.norm()\n"
            + _OTHER,
            True,
        ),
        ("from veomni.layers import Norm\nclass A(Norm):\n    def f(self):\n        super().forward()\n", True),
        ("from veomni.layers import Norm\nclass A(Norm):\n    def f(self):\n        super().forward(1)\n", False),
        ("import nn\nclass A(nn.Norm):\n    def f(self):\n        super().forward()\n", False),
    ],
)
def test_suspects(code: str, suspect: bool, tmp_path: Path) -> None:
    """A file is suspect for a call that does not bind to what it may reach, however that is named."""
    model = model_of(tmp_path, {**_FILES, "veomni/user.py": code})
    assert list(model.suspect_calls.modules()) == (["veomni.user"] if suspect else [])
