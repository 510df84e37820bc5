"""Tables: indented columns for a terminal or a file, and Markdown for a page."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest

from veomni_opslint.reporters.style import Presentation, printable

Layout = Callable[[Sequence[str], Sequence[Sequence[str]]], str]

_INDENT = "  "
_GAP = "  "
_NARROWEST = 12
_PIECES = (re.compile(r"[^\s/]*(?:/+|\s+|$)"), re.compile(r"[^_.:=]*(?:_+|[.:=]|$)"))
"""What stays together: words and parts of paths; and where that is too wide, parts of names."""


def text_layout(presentation: Presentation) -> Layout:
    """Tables for a terminal of that width, or with columns as wide as they need to be where there is no terminal."""
    return partial(text_table, presentation=presentation)


def text_table(columns: Sequence[str], rows: Sequence[Sequence[str]], presentation: Presentation | None = None) -> str:
    """Indented columns. Where they are wider than the terminal, the cells of the widest are broken into lines."""
    shown = presentation or Presentation()
    cells = [[printable(cell) for cell in row] for row in (columns, *rows)]
    room = sys.maxsize if shown.columns is None else shown.columns - len(_INDENT) - len(_GAP) * (len(columns) - 1)
    widths = _fitted(cells, room)
    lines: list[str] = []
    for number, row in enumerate(cells):
        texts = [_INDENT + line for line in _lines(row, widths)]
        lines += texts if number else map(shown.dim, texts)
    return "".join(f"{line}\n" for line in lines)


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of a page."""
    lines = [f"| {' | '.join(columns)} |", f"| {' | '.join('---' for _ in columns)} |"]
    lines += [f"| {' | '.join(value.replace('|', chr(92) + '|') for value in row)} |" for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _fitted(cells: Sequence[Sequence[str]], room: int) -> list[int]:
    """Widths of the columns: those of the widest are cut down until all have *room*, as far as words allow it."""
    columns = list(zip(*cells, strict=True))
    widths = [max(map(len, column)) for column in columns]
    for pieces in (*_PIECES, None):
        if sum(widths) <= room:
            break
        floors = [_longest_piece(column, pieces) if pieces is not None else _NARROWEST for column in columns]
        while sum(widths) > room:
            wide = [index for index, width in enumerate(widths) if width > max(floors[index], _NARROWEST)]
            if not wide:
                break
            widths[max(wide, key=lambda index: widths[index])] -= 1
    return widths


def _longest_piece(column: Sequence[str], pieces: re.Pattern[str]) -> int:
    return max(len(piece.rstrip()) for cell in column for piece in pieces.findall(cell))


def _lines(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    parts = [_broken(cell, width) for cell, width in zip(row, widths, strict=True)]
    for line in zip_longest(*parts, fillvalue=""):
        yield _GAP.join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()


def _broken(cell: str, width: int) -> list[str]:
    """A cell in lines, broken where it hurts least."""
    if len(cell) <= width:
        return [cell]
    lines = [""]
    for piece in _small_enough(cell, width, _PIECES):
        if len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _small_enough(text: str, width: int, patterns: Sequence[re.Pattern[str]]) -> Iterator[str]:
    """The pieces of *text*; those that are too wide in smaller ones."""
    if len(text.rstrip()) <= width:
        yield text
    elif not patterns:
        yield from (text[start : start + width] for start in range(0, len(text), width))
    else:
        for piece in patterns[0].findall(text):
            yield from _small_enough(piece, width, patterns[1:])
