"""Suppression comments: which there are, what they name, and where."""

from __future__ import annotations

import pytest
from support.facts import facts_of, written

from veomni_opslint.extract.comments import suppressions
from veomni_opslint.facts import Suppression


def described(text: str) -> list[tuple[str, int, str, tuple[str, ...], str]]:
    """Of each suppression its kind, line, text as cut out of the file, rules and reason; all places are checked."""
    found = suppressions(text)
    for one in found:
        assert one.span[0] == one.span[2] == one.line
        assert [written(text, span) for _, span in one.rules] == [word for word, _ in one.rules]
    return [
        (one.kind, one.line, written(text, one.span), tuple(word for word, _ in one.rules), one.reason) for one in found
    ]


@pytest.mark.parametrize(
    ("comment", "kind", "text", "rules", "reason"),
    [
        ("# noqa", "noqa", "# noqa", (), ""),
        ("#noqa", "noqa", "#noqa", (), ""),
        ("# NOQA", "noqa", "# NOQA", (), ""),
        ("# NoQa", "noqa", "# NoQa", (), ""),
        ("# noqa: OPS201", "noqa", "# noqa: OPS201", ("OPS201",), ""),
        ("# noqa:OPS201", "noqa", "# noqa:OPS201", ("OPS201",), ""),
        ("# noqa : OPS201", "noqa", "# noqa : OPS201", ("OPS201",), ""),
        ("# noqa: ops201", "noqa", "# noqa: ops201", ("ops201",), ""),
        ("# noqa: OPS2", "noqa", "# noqa: OPS2", ("OPS2",), ""),
        ("# noqa: E501,OPS201", "noqa", "# noqa: E501,OPS201", ("E501", "OPS201"), ""),
        ("# noqa: E501, OPS201 OPS301", "noqa", "# noqa: E501, OPS201 OPS301", ("E501", "OPS201", "OPS301"), ""),
        ("# noqa: OPS201 for tests", "noqa", "# noqa: OPS201", ("OPS201",), "for tests"),
        ("# noqa: OPS201, for tests", "noqa", "# noqa: OPS201", ("OPS201",), ", for tests"),
        ("# noqa: OPS201 — für später", "noqa", "# noqa: OPS201", ("OPS201",), "für später"),
        ("# noqa: unguarded-npu-import", "noqa", "# noqa: unguarded-npu-import", ("unguarded-npu-import",), ""),
        ("# noqa: a-b, OPS201, c-d-e", "noqa", "# noqa: a-b, OPS201, c-d-e", ("a-b", "OPS201", "c-d-e"), ""),
        ("# type: ignore # noqa: OPS201", "noqa", "# noqa: OPS201", ("OPS201",), ""),
        ("# opslint: ignore[OPS201]", "ignore", "# opslint: ignore[OPS201]", ("OPS201",), ""),
        ("#opslint:ignore[OPS201]", "ignore", "#opslint:ignore[OPS201]", ("OPS201",), ""),
        ("# opslint : ignore [OPS201]", "ignore", "# opslint : ignore [OPS201]", ("OPS201",), ""),
        ("# opslint: ignore[OPS201] why", "ignore", "# opslint: ignore[OPS201] why", ("OPS201",), "why"),
        ("# opslint: ignore[OPS201, a-b] ü", "ignore", "# opslint: ignore[OPS201, a-b] ü", ("OPS201", "a-b"), "ü"),
        ("# opslint: ignore[ OPS201 ,OPS301 ]", "ignore", "# opslint: ignore[ OPS201 ,OPS301 ]",
         ("OPS201", "OPS301"), ""),
        ("# opslint: ignore[]", "ignore", "# opslint: ignore[]", (), ""),
        ("# opslint: ignore", "ignore", "# opslint: ignore", (), ""),
        ("# opslint: ignore it", "ignore", "# opslint: ignore it", (), "it"),
        ("# opslint: ignore-file[OPS201] why", "ignore-file", "# opslint: ignore-file[OPS201] why",
         ("OPS201",), "why"),
        ("# type: ignore # opslint: ignore[OPS201] why", "ignore", "# opslint: ignore[OPS201] why",
         ("OPS201",), "why"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("before", ["", "x = 1  ", "é = '🙂'  ", "\tx = [  ", "x = '''\nß\n'''  ", "\n\n    "])
def test_forms(comment: str, kind: str, text: str, rules: tuple[str, ...], reason: str, before: str) -> None:
    """Every form, after code of any characters, at its line and columns."""
    assert described(f"{before}{comment}\n") == [(kind, before.count("\n") + 1, text, rules, reason)]


@pytest.mark.parametrize("word", ["ignored", "ignroe", "disable", "Ignore", "ignore_file", "ignore-files", "noqa"])
def test_unknown_word(word: str) -> None:
    """A comment for opslint with another word is told apart, with the place of the word; it names no rule."""
    expected = Suppression("unknown", 1, (1, 19, 1, 19 + len(word)), (), "")
    assert suppressions(f"é = 1  # opslint: {word}[OPS201] reason\n") == (expected,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1\n",
        "x = '# noqa: OPS201'\n",
        'x = f"{y} # opslint: ignore[OPS201]"\n',
        '"""\n# noqa: OPS201\n# opslint: ignore-file[OPS201]\n"""\n',
        "noqa = 1\n",
        "opslint: ignore = 1\n",
        "# noqable\n",
        "# opslint ignores it\n",
        "# opslint: see the table[OPS201]\n",
        "# opslint: table[0]\n",
        "# see noqa: OPS201\n",
    ],
)
def test_no_suppression(text: str) -> None:
    """Strings, names and comments that merely mention a suppression are none."""
    assert suppressions(text) == ()


def test_only_foreign_codes_are_not_read() -> None:
    """In a file where every noqa is for other tools there is nothing of ours."""
    assert suppressions("import os  # noqa: F401\nx = 1  # noqa: E501, N806\n") == ()


def test_several_in_one_comment() -> None:
    """Each counts, whatever its order and form."""
    text = "x = 1  # noqa: E501  # opslint: ignore[OPS201] why # noqa: OPS301 # opslint: ignore[OPS302]\n"
    assert sorted(described(text)) == [
        ("ignore", 1, "# opslint: ignore[OPS201] why", ("OPS201",), "why"),
        ("ignore", 1, "# opslint: ignore[OPS302]", ("OPS302",), ""),
        ("noqa", 1, "# noqa: E501", ("E501",), ""),
        ("noqa", 1, "# noqa: OPS301", ("OPS301",), ""),
    ]


def test_after_a_string_over_several_lines() -> None:
    """The columns are those of the line that the comment stands in."""
    text = "x = ('''é\nü''',  # noqa: OPS201\n)\n"
    assert suppressions(text) == (Suppression("noqa", 2, (2, 8, 2, 22), (("OPS201", (2, 16, 2, 22)),), ""),)


def test_before_what_cannot_be_tokenized() -> None:
    """In a broken file the comments before the fault are read, and the facts have them."""
    text = "x = 1  # noqa: OPS201\ny = '''\n"
    expected = (Suppression("noqa", 1, (1, 7, 1, 21), (("OPS201", (1, 15, 1, 21)),), ""),)
    assert suppressions(text) == expected
    assert facts_of(text).suppressions == expected


def test_unusual_line_characters() -> None:
    """Only a line feed ends a line, as for the parser."""
    text = "x = 'a\x0cb\u2028c\x85'\n\x0cy = 1  # noqa: OPS201\n"
    assert described(text) == [("noqa", 2, "# noqa: OPS201", ("OPS201",), "")]


PLACES = {
    "between": "import a\n# noqa\nimport b  # noqa\n",
    "in a string that holds it": "x = '''\n# noqa\n'''  # noqa\n",
    "in a docstring": "def f():\n    '''\n    # noqa\n    '''\n    return 1  # noqa\n",
    "in a nested function": "class A:\n  def f(self):\n    def g():\n      y = '# noqa'  # noqa\n    return g\n",
    "behind a function in a class": "class A:\n  def f(self):\n    pass  # noqa\n  x = '''\n  # noqa\n  '''\n",
    "of a decorator": "@deco(\n    '''\n    # noqa\n    ''',  # noqa\n)\ndef f():\n    pass  # noqa\n",
    "two statements in a line": "a = '''\n'''; b = '''\n# noqa\n'''  # noqa\nc = 1  # noqa\n",
    "between the parts of a string": "a = ('x'  # noqa\n    '# noqa')\n",
    "continued": "a = 1 + \\\n    2  # noqa\n",
    "at the end": "def f():\n    pass\n    # noqa\n# noqa",
    "inner, then outer": "class A:\n  def f(self):\n    a  # noqa\n  def g(self):\n    a  # noqa\n  b = 2  #noqa\n",
    "indented otherwise": "if 1:\n\tdef f():\n\t  x = [\n1,  # noqa\n\t]\n\t  return x  # noqa\n",
}  # fmt: skip


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES.keys())
def test_what_is_around_a_candidate_tells_as_much_as_the_whole_text(text: str) -> None:
    """The facts of a file start the tokenizer at statements only."""
    assert facts_of(text).suppressions == suppressions(text) != ()
