"""The characters of string literals with the place of each: prefixes, escapes, holes of f-strings, concatenation."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import partial
from itertools import repeat

from veomni_opslint.extract.placed_text import CharacterPlace, PlacedText

_OPENING = re.compile(r"(?P<prefix>[A-Za-z]{0,2})(?P<quote>\"\"\"|'''|\"|')")
_BETWEEN = re.compile(r"(?:[ \t\f\n]|\\\n|#[^\n]*)*")
_PLAIN = re.compile(r"[^\\{}'\"\n]+")
_ESCAPE = re.compile(
    r"\\(?:(?P<newline>\n)|(?P<octal>[0-7]{1,3})|x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})"
    r"|N\{(?P<name>[^}]*)\}|(?P<short>[ntr\\'\"abfv]))"
)
_PLACE = partial(tuple.__new__, CharacterPlace)
"""A place from its fields in a tuple, at the speed of C: there is one for each character."""
_SHORT = dict(zip("ntr\\'\"abfv", "\n\t\r\\'\"\a\b\f\v", strict=True))


def read_literal(node: ast.expr, lines: Sequence[str], holes: Sequence[str] = ()) -> PlacedText | None:
    """The value of the literals that *node* is written with, several in a row where they are concatenated.

    *holes* are the texts that the holes of f-strings are filled with, in order. None where the literals are not
    understood.
    """
    return _Reader(node, lines, holes).read()


class _Reader:
    def __init__(self, node: ast.expr, lines: Sequence[str], holes: Sequence[str]) -> None:
        segment = list(lines[node.lineno - 1 : node.end_lineno])
        segment[-1] = segment[-1].encode()[: node.end_col_offset].decode(errors="replace")
        self.source = "\n".join(segment)
        self.position = len(segment[0].encode()[: node.col_offset].decode(errors="replace"))
        self.line = node.lineno
        self.line_start = 0
        self.holes = list(reversed(holes))
        self.characters: list[str] = []
        self.places: list[CharacterPlace] = []

    def read(self) -> PlacedText | None:
        while self.position < len(self.source):
            opening = _OPENING.match(self.source, self.position)
            if opening is None:
                return None
            self._take(opening.end(), "")
            if not self._inside(opening["prefix"].lower(), opening["quote"]):
                return None
            between = _BETWEEN.match(self.source, self.position)
            self._take(between.end() if between is not None else self.position, "")
        return PlacedText("".join(self.characters), tuple(self.places))

    def _inside(self, prefix: str, quote: str) -> bool:
        """Read up to the closing quote."""
        raw, formatted = "r" in prefix, "f" in prefix
        source = self.source
        while not source.startswith(quote, self.position):
            plain = _PLAIN.match(source, self.position)
            escape = None if raw else _ESCAPE.match(source, self.position)
            if plain is not None:
                self._take_plain(plain.end(), plain.group())
            elif escape is not None:
                self._take(escape.end(), _decoded(escape))
            elif formatted and source[self.position : self.position + 1] in ("{", "}"):
                if not self._hole():
                    return False
            elif self.position < len(source):
                backslash = source[self.position] == "\\" and source[self.position + 1 : self.position + 2] not in "{}"
                self._take(self.position + 1, source[self.position])
                if backslash:
                    self._take(self.position + 1, source[self.position : self.position + 1])
            else:
                return False
        self._take(self.position + len(quote), "")
        return True

    def _hole(self) -> bool:
        brace = self.source[self.position]
        if self.source.startswith(brace * 2, self.position):
            self._take(self.position + 2, brace)
            return True
        end = self.source.find("}", self.position) + 1
        if not end or not self.holes:
            return False
        self._take(end, self.holes.pop())
        return True

    def _take_plain(self, end: int, text: str) -> None:
        """Move to *end* in a line; each character that is passed stands for itself."""
        column = self.position - self.line_start
        self.characters.append(text)
        self.places.extend(map(_PLACE, zip(repeat(self.line), range(column, column + len(text)), repeat(1))))
        self.position = end

    def _take(self, end: int, text: str) -> None:
        """Move to *end*; what is passed stands for *text*."""
        if text:
            place = CharacterPlace(self.line, self.position - self.line_start, end - self.position)
            self.characters.append(text)
            self.places.extend([place] * len(text))
        passed = self.source.count("\n", self.position, end)
        if passed:
            self.line += passed
            self.line_start = self.source.rfind("\n", self.position, end) + 1
        self.position = end


def _decoded(escape: re.Match[str]) -> str:
    if escape["newline"]:
        return ""
    if escape["short"]:
        return _SHORT[escape["short"]]
    if escape["name"]:
        # A large table, which hardly any file needs.
        import unicodedata  # noqa: PLC0415

        try:
            return unicodedata.lookup(escape["name"])
        except KeyError:
            return ""
    code = int(escape["octal"], 8) if escape["octal"] else int(escape["x"] or escape["u"] or escape["U"], 16)
    return chr(code) if code < 0x110000 else ""
