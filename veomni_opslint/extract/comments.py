"""Suppression comments: ``# noqa``, ``# opslint: ignore[…] reason``, ``# opslint: ignore-file[…] reason``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from typing import Literal

from veomni_opslint.facts import Span, Suppression

_COMMENT = re.compile(r"#[^\n]*")
_MARKS = ("noqa", "opslint")
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


def suppressions(text: str) -> tuple[Suppression, ...]:
    """All suppression comments; the text of strings is not mistaken for a comment."""
    if not _is_marked(text):
        return ()
    candidates = filter(_is_marked, _COMMENT.findall(text))
    if not any(map(_concerns_us, candidates)):
        return ()
    return tuple(found for line, column, comment in _comments(text) for found in _read(line, column, comment))


def _is_marked(text: str) -> bool:
    lowered = text.lower()
    return any(mark in lowered for mark in _MARKS)


def _concerns_us(comment: str) -> bool:
    """False for a ``noqa`` with the codes of other linters only, the usual case, which is not worth tokenizing for."""
    return any(ours.search(comment) is not None for ours in (_IGNORE, _UNKNOWN)) or any(
        not noqa["codes"] or any(_FOREIGN_CODE.fullmatch(word) is None for word in _WORD.findall(noqa["codes"]))
        for noqa in _NOQA.finditer(comment)
    )


def _comments(text: str) -> Iterator[tuple[int, int, str]]:
    lines = text.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and _is_marked(token.string):
                line, column = token.start
                yield line, len(lines[line - 1][:column].encode()), token.string
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
