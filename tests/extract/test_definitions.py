"""Functions and classes: their scopes, decorators, bases and gates."""

from __future__ import annotations

import pytest
from support.facts import facts_of

from veomni_opslint.conditions import FALSE, TRUE, Condition

A = ("name", "a")


def test_scopes() -> None:
    """Every definition is a scope with its parent, names and place."""
    text = (
        "class C(a.B, Generic[T], metaclass=M):\n    def m(self): pass\n    class D: pass\n"
        "def f(x):\n    def g(): pass\n    class E:\n        def h(self): return lambda y: y\n"
    )
    scopes = facts_of(text, deep=True).scopes
    assert [(one.index, one.parent, one.kind, one.qualname, one.span, one.bases) for one in scopes] == [
        (0, -1, "module", "", (1, 0, 7, 39), ()),
        (1, 0, "class", "C", (1, 0, 3, 17), ("a.B", "")),
        (2, 1, "function", "C.m", (2, 4, 2, 21), ()),
        (3, 1, "class", "C.D", (3, 4, 3, 17), ()),
        (4, 0, "function", "f", (4, 0, 7, 39), ()),
        (5, 4, "function", "f.<locals>.g", (5, 4, 5, 17), ()),
        (6, 4, "class", "f.<locals>.E", (6, 4, 7, 39), ()),
        (7, 6, "function", "f.<locals>.E.h", (7, 8, 7, 39), ()),
        (8, 7, "lambda", "f.<locals>.E.h.<locals>.<lambda>", (7, 28, 7, 39), ()),
    ]


def test_locals() -> None:
    """The names that a function binds, without its imports and definitions."""
    text = (
        "def f(a, *b, c=1, **d):\n    e = 1\n    for g, (h, *i) in x: pass\n    with x as j: pass\n"
        "    try: pass\n    except E as k: pass\n    import l\n    def m(): n = 1\n    global o\n    o = 1\n"
        "    print(p := 1)\n    q: int = 1\n    r += 1\n"
    )
    function = facts_of(text, deep=True).scopes[1]
    assert function.locals == frozenset("abcdeghijkpqr")


@pytest.mark.parametrize(
    ("decorators", "names", "gate"),
    [
        ([], (), TRUE),
        (["property"], ("property",), TRUE),
        (["a"], ("a",), ("gate", "a")),
        (["a.b(c)", "d"], ("a.b", "d"), ("and", ("gate", "a.b", (("name", "c"),)), ("gate", "d"))),
        (["pytest.mark.skipif(not a)"], ("pytest.mark.skipif",), A),
        (["pytest.mark.skipif(not a, reason='x')", "z"], ("pytest.mark.skipif", "z"), ("and", A, ("gate", "z"))),
        (["unittest.skipUnless(a, 'x')"], ("unittest.skipUnless",), A),
        (["unittest.skipIf(a, 'x')"], ("unittest.skipIf",), ("not", A)),
        (["require_npu"], ("require_npu",), ("gate", "require_npu")),
        (["require_npu()"], ("require_npu",), ("gate", "require_npu", ())),
        (["testing.require_torch_npu"], ("testing.require_torch_npu",), ("gate", "testing.require_torch_npu")),
        (["(lambda f: f)"], ("",), TRUE),
    ],
)
@pytest.mark.parametrize("definition", ["def f(): pass", "class C: pass"])
def test_decorators(decorators: list[str], names: tuple[str, ...], gate: Condition, definition: str) -> None:
    """A mark decides whether the body can run, and so may any other decorator but those that let everything run."""
    text = "".join(f"@{one}\n" for one in decorators) + definition
    (scope,) = [one for one in facts_of(text).scopes if one.kind in ("function", "class")]
    assert (scope.decorators, scope.gate) == (names, gate)


def test_gate_held_by_a_name() -> None:
    """A mark that is given a name gates as it does where it is written."""
    text = "needs = pytest.mark.skipif(not a)\n@needs\ndef f(): pass\n"
    assert facts_of(text).scopes[1].gate == A


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("def f(): pass", TRUE),
        ("if a:\n    def f(): pass", A),
        ("if a:\n    raise E\nclass f: pass", ("not", A)),
        ("raise E\ndef f(): pass", FALSE),
        ("class C:\n    if a:\n        def f(): pass", A),
    ],
)
def test_when(text: str, when: Condition) -> None:
    """A definition is made under the condition of the path to it, in its parent."""
    facts = facts_of(text)
    assert facts.scopes[-1].when == when
    (binding,) = [one for one in facts.bindings if one.name == "f"]
    assert (binding.kind, binding.target_scope, binding.when) == ("scope", facts.scopes[-1].index, when)


def test_class_bodies_run_at_once() -> None:
    """What ends in the body of a class ends what is around it; the body of a function waits."""
    text = "class C:\n    assert a\ndef f():\n    assert b\nimport x\n"
    assert facts_of(text).imports[0].when == A


def test_defaults_and_annotations() -> None:
    """Defaults and decorators are evaluated outside the function; annotations are read in deep facts."""
    text = "@d\ndef f(x: t = v, *y: u, z: w = k) -> r: pass\n"
    assert {(ref.scope, ref.name) for ref in facts_of(text).refs} == {(0, "d"), (0, "v"), (0, "k")}
    deep = {(ref.scope, ref.name) for ref in facts_of(text, deep=True).refs}
    assert deep == {(0, name) for name in "dtvuwkr"}
