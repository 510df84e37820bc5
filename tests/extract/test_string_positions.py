"""Which string expressions have a value that the file tells."""

from __future__ import annotations

import ast

import pytest

from veomni_opslint.extract.placed_text import CharacterPlace, PlacedText
from veomni_opslint.extract.string_positions import PlacedTextReader

ASSIGNED = """\
known = "a"
number = 3
listed = ["a", "b"]
forward = known + back
back = "b"
itself = itself + "x"
one = other
other = one
"""


def read(source: str) -> PlacedText | None:
    """The value of an expression in the last line of a file."""
    text = ASSIGNED + source
    tree = ast.parse(text)
    assigned = {
        statement.targets[0].id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    }
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)
    return PlacedTextReader(text.split("\n"), assigned).read(last.value)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("'x'", "x"),
        ("known", "a"),
        ("forward", "ab"),
        ("(x := 'y')", "y"),
        ("'a' + known + 'c'", "aac"),
        ("f'{known}{number}{known!r}{known!s}{1.5}{None}{back!a}'", "a3'a'a1.5None'b'"),
        ("f'{known + back}'", "ab"),
        ("f'{known!r:}'", None),
        ("f'{known=}'", "known='a'"),
        ("'-'.join(listed)", "a-b"),
        ("known.join(('x', 'y'))", "xay"),
        ("''.join([])", ""),
        ("' x '.strip()", "x"),
        ("' x '.lstrip(None)", "x "),
        ("'xyx'.strip('x')", "y"),
        ("textwrap.dedent('  x')", "x"),
        ("inspect.cleandoc('x\\n  y')", "x\ny"),
        ("' x'.strip().join(['1', '2'])", "1x2"),
        ("+".join(["'x'"] * 300), "x" * 300),
        ("unknown", None),
        ("number", None),
        ("listed", None),
        ("itself", None),
        ("one", None),
        ("known.value", None),
        ("known[0]", None),
        ("known - back", None),
        ("known.strip(back)", None),
        ("known.upper()", None),
        ("dedent(known, known)", None),
        ("known.join(number)", None),
        ("known.join('ab')", None),
        ("print(known)", None),
        ("f'{unknown}'", None),
        ("f'{number:3}'", None),
        ("b'x'", None),
        ("lambda: 'x'", None),
    ],
)
def test_value(source: str, text: str | None) -> None:
    """The value, or none where something else decides it."""
    found = read(source)
    assert (found and found.text) == text


def test_places() -> None:
    """Each character is where it is written, also through names; a hole's are at the hole."""
    end = ASSIGNED.count("\n") + 1
    assert read("forward + f'{back}'") == PlacedText(
        "abb", (CharacterPlace(1, 9, 1), CharacterPlace(5, 8, 1), CharacterPlace(end, 12, 6))
    )


def test_places_that_are_not_known() -> None:
    """A literal that is evaluated but not understood is at its beginning, in characters."""
    end = ASSIGNED.count("\n") + 1
    assert read("'é' + f'{known=}'") == PlacedText(
        "éknown='a'", (CharacterPlace(end, 1, 1), *[CharacterPlace(end, 6, 0)] * 9)
    )


def test_length_limit() -> None:
    """A value longer than any code is not known."""
    assert read("'" + "x" * 500_000 + "'") is not None
    assert read("'" + "x" * 500_001 + "'") is None
