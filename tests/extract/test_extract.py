"""From text to facts: whatever the text is, there are facts or the reason why not."""

from __future__ import annotations

import random
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.facts import FILES, facts_of, read

from veomni_opslint.conditions import TRUE
from veomni_opslint.facts import FileFacts, ParseProblem, Suppression
from veomni_opslint.source import decode_source

DEPTH = 5000
X, NPU, GPU = ("name", "x"), ("const", "npu"), ("const", "gpu")
NESTED = {
    "parentheses": "x = " + "(" * DEPTH + "1" + ")" * DEPTH,
    "lists": "x = " + "[" * DEPTH + "]" * DEPTH,
    "dicts": "x = " + "{1: " * DEPTH + "1" + "}" * DEPTH,
    "signs": "x = " + "-" * DEPTH + "1",
    "negations": "x = " + "not " * DEPTH + "1",
    "attributes": "x = a" + ".b" * DEPTH,
    "sums": "x = 1" + " + 1" * DEPTH,
    "powers": "x = 1" + " ** 1" * DEPTH,
    "comparisons": "x = 1" + " < a" * DEPTH,
    "conjunctions": "x = a" + " and b or a" * DEPTH,
    "calls of calls": "x = a" + "()" * DEPTH,
    "calls in calls": "x = " + "a(" * DEPTH + ")" * DEPTH,
    "subscripts": "x = a" + "[0]" * DEPTH,
    "subscripts in subscripts": "x = " + "a[" * DEPTH + "0" + "]" * DEPTH,
    "lambdas": "x = " + "lambda: " * DEPTH + "1",
    "conditional expressions": "x = " + "1 if a else " * DEPTH + "1",
    "elif": "if a: pass\n" + "elif b: pass\n" * DEPTH,
    "ifs": "".join(" " * depth + "if a:\n" for depth in range(DEPTH)),
    "allowed ifs": "".join(" " * depth + "if a:\n" for depth in range(98)) + " " * 98 + "import a",
    "allowed functions": "".join(" " * depth + "def f():\n" for depth in range(98)) + " " * 98 + "import a",
    "allowed classes": "".join(" " * depth + "class A:\n" for depth in range(98)) + " " * 98 + "import a",
    "decorators": "@a\n" * DEPTH + "def f(): pass",
    "f-strings": "x = f'" + "{a}" * DEPTH + "'",
    "f-strings in a row": "x = " + "f'{a}' " * DEPTH,
    "f-strings in f-strings": "x = " + "f'''{" * 20 + "1" + "}'''" * 20,
    "targets": "a = " * DEPTH + "1",
    "comprehensions": "x = [a " + "for a in b " * DEPTH + "]",
    "dots": "import " + ".".join(["a"] * DEPTH),
    "levels": "from " + "." * DEPTH + " import a",
    "arguments": "f(" + "a, " * DEPTH + ")",
    "slot names": "x = OpSlot(" + " + ".join(["N"] * DEPTH) + ", 'a')",
    "block": 'config.add_post_import_block("x = ' + "(" * DEPTH + "1" + ")" * DEPTH + '")',
    "block terms": "config.add_post_import_block(" + " + ".join(["'x\\n'"] * DEPTH) + ")",
    "block calls": "config.add_post_import_block('x'" + ".strip()" * DEPTH + ")",
}
TOO_DEEP = (
    "signs", "negations", "attributes", "sums", "powers", "calls of calls", "subscripts", "lambdas",
    "conditional expressions", "elif", "slot names", "block terms", "block calls",
)  # fmt: skip
"""Python 3.11 gives these up; later versions parse some of them."""


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("name", NESTED)
def test_deep_nesting(name: str, deep: bool) -> None:
    """Five thousand levels of anything are analysed, or are a problem where Python itself gives them up."""
    facts = facts_of(NESTED[name] + "\n", deep=deep)
    if name in TOO_DEEP and facts.problem is not None:
        assert facts.problem.message.startswith("nested too deeply")
    elif facts.problem is not None:
        assert facts.problem.message.startswith(("too many", "expected an indented", "f-string: "))
    else:
        assert facts.scopes


def has_facts_or_a_problem(facts: FileFacts) -> bool:
    """Whether there is exactly one of the two; a problem is at a place that there is."""
    if facts.problem is None:
        return facts.tree is not None and len(facts.scopes) > 0
    lines = facts.text.split("\n")
    return facts.scopes == () and 1 <= facts.problem.line <= len(lines) + 1 and facts.problem.column >= 0


@settings(deadline=None, max_examples=300)
@given(data=st.binary(max_size=200))
def test_random_bytes(data: bytes) -> None:
    """Random bytes that have a text at all have facts or a problem."""
    source = decode_source("veomni/x.py", data)
    assert source.problem is not None or has_facts_or_a_problem(facts_of(source.text, deep=True))


