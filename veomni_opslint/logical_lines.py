"""The lines that belong together because one statement spreads over them."""

from __future__ import annotations

import io
import tokenize
from typing import NamedTuple


class LogicalLines(NamedTuple):
    """First and last line of each logical line of a text, in order; empty where the text cannot be tokenized."""

    ranges: tuple[tuple[int, int], ...]

    def at(self, line: int) -> tuple[int, int]:
        """The range that holds *line*; a comment or blank line between statements is a range of its own."""
        for first, last in self.ranges:
            if first <= line <= last:
                return first, last
        return line, line

    def after(self, line: int) -> tuple[int, int]:
        """The first range that begins below *line*."""
        for first, last in self.ranges:
            if first > line:
                return first, last
        return line, line


def logical_lines(text: str, line: int = 1, last: int | None = None) -> LogicalLines:
    """Divide *text*, which begins at *line* of its file, as the tokenizer does; up to the first one below *last*."""
    ranges: list[tuple[int, int]] = []
    above = line - 1
    first = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
                continue
            first = first or token.start[0]
            if token.type == tokenize.NEWLINE:
                ranges.append((above + first, above + token.end[0]))
                if last is not None and above + first > last:
                    break
                first = 0
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return LogicalLines(tuple(ranges))
    return LogicalLines(tuple(ranges))
