"""From the spans of ``ast`` (columns from 0 in bytes) to the places of findings (columns from 1 in characters)."""

from __future__ import annotations

from veomni_opslint.facts import Span
from veomni_opslint.findings import Place
from veomni_opslint.source import lines_of


def place_of(path: str, text: str, span: Span) -> Place:
    """The place in *path*, whose text is *text*, of *span*."""
    lines = lines_of(text)
    return Place(path, span[0], _column(lines, span[0], span[1]), span[2], _column(lines, span[2], span[3]))


def _column(lines: list[str], line: int, offset: int) -> int:
    if not 0 < line <= len(lines):
        return offset + 1
    written = lines[line - 1]
    if written.isascii():
        return offset + 1
    return len(written.encode(errors="surrogatepass")[:offset].decode(errors="replace")) + 1
