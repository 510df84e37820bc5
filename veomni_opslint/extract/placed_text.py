"""Text of which each character knows its place in the file, through what code does to strings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple


class CharacterPlace(NamedTuple):
    """Where a character comes from: line from 1, column in characters from 0, and how wide it is written there."""

    line: int
    column: int
    width: int


class PlacedText(NamedTuple):
    """Characters, and where each comes from."""

    text: str
    places: tuple[CharacterPlace, ...]

    @classmethod
    def at(cls, place: CharacterPlace, text: str) -> PlacedText:
        """Text that comes from one place as a whole."""
        return cls(text, (place,) * len(text))

    def cut(self, start: int, end: int | None = None) -> PlacedText:
        """The characters from *start* to *end*."""
        return PlacedText(self.text[start:end], self.places[start:end])

    def stripped(
        self, method: Literal["strip", "lstrip", "rstrip"] = "strip", characters: str | None = None
    ) -> PlacedText:
        """What the method of strings does."""
        start = len(self.text) - len(self.text.lstrip(characters)) if method != "rstrip" else 0
        rest = self.cut(start)
        return rest.cut(0, len(rest.text.rstrip(characters))) if method != "lstrip" else rest


def concatenated(pieces: Iterable[PlacedText]) -> PlacedText:
    """The pieces one after the other."""
    listed = tuple(pieces)
    return PlacedText("".join(one.text for one in listed), tuple(place for one in listed for place in one.places))


def joined(separator: PlacedText, parts: Iterable[PlacedText]) -> PlacedText:
    """``separator.join(parts)``; each separator has its place behind the part before it."""
    pieces: list[PlacedText] = []
    for part in parts:
        if pieces and pieces[-1].places:
            line, column, width = pieces[-1].places[-1]
            pieces.append(PlacedText.at(CharacterPlace(line, column + width, 0), separator.text))
        elif pieces:
            pieces.append(separator)
        pieces.append(part)
    return concatenated(pieces)


def dedented(value: PlacedText) -> PlacedText:
    """``textwrap.dedent``."""
    lines = _lines(value)
    margin: str | None = None
    for content, _ in lines:
        stripped = content.text.lstrip(" \t")
        if stripped:
            indentation = content.text[: len(content.text) - len(stripped)]
            margin = indentation if margin is None else _common_start(margin, indentation)
    width = len(margin or "")
    return concatenated(
        piece
        for content, end in lines
        for piece in ((content.cut(width), end) if content.text.strip(" \t") else (end,))
    )


def cleaned(value: PlacedText) -> PlacedText:
    """``inspect.cleandoc``."""
    lines = [(_without_tabs(content), end) for content, end in _lines(value)]
    first, rest = lines[0], lines[1:]
    margin = min((len(one.text) - len(one.text.lstrip()) for one, _ in rest if one.text.strip()), default=0)
    lines = [(first[0].stripped("lstrip"), first[1]), *((content.cut(margin), end) for content, end in rest)]
    filled = [index for index, (content, _) in enumerate(lines) if content.text]
    if not filled:
        return value.cut(0, 0)
    *kept, last = lines[filled[0] : filled[-1] + 1]
    return concatenated((*(piece for line in kept for piece in line), last[0]))


def _lines(value: PlacedText) -> list[tuple[PlacedText, PlacedText]]:
    """Each line and the line feed behind it."""
    found = []
    start = 0
    for line in value.text.split("\n"):
        end = start + len(line)
        found.append((value.cut(start, end), value.cut(end, end + 1)))
        start = end + 1
    return found


def _common_start(one: str, other: str) -> str:
    length = next((index for index, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    return one[: min(len(one), len(other)) if length is None else length]


def _without_tabs(line: PlacedText) -> PlacedText:
    if "\t" not in line.text:
        return line
    pieces: list[PlacedText] = []
    column = 0
    for character, place in zip(line.text, line.places, strict=True):
        text = " " * (8 - column % 8) if character == "\t" else character
        pieces.append(PlacedText.at(place, text))
        column += len(text)
    return concatenated(pieces)
