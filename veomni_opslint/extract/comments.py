"""Suppression comments: ``# noqa``, ``# opslint: ignore[…] reason``, ``# opslint: ignore-file[…] reason``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from typing import Literal

from veomni_opslint.facts import Suppression

_WORTH_READING = re.compile(r"#[^\n]*?(?:noqa|opslint\s*:)[^\n]*", re.IGNORECASE)
_FOREIGN_CODE = re.compile(r"(?!OPS)[A-Z]{1,5}[0-9]{1,5}", re.IGNORECASE)
_NOQA = re.compile(r"#\s*noqa(?P<list>\s*:\s*(?P<codes>[A-Za-z][A-Za-z0-9_-]*(?:[\s,]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*opslint\s*:\s*(?P<kind>ignore-file|ignore)\s*(?:\[(?P<rules>[^\]]*)\])?(?P<reason>[^#]*)")
_WORD = re.compile(r"[^\s,]+")


def suppressions(text: str) -> tuple[Suppression, ...]:
    """All suppression comments; the text of strings is not mistaken for a comment."""
    if "noqa" not in text and "NOQA" not in text and "opslint" not in text:
        return ()
    if not any(_concerns_us(candidate.group()) for candidate in _WORTH_READING.finditer(text)):
        return ()
    return tuple(found for line, column, comment in _comments(text) for found in _read(line, column, comment))


def _concerns_us(comment: str) -> bool:
    """False for a ``noqa`` with the codes of other linters only, the usual case, which is not worth tokenizing for."""
    if _IGNORE.search(comment) is not None:
        return True
    noqa = _NOQA.search(comment)
    if noqa is None:
        return False
    words = _WORD.findall(noqa["codes"] or "")
    return not words or any(_FOREIGN_CODE.fullmatch(word) is None for word in words)


def _comments(text: str) -> Iterator[tuple[int, int, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and _WORTH_READING.match(token.string):
                yield token.start[0], len(token.line[: token.start[1]].encode()), token.string
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return


def _read(line: int, column: int, comment: str) -> Iterator[Suppression]:
    ignore = _IGNORE.search(comment)
    if ignore is not None:
        kind: Literal["ignore", "ignore-file"] = "ignore-file" if ignore["kind"] == "ignore-file" else "ignore"
        start = column + len(comment[: ignore.start()].encode())
        span = (line, start, line, column + len(comment[: ignore.end()].rstrip().encode()))
        rules = _words(ignore["rules"] or "", line, column, comment, ignore.start("rules"))
        yield Suppression(kind, line, span, rules, (ignore["reason"] or "").strip())
    noqa = _NOQA.search(comment)
    if noqa is not None:
        start = column + len(comment[: noqa.start()].encode())
        span = (line, start, line, column + len(comment[: noqa.end()].encode()))
        rules = _words(noqa["codes"] or "", line, column, comment, noqa.start("codes"))
        yield Suppression("noqa", line, span, rules, comment[noqa.end() :].strip(" \t-—:#"))


def _words(
    listed: str, line: int, column: int, comment: str, offset: int
) -> tuple[tuple[str, tuple[int, int, int, int]], ...]:
    found = []
    for word in _WORD.finditer(listed):
        start = column + len(comment[: offset + word.start()].encode())
        found.append((word.group(), (line, start, line, start + len(word.group().encode()))))
    return tuple(found)
