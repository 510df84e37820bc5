"""The characters of string literals and where they are written."""

from __future__ import annotations

import ast
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.string_forms import HOLE, StringForms

from veomni_opslint.extract.placed_text import CharacterPlace, PlacedText
from veomni_opslint.extract.string_literals import read_literal


def read(source: str, *holes: str) -> PlacedText | None:
    """The literals of an expression that begins the first line."""
    return read_literal(ast.parse(source, mode="eval").body, source.split("\n"), holes)


@settings(deadline=None, max_examples=400)
@given(
    text=st.lists(st.sampled_from([*"ab'\"\\{}\n\t\x0cé🙂Nx1", HOLE]), max_size=20).map("".join),
    source=st.randoms(use_true_random=False),
)
def test_every_literal(text: str, source: random.Random) -> None:
    """Value and places are right for every prefix, quote, escape and concatenation."""
    form = StringForms(source, text)
    form.raw("(")
    form.concatenation(text)
    form.raw(")")
    written = "".join(form.parts)
    node = ast.parse(written, mode="eval").body
    assert ast.literal_eval(node) == text if isinstance(node, ast.Constant) else isinstance(node, ast.JoinedStr)
    holes = [HOLE] * sum(isinstance(value, ast.FormattedValue) for value in getattr(node, "values", ()))
    places = []
    for offset, width in form.places:
        before = written[:offset]
        places.append(CharacterPlace(before.count("\n") + 1, len(before.rpartition("\n")[2]), width))
    assert read_literal(node, written.split("\n"), holes) == PlacedText(text, tuple(places))


@pytest.mark.parametrize(
    ("source", "text", "columns"),
    [
        ("'ab'", "ab", [(1, 1), (2, 1)]),
        (r"'a\tb'", "a\tb", [(1, 1), (2, 2), (4, 1)]),
        (r"r'a\t'", "a\\t", [(2, 1), (3, 1), (4, 1)]),
        (r"r'\'x'", "\\'x", [(2, 1), (3, 1), (4, 1)]),
        (r"'\x41\101\u0041\N{LATIN SMALL LETTER E WITH ACUTE}'", "AAAé", [(1, 4), (5, 4), (9, 6), (15, 35)]),
        (r"'\0\08'", "\0\0" + "8", [(1, 2), (3, 2), (5, 1)]),
        (r"'a' 'b'", "ab", [(1, 1), (5, 1)]),
        ("'a''b'", "ab", [(1, 1), (4, 1)]),
        (r"'\\'", "\\", [(1, 2)]),
        ("f'{{{x}}}'", "{?}", [(2, 2), (4, 3), (7, 2)]),
        ("f'{x}' 'a{}'", "?a{}", [(2, 3), (8, 1), (9, 1), (10, 1)]),
    ],
)  # fmt: skip
def test_columns(source: str, text: str, columns: list[tuple[int, int]]) -> None:
    """Column and width of each character, written out."""
    places = tuple(CharacterPlace(1, column, width) for column, width in columns)
    assert read(source, "?") == PlacedText(text, places)


def test_lines() -> None:
    """A backslash at the end of a line stands for nothing, and comments and brackets around literals are none."""
    source = "(  # '\n'''a\\\nb\n''' # '\n  'c')"
    expected = (CharacterPlace(2, 3, 1), CharacterPlace(3, 0, 1), CharacterPlace(3, 1, 1), CharacterPlace(5, 3, 1))
    assert read(source) == PlacedText("ab\nc", expected)


@pytest.mark.parametrize("source", ["x", "1", "f'{x}{y}'", "'a' + 'b'", "f'{x[\"}\"]}{y}'"])
def test_not_understood(source: str) -> None:
    """What is no literal of text, or has more holes than there are texts for them, is not read."""
    assert read(source, "?") is None