@settings(deadline=None, max_examples=150)
@given(path=st.sampled_from(FILES), source=st.randoms(use_true_random=False), deep=st.booleans())
def test_damaged_files(path: str, source: random.Random, deep: bool) -> None:
    """Files that end anywhere, lack a part or have one twice have facts or a problem."""
    text = read(path)
    first, second = sorted((source.randint(0, len(text)), source.randint(0, len(text))))
    for damaged in (text[:first], text[:first] + text[second:], text[:second] + text[first:]):
        assert has_facts_or_a_problem(facts_of(damaged, deep=deep))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = = 1\n", ParseProblem(1, 4, "invalid syntax")),
        ("x = 1\nif x\n    pass\n", ParseProblem(2, 4, "expected ':'")),
        ("é = '🙂'; y = = 1\n", ParseProblem(1, 13, "invalid syntax")),
        ("if x:\npass\n", ParseProblem(2, 0, "expected an indented block after 'if' statement on line 1")),
        ("<<<<<<< HEAD\n", ParseProblem(1, 0, "invalid syntax")),
        ("x = (\n", ParseProblem(1, 4, "'(' was never closed")),
        ("x = 'a\n", ParseProblem(1, 4, "unterminated string literal (detected at line 1)")),
        ("return = 1\n", ParseProblem(1, 7, "invalid syntax")),
    ],
)
def test_problem(text: str, problem: ParseProblem) -> None:
    """The problem is where Python sees it, the column in characters."""
    assert facts_of(text) == FileFacts("veomni/x.py", text, problem)


def test_null_byte() -> None:
    """A null byte is reported in its line."""
    facts = facts_of("x = 1\n\ny = '\0'\n")
    assert facts.problem is not None
    assert (facts.problem.line, facts.problem.column, "null byte" in facts.problem.message) == (3, 0, True)


def test_suppressions_of_a_broken_file() -> None:
    """Comments are read whether or not the code can be."""
    assert facts_of("x = =  # noqa\n").suppressions == (Suppression("noqa", 1, (1, 7, 1, 13), (), ""),)


def test_nothing() -> None:
    """An empty file has a module and nothing in it."""
    facts = facts_of("")
    assert [(scope.kind, scope.span) for scope in facts.scopes] == [("module", (1, 0, 1, 0))]
    assert (facts.problem, facts.imports, facts.refs, facts.bindings, facts.exports) == (None, (), (), (), None)


def test_warnings_stay_inside() -> None:
    """Odd but legal code is analysed in silence, even where warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        facts = facts_of("x = '\\d'\ny = 1 is 1\nz = 1or 2\nconfig.add_post_import_block('import a\\nx = \"\\\\d\"')\n")
    assert facts.problem is None
    assert [block.problem for block in facts.embedded] == [None]


def test_choices() -> None:
    """A module-level name that is one of several constants, names or calls has them; with more it has none."""
    text = (
        "A = 'npu' if x else 'gpu'\nB = 'a' if x else 'b' if y else None\nC = 'npu' if x else f()\nD = 'gpu'\n"
        "I = 'npu' if x else [y]\nJ = y\n"
        "if x:\n    E = 'npu'\nelse:\n    E = 'gpu'\n"
        "G = 'npu' if x else 'gpu'\ndef set_it():\n    global G\n    G = 'cpu'\nH = A\nH += 'x'\n"
    )
    x, y = ("name", "x"), ("name", "y")
    two = ((x, NPU), (("not", x), GPU))
    others = ((("and", ("not", x), y), ("const", "b")), (("and", ("not", x), ("not", y)), ("const", None)))
    assert facts_of(text).choices == (
        ("A", two),
        ("B", ((x, ("const", "a")), *others)),
        ("C", ((x, NPU), (("not", x), ("call", "f", ())))),
        ("J", ((TRUE, y),)),
        ("E", two),
    )


@pytest.mark.parametrize(
    ("body", "choices"),
    [
        ("return 'npu' if x else 'gpu'", ((X, NPU), (("not", X), GPU))),
        ("if x: return 'npu'\n    return 'gpu'", ((X, NPU), (("not", X), GPU))),
        ("if x: return 'npu'", ((X, NPU), (("not", X), ("const", None)))),
        ("k = 'npu' if x else 'gpu'\n    return k", ((X, NPU), (("not", X), GPU))),
        ("if x: raise ValueError\n    return 'gpu'", ((("not", X), GPU),)),
        ("return K", ((TRUE, ("name", "K")),)),
        ("return g()", ((TRUE, ("call", "g", ())),)),
        ("return self.kind", ((TRUE, ("param", "self.kind")),)),
        ("return self", ()),
        ("return x + 1", ()),
        ("return 'npu' if x else [y]", ()),
        ("return None", ()),
        ("return 1 if x else 2", ()),
        ("pass", ()),
        ("yield 'npu'\n    return 'gpu'", ((TRUE, GPU),)),
        ("\n    ".join(f"if x == {i}: return '{i}'" for i in range(12)), ()),
    ],
)
def test_returned_choices(body: str, choices: object) -> None:
    """A function has what it returns where that is a constant, a name or a call; one that may return more has none."""
    assert facts_of(f"def f(self):\n    {body}\n", deep=True).scopes[1].choices == choices


def test_truths() -> None:
    """A module-level name that ends up with a condition has it; one that functions assign has none."""
    text = (
        "A = is_npu()\nB = not A\nC = x\nD = A\nD = 1\nE = f() if g else None\n"
        "if x:\n    F = True\nelse:\n    F = False\n"
        "G = is_npu()\nH = x + 1\ndef set_it():\n    global G\n    G = True\n"
    )
    a = ("call", "is_npu", ())
    assert dict(facts_of(text).truths) == {
        "A": a,
        "B": ("not", a),
        "C": ("name", "x"),
        "D": ("true",),
        "E": ("and", ("name", "g"), ("call", "f", ())),
        "F": ("name", "x"),
    }
