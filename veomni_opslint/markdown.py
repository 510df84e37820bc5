"""Markdown as data with positions: headings, tables, paragraphs, fenced blocks, and the code spans in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^`]*")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_BAR = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


class Code(NamedTuple):
    """A code span. ``aside``: it stands in parentheses."""

    text: str
    line: int
    column: int
    aside: bool


class Text(NamedTuple):
    """A piece of running text with its code spans: a paragraph, an item of a list, a heading, a cell of a table."""

    text: str
    line: int
    column: int

    @property
    def codes(self) -> tuple[Code, ...]:
        """Its code spans in order."""
        return tuple(_codes(self))

    @property
    def plain(self) -> str:
        """The text without the signs of code, of emphasis and of quotation around it."""
        return self.text.strip("`*_\"' \t")


class Heading(NamedTuple):
    """A heading and its level."""

    level: int
    text: Text


class Table(NamedTuple):
    """A table: its header and its rows, cell by cell; ``lead`` is the text right above it."""

    headings: tuple[Heading, ...]
    lead: Text | None
    header: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]


class Paragraph(NamedTuple):
    """A paragraph, an item of a list, or a heading, below ``headings``."""

    headings: tuple[Heading, ...]
    text: Text


class Fence(NamedTuple):
    """A fenced block; ``line`` is that of its first line of content, ``lead`` the text right above it."""

    headings: tuple[Heading, ...]
    lead: Text | None
    language: str
    line: int
    lines: tuple[str, ...]


Block = Table | Paragraph | Fence


class Document(NamedTuple):
    """A Markdown file."""

    path: str
    blocks: tuple[Block, ...]


def read_markdown(path: str, data: bytes) -> Document:
    """The content of the file called *path*; nothing in it is an error."""
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    return Document(path, tuple(_blocks(text)))


def _blocks(text: str) -> Iterator[Block]:
    if "<!--" in text:
        text = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    lines = text.split("\n")
    headings: tuple[Heading, ...] = ()
    lead: Text | None = None
    at = 0
    while at < len(lines):
        line = lines[at]
        number = at + 1
        fence = _FENCE.fullmatch(line)
        heading = _HEADING.fullmatch(line)
        if fence is not None:
            end = _end_of_fence(lines, at, fence[1])
            yield Fence(headings, lead, fence[2].lower(), number + 1, tuple(lines[at + 1 : end]))
            at = end + 1
        elif heading is not None:
            title = Text(heading[2], number, heading.start(2) + 1)
            headings = (*(one for one in headings if one.level < len(heading[1])), Heading(len(heading[1]), title))
            yield Paragraph(headings, title)
            lead = None
            at += 1
        elif not line.strip():
            at += 1
        elif "|" in line and at + 1 < len(lines) and _is_table(line, lines[at + 1]):
            end = at + 2
            while end < len(lines) and "|" in lines[end] and lines[end].strip():
                end += 1
            rows = tuple(tuple(_cells(lines[row], row + 1)) for row in range(at + 2, end))
            yield Table(headings, lead, tuple(_cells(line, number)), rows)
            at = end
        else:
            end = at + 1
            while end < len(lines) and not _ends_paragraph(lines, end):
                end += 1
            lead = Text("\n".join(lines[at:end]), number, 1)
            yield Paragraph(headings, lead)
            at = end


def _end_of_fence(lines: list[str], at: int, ticks: str) -> int:
    for end in range(at + 1, len(lines)):
        stripped = lines[end].strip()
        if stripped and set(stripped) == {ticks[0]} and len(stripped) >= len(ticks):
            return end
    return len(lines)


def _is_table(header: str, below: str) -> bool:
    return "-" in below and _DELIMITER.fullmatch(below) is not None and len(_split(header)) == len(_split(below))


def _ends_paragraph(lines: list[str], at: int) -> bool:
    line = lines[at]
    if not line.strip() or _ITEM.match(line) or _FENCE.fullmatch(line) or _HEADING.fullmatch(line):
        return True
    return "|" in line and at + 1 < len(lines) and _is_table(line, lines[at + 1])


def _split(line: str) -> list[tuple[int, int]]:
    """Where the cells of a row are."""
    start = len(line) - len(line.lstrip())
    end = len(line.rstrip())
    start += line.startswith("|", start)
    end -= end > start and line.endswith("|", start, end) and not line.endswith("\\|", start, end)
    cells = []
    for bar in _BAR.finditer(line, start, end):
        cells.append((start, bar.start()))
        start = bar.end()
    return [*cells, (start, end)]


def _cells(line: str, number: int) -> Iterator[Text]:
    for start, end in _split(line):
        inner = line[start:end]
        yield Text(inner.strip(), number, start + len(inner) - len(inner.lstrip()) + 1)


def _codes(text: Text) -> Iterator[Code]:
    whole = text.text
    if "`" not in whole:
        return
    depth = last = position = line_start = 0
    line = text.line
    for found in _CODE.finditer(whole):
        between = whole[last : found.start()]
        depth = max(depth + between.count("(") - between.count(")"), 0)
        last = found.end()
        line += whole.count("\n", position, found.start())
        line_start = max(line_start, whole.rfind("\n", position, found.start()) + 1)
        position = found.start()
        column = found.start() - line_start + (1 if line_start else text.column)
        yield Code(" ".join(found[2].replace("\\|", "|").split()), line, column, depth > 0)
