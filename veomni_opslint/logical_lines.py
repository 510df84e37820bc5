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


def logical_lines(text: str) -> LogicalLines:
    """Divide *text* as the tokenizer does."""
    ranges: list[tuple[int, int]] = []
    first = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
                continue
            first = first or token.start[0]
            if token.type == tokenize.NEWLINE:
                ranges.append((first, token.end[0]))
                first = 0
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return LogicalLines(tuple(ranges))
    return LogicalLines(tuple(ranges))
