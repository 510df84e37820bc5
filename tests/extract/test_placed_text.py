"""Texts with places do what strings do, and each character keeps its place."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veomni_opslint.extract.placed_text import (
    CharacterPlace,
    PlacedText,
    cleaned,
    concatenated,
    dedented,
    joined,
)

texts = st.text(st.sampled_from("ab \t\n\x0cé"), max_size=25)


def placed(text: str, line: int = 1) -> PlacedText:
    """Text in one line of its own, each character at its index."""
    return PlacedText(text, tuple(CharacterPlace(line, index, 1) for index in range(len(text))))


def has_its_places(result: PlacedText, original: str) -> bool:
    """Whether each character is that of the original at its place, where a tab may have become spaces."""
    found = [original[place.column] for place in result.places]
    return len(result.text) == len(found) and all(
        one == other or (one == " " and other == "\t") for one, other in zip(result.text, found, strict=True)
    )


@settings(deadline=None, max_examples=400)
@given(text=texts)
@pytest.mark.parametrize(
    ("operation", "truth"),
    [(dedented, textwrap.dedent), (cleaned, inspect.cleandoc), (PlacedText.stripped, str.strip)],
    ids=["dedent", "cleandoc", "strip"],
)
def test_same_as_python(operation: Callable[[PlacedText], PlacedText], truth: Callable[[str], str], text: str) -> None:
    """The text is that of the function of the standard library."""
    if truth is inspect.cleandoc:
        # Python 3.13 takes only spaces for indentation there.
        text = text.replace("\x0c", " ")
    result = operation(placed(text))
    assert result.text == truth(text)
    assert has_its_places(result, text)


@settings(deadline=None)
@given(text=texts, characters=st.none() | st.text(st.sampled_from("a \n"), max_size=2))
@pytest.mark.parametrize("method", ["strip", "lstrip", "rstrip"])
def test_stripped(method: Literal["strip", "lstrip", "rstrip"], text: str, characters: str | None) -> None:
    """Every method of stripping, also with characters given."""
    result = placed(text).stripped(method, characters)
    assert result.text == getattr(text, method)(characters)
    assert has_its_places(result, text)


@settings(deadline=None)
@given(separator=texts, parts=st.lists(texts, max_size=4))
def test_joined(separator: str, parts: list[str]) -> None:
    """Parts keep their places, and a separator stands behind the part before it."""
    result = joined(placed(separator, 99), [placed(part, line) for line, part in enumerate(parts)])
    assert result.text == separator.join(parts)
    expected: list[CharacterPlace] = []
    for line, part in enumerate(parts):
        if line:
            before = parts[line - 1]
            behind = CharacterPlace(line - 1, len(before), 0)
            expected += [behind] * len(separator) if before else placed(separator, 99).places
        expected += placed(part, line).places
    assert list(result.places) == expected


def test_concatenated() -> None:
    """Pieces follow each other; none is the empty text."""
    assert concatenated([]) == PlacedText("", ())
    assert concatenated([placed("a", 1), placed("", 2), placed("bc", 3)]) == PlacedText(
        "abc", (CharacterPlace(1, 0, 1), CharacterPlace(3, 0, 1), CharacterPlace(3, 1, 1))
    )
