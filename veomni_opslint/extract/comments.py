"""Suppression comments: ``# noqa``, ``# opslint: ignore[…] reason``, ``# opslint: ignore-file[…] reason``."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from veomni_opslint.facts import Span, Suppression

_MARKS = ("noqa", "opslint")
_MARKED = re.compile(rf"#[^\S\n]*(?:{'|'.join(_MARKS)})", re.IGNORECASE)
_FOREIGN_CODE = re.compile(r"(?!OPS)[A-Z]{1,5}[0-9]{1,5}", re.IGNORECASE)
_NOQA = re.compile(
    r"#\s*noqa(?![\w-])(?:\s*:\s*(?P<codes>[a-z][a-z0-9_-]*(?:\s*,\s*[a-z]+(?:-[a-z0-9]+)+|[\s,]+[a-z]+[0-9]+\b)*))?"
    r"(?P<reason>[^#]*)",
    re.IGNORECASE,
)
_IGNORE = re.compile(
    r"#\s*opslint\s*:\s*(?P<kind>ignore-file|ignore)(?![\w-])\s*(?:\[(?P<rules>[^\]]*)\])?(?P<reason>[^#]*)"
)
_UNKNOWN = re.compile(r"#\s*opslint\s*:\s*(?!(?:ignore|ignore-file)\s*\[)(?P<word>[A-Za-z][\w-]*)\s*\[\s*[A-Za-z]")
_WORD = re.compile(r"[^\s,]+")


Lines = tuple[int, int]
"""The first and the last line of something, both counted from 1."""


def suppressions(text: str, statements: Callable[[], Sequence[Lines]] | None = None) -> tuple[Suppression, ...]:
    """All suppression comments; the text of strings is not mistaken for a comment.

    *statements* gives lines that the tokenizer can be started at, as ``statement_lines`` does: only what is around a
    candidate is read then. Without it the whole text is.
    """
    candidates = list(_candidates(text))
    if not candidates:
        return ()
    lines = text.split("\n")
    pieces = [(1, len(lines))] if statements is None else _around(candidates, statements())
    comments = (
        comment
        for first, last in pieces
        for comment in _comments(lines[first - 1 : last], first, max(line for line in candidates if line <= last))
    )
    return tuple(found for line, column, comment in comments for found in _read(line, column, comment))


def statement_lines(tree: ast.Module, functions: Iterable[ast.FunctionDef | ast.AsyncFunctionDef]) -> tuple[Lines, ...]:
    """The lines of the statements of a module, together where they share one, and of the functions in it."""
    found: list[Lines] = []
    for statement in tree.body:
        decorators = getattr(statement, "decorator_list", ())
        first = min((statement.lineno, *(decorator.lineno for decorator in decorators)))
        if found and first <= found[-1][1]:
            first = found.pop()[0]
        found.append((first, statement.end_lineno or first))
    return (*found, *((function.lineno, function.end_lineno or function.lineno) for function in functions))


def _candidates(text: str) -> Iterator[int]:
    """The lines with what looks like a suppression, in order."""
    line, position, end = 1, 0, -1
    for mark in _MARKED.finditer(text):
        if mark.start() < end:
            continue
        start = text.rfind("\n", 0, mark.start()) + 1
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if _concerns_us(text[start:end]):
            line += text.count("\n", position, start)
            position = start
            yield line


def _around(candidates: Iterable[int], statements: Sequence[Lines]) -> list[Lines]:
    """The smallest statement around each of the lines; what stands between statements can only be a comment."""
    found: list[Lines] = []
    for line in candidates:
        holding = [one for one in statements if one[0] <= line <= one[1]]
        first, last = min(holding, key=lambda one: one[1] - one[0]) if holding else (line, line)
        while found and first <= found[-1][1]:
            before = found.pop()
            first, last = min(first, before[0]), max(last, before[1])
        found.append((first, last))
    return found


def _is_marked(lowered: str) -> bool:
    return any(mark in lowered for mark in _MARKS)


def _concerns_us(comment: str) -> bool:
    """False for a ``noqa`` with the codes of other linters only, the usual case, which is not worth tokenizing for."""
    return any(ours.search(comment) is not None for ours in (_IGNORE, _UNKNOWN)) or any(
        not noqa["codes"] or any(_FOREIGN_CODE.fullmatch(word) is None for word in _WORD.findall(noqa["codes"]))
        for noqa in _NOQA.finditer(comment)
    )


def _comments(lines: Sequence[str], first: int, last: int) -> Iterator[tuple[int, int, str]]:
    """The comments that may be suppressions in some lines, of which the first is *first*, up to *last*."""
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
            if first + token.start[0] - 1 > last:
                return
            if token.type == tokenize.COMMENT and _is_marked(token.string.lower()):
                line, column = token.start
                yield first + line - 1, len(lines[line - 1][:column].encode()), token.string
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return


def _read(line: int, column: int, comment: str) -> Iterator[Suppression]:
    matches = (*_IGNORE.finditer(comment), *_NOQA.finditer(comment), *_UNKNOWN.finditer(comment))
    for found in sorted(matches, key=re.Match.start):
        if found.re is _UNKNOWN:
            yield Suppression("unknown", line, _span(line, column, comment, *found.span("word")), (), "")
        elif found.re is _NOQA:
            span = _span(line, column, comment, found.start(), found.start("reason"))
            rules = _words(found["codes"] or "", line, column, comment, found.start("codes"))
            yield Suppression("noqa", line, span, rules, found["reason"].strip(" \t-—:"))
        else:
            kind: Literal["ignore", "ignore-file"] = "ignore-file" if found["kind"] == "ignore-file" else "ignore"
            span = _span(line, column, comment, found.start(), found.start() + len(found.group().rstrip()))
            rules = _words(found["rules"] or "", line, column, comment, found.start("rules"))
            yield Suppression(kind, line, span, rules, found["reason"].strip())


def _words(listed: str, line: int, column: int, comment: str, offset: int) -> tuple[tuple[str, Span], ...]:
    return tuple(
        (word.group(), _span(line, column, comment, offset + word.start(), offset + word.end()))
        for word in _WORD.finditer(listed)
    )


def _span(line: int, column: int, comment: str, start: int, end: int) -> Span:
    """The span of a part of a comment that begins at the column."""
    if not comment.isascii():
        start, end = len(comment[:start].encode()), len(comment[:end].encode())
    return line, column + start, line, column + end
