"""Statements that end a path, bind names or say what a module exports."""

from __future__ import annotations

import sys

import pytest
from support.facts import facts_of, when_marked, written

from veomni_opslint.conditions import FALSE, TRUE, Condition

A = ("name", "a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("assert a\nmark", A),
        ("assert not a, b\nmark", ("not", A)),
        ("raise a\nmark", FALSE),
        ("exit()\nmark", FALSE),
        ("sys.exit(1)\nmark", FALSE),
        ("pytest.skip('x')\nmark", FALSE),
        ("a or sys.exit()\nmark", A),
        ("a and sys.exit()\nmark", ("not", A)),
        ("sys.exit() if a else b\nmark", ("not", A)),
        ("b if a else sys.exit()\nmark", A),
        ("pytest.importorskip('torch_npu')\nmark", ("available", "torch_npu")),
        ("x = pytest.importorskip('torch_npu')\nmark", ("available", "torch_npu")),
        ("import_module('torch_npu.x')\nmark", ("available", "torch_npu")),
        ("x = __import__('torch_npu')\nmark", ("available", "torch_npu")),
        ("import_module('other')\nmark", TRUE),
        ("f()\nmark", ("completes", "f")),
        ("x = f()\nmark", ("completes", "f")),
        ("a.require_npu()\nmark", ("completes", "a.require_npu")),
        ("a.f()\nmark", TRUE),
        ("print()\nmark", TRUE),
        ("f = 1\nf()\nmark", TRUE),
        ("def g(f):\n    f()\n    mark", TRUE),
        ("a or f()\nmark", ("or", A, ("completes", "f"))),
        ("lambda: sys.exit()\nmark", TRUE),
        ("return\nmark", FALSE),
    ],
)
def test_what_is_reached(text: str, expected: Condition) -> None:
    """The condition under which the statement after is reached."""
    assert when_marked(text) == [expected]


@pytest.mark.parametrize(
    ("body", "returns", "completes"),
    [
        ("pass", FALSE, TRUE),
        ("return", FALSE, TRUE),
        ("return a", A, TRUE),
        ("return True", TRUE, TRUE),
        ("return not a", ("not", A), TRUE),
        ("if a:\n        return True\n    return False", A, TRUE),
        ("if a:\n        return False\n    return True", ("not", A), TRUE),
        ("if a:\n        raise E", FALSE, ("not", A)),
        ("raise E", FALSE, FALSE),
        ("if a:\n        return\n    raise E", FALSE, A),
        ("try:\n        import torch_npu\n        return True\n    except ImportError:\n        return False",
         ("available", "torch_npu"), TRUE),
    ],
)  # fmt: skip
def test_functions(body: str, returns: Condition, completes: Condition) -> None:
    """When a call returns something true, and when it returns at all."""
    function = facts_of(f"def f():\n    {body}\n", deep=True).scopes[1]
    assert (function.returns, function.completes) == (returns, completes)


def test_generators_and_coroutines() -> None:
    """What calls of them give is something else."""
    text = "def a():\n    yield 1\ndef b():\n    yield from a()\nasync def c():\n    pass\ndef d():\n    pass\n"
    scopes = facts_of(text, deep=True).scopes[1:]
    assert [(one.name, one.is_generator, one.is_async) for one in scopes] == [
        ("a", True, False),
        ("b", True, False),
        ("c", False, True),
        ("d", False, False),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("__all__ = []", []),
        ("__all__ = ['a', \"b\"]", ["a", "b"]),
        ("__all__ = ('a',)", ["a"]),
        ("__all__: list[str] = ['a']", ["a"]),
        ("__all__ = ['a']\n__all__ += ['b']", ["a", "b"]),
        ("__all__ += ['b']", ["b"]),
        ("__all__ = ['a', b, *c]", ["a"]),
        ("__all__ = a.__all__", []),
        ("__all__ = ['a']\n__all__ = ['b']", ["b"]),
        ("if x:\n    __all__ = ['a']", ["a"]),
        ("def f():\n    __all__ = ['a']", None),
        ("class C:\n    __all__ = ['a']", None),
        ("é = 1; __all__ = ['ü']", ["ü"]),
    ],
)
def test_exports(text: str, expected: list[str] | None) -> None:
    """The names in ``__all__`` that are written out, each where it is written."""
    exports = facts_of(text).exports
    assert (None if exports is None else [name for name, _ in exports]) == expected
    assert all(written(text, span).strip("'\"") == name for name, span in exports or ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", [("x", "", None)]),
        ("x = 'npu'", [("x", "", "npu")]),
        ("x = a.b", [("x", "a.b", None)]),
        ("x: str = 'npu'", [("x", "", "npu")]),
        ("x: str", []),
        ("x = y = a", [("x", "a", None), ("y", "a", None)]),
        ("x, y = a, 'b'", [("x", "a", None), ("y", "", "b")]),
        ("x, *y = a", [("x", "", None), ("y", "", None)]),
        ("[x, (y, z)] = a", [("x", "", None), ("y", "", None), ("z", "", None)]),
        ("x += 1", [("x", "", None)]),
        ("for x in a: pass", [("x", "", None)]),
        ("with a as x: pass", [("x", "", None)]),
        ("(x := a)", [("x", "a", None)]),
        ("[x for x in a]", []),
        ("[y := x for x in a]", [("y", "x", None)]),
        ("x.y = 1; x[0] = 1; del x", []),
        ("if a:\n    x = 1", [("x", "", None)]),
        ("def f():\n    x = 1", []),
    ],
)
def test_assigned_names(text: str, expected: list[tuple[str, str, str | None]]) -> None:
    """Names that a module binds to values: the name of the value, or its text."""
    bindings = facts_of(text).bindings
    assert [(one.name, one.value_name, one.literal) for one in bindings if one.kind == "assign"] == expected
    assert all(written(text, one.span) == one.name for one in bindings if one.kind == "assign")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type statements are new in Python 3.12")
def test_type_statement() -> None:
    """A type alias is a name of the module."""
    assert [(one.name, one.kind) for one in facts_of("type X = int\n").bindings] == [("X", "assign")]
