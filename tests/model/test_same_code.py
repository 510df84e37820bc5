"""Tests of what counts as the same code."""

from __future__ import annotations

import ast

import pytest

from veomni_opslint.model.same_code import dedented_lines, first_difference, same_tree

SAME = {
    "comments": ("x = 1  # one\n# two\ny = 2", "x = 1\n\ny = 2  # two"),
    "line breaks": ("f(first, second)", "f(\n    first,\n    second,\n)"),
    "parentheses": ("total = first + second", "total = (\n    first\n    + second\n)"),
    "parentheses around all": (
        "def f():\n    return first or second",
        "def f():\n    return (\n        first or second\n    )",
    ),
    "chain": ("x = (\n    a[0].b().c()\n)", "x = (\n    a[0]\n    .b()\n    .c()\n)"),
    "quotes": ("name = 'x'", 'name = "x"'),
    "docstring": ('def f():\n    """Old."""\n    return 1', 'def f():\n    """New."""\n    return 1'),
    "docstring alone": ('def f():\n    """Old."""', "def f():\n    pass"),
    "order of imports": ("import b\nimport a\nx = 1", "import a\nimport b\nx = 1"),
    "merged imports": ("from m import a\nfrom m import b", "from m import a, b"),
    "annotation of self": ("def f(self: Model): pass", "def f(self): pass"),
}
DIFFERENT = {
    "value": ("x = 1\ny = 2", "x = 1\ny = 3", (1, 1)),
    "tuple": ("x = 1", "x = (1,)", (0, 0)),
    "tuple on lines": ("x = a", "x = (\n    a,\n)", (0, 0)),
    "indentation": ("for a in b:\n    f()\n    g()", "for a in b:\n    f()\ng()", (2, 1)),
    "one more": ("f()", "f()\ng()", (0, 1)),
    "one less": ("f()\ng()", "f()", (1, 0)),
    "default": ("def f(a, b=1):\n    pass", "def f(a, b=2):\n    pass", (0, 0)),
    "other import": ("from m import a\nf(a)", "from n import a\nf(a)", (0, 0)),
    "text with spaces": ('f(\n    "a b",\n)', 'f("ab")', (1, 0)),
    "annotation": ("def f(x: int): pass", "def f(x: str): pass", (0, 0)),
    "type of a constant": ("x = 1", "x = True", (0, 0)),
}


@pytest.mark.parametrize("case", SAME)
def test_same(case: str) -> None:
    """What a formatter or a comment changes is no difference."""
    expected, found = SAME[case]
    assert first_difference(expected.split("\n"), found.split("\n")) is None


@pytest.mark.parametrize("case", DIFFERENT)
def test_different(case: str) -> None:
    """The lines are those of the first difference in both."""
    expected, found, lines = DIFFERENT[case]
    assert first_difference(expected.split("\n"), found.split("\n")) == lines


def test_unparsable_code_is_no_difference() -> None:
    """What cannot be parsed is not judged."""
    assert first_difference(["x = ("], ["y = 1"]) is None


def test_dedented_lines() -> None:
    """A method comes to the margin without its decorators."""
    text = "class A:\n    @cached\n    def f(self):\n        return 1\n"
    method = ast.parse(text).body[0].body[0]  # type: ignore[attr-defined]
    assert dedented_lines(text.split("\n"), method) == ["def f(self):", "    return 1"]


def test_same_tree() -> None:
    """Positions do not count, values do."""
    assert same_tree(ast.parse("x = 1"), ast.parse("\nx =  1"))
    assert not same_tree(ast.parse("x = 1"), ast.parse("x = 2"))
