"""Which lines of a file make the body of a function worth a walk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from veomni_opslint.dialect import Dialect

_STATEMENTS = ("import", "global")
_LONGEST_LINE = 500
_FROM = re.compile(r"(?:^|[:;])\s*from\b")
_CALLS = (("__import__", 2), ("import_module", 0))
"""Functions that import, and where in their names the statement's word begins."""
_SHARED = ("npu", "NPU", "Slot")
_ALIAS = "alias"
_NEVER = "(?!)"


def wanted_lines(text: str, dialect: Dialect) -> list[int] | None:
    """Lines that look like an indented import, a ``global`` or a name of the dialect; None when any line may be one.

    It is decided on the text: most of a modeling file has none, and is then not walked at all.
    """
    offsets: set[int] = set()
    for shared, pattern in _families(dialect):
        if shared not in text:
            continue
        for found in pattern.finditer(text):
            if found.lastgroup == _ALIAS:
                return None
            offsets.add(found.start())
    for word in _STATEMENTS:
        offsets.update(found for found in _each(text, word) if _counts(text, word, found))
    return _lines_of(text, offsets)


def _each(text: str, word: str) -> Iterator[int]:
    found = text.find(word)
    while found >= 0:
        yield found
        found = text.find(word, found + len(word))


def _counts(text: str, word: str, offset: int) -> bool:
    """Whether the word there is a statement, or part of a dynamic import."""
    end = offset + len(word)
    following = text[end : end + 1]
    if not (following.isalnum() or following == "_"):
        return _starts_statement(text, offset)
    return any(
        text.startswith(name, offset - lead) and _called(text, offset - lead + len(name)) for name, lead in _CALLS
    )


def _called(text: str, end: int) -> bool:
    return text[end : end + 8].lstrip().startswith("(")


def _lines_of(text: str, offsets: set[int]) -> list[int]:
    lines: list[int] = []
    line, position = 1, 0
    for offset in sorted(offsets):
        line += text.count("\n", position, offset)
        position = offset
        lines.append(line)
    return lines


def _starts_statement(text: str, offset: int) -> bool:
    """Whether a keyword can begin a statement there; in prose and in names it cannot."""
    nearest = max(offset - _LONGEST_LINE, 0)
    start = max(text.rfind("\n", nearest, offset) + 1, nearest)
    if (start == offset or text.startswith("from ", start)) and not text.endswith("\\\n", 0, start):
        # At the margin, so in no function.
        return False
    before = text[start:offset].strip()
    return not before or before[-1] in ":;\\" or _FROM.search(before) is not None


@lru_cache(maxsize=8)
def _families(dialect: Dialect) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Words with something in common, and what finds all of them by one search for that.

    What is found begins with the common part. Names under which something goes by another one are in the group of
    aliases.
    """
    words = {*dialect.npu_packages, *dialect.npu_guards, dialect.post_import_block, dialect.backend_spec}
    found: dict[str, tuple[list[str], list[str]]] = {}

    def add(word: str, rest: str = "", *, alias: bool = False) -> None:
        shared = next((shared for shared in _SHARED if shared in word), word)
        # A search for a literal is fast: what stands before it is looked at only where it is found.
        end = word.rindex(shared) + len(shared)
        behind = f"(?<={re.escape(word[:end])})" if end > len(shared) else ""
        aliases, others = found.setdefault(shared, ([], []))
        (aliases if alias else others).append(behind + re.escape(word[end:]) + rest)

    for name in dialect.npu_packages:
        parent, _, last = name.rpartition(".")
        add(last, " as ", alias=True)
        add(f"from {name}", r"(?: import|\.)", alias=True)
        if parent:
            add(f"from {parent} import {last}", alias=True)
    for slot in (dialect.op_slot, dialect.config_slot):
        add(slot, " as ", alias=True)
        add(slot, r"\s{0,7}\(")
    for word in sorted(words):
        if not any(other != word and other in word for other in words):
            add(word)
    return tuple(
        (shared, re.compile(f"{re.escape(shared)}(?:(?P<{_ALIAS}>{_any(aliases)})|{_any(others)})"))
        for shared, (aliases, others) in found.items()
    )


def _any(patterns: list[str]) -> str:
    return "|".join(patterns) if patterns else _NEVER
