"""Which lines of a file make the body of a function worth a walk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from veomni_opslint.dialect import Dialect

_STATEMENTS = ("import", "global")
_LONGEST_LINE = 500
_FROM = re.compile(r"(?:^|[:;])\s*from\b")
_CALLS = (("__import__", 2), ("import_module", 0))
"""Functions that import, and where in their names the statement's word begins."""
_SHARED = ("npu", "NPU", "Slot")


def wanted_lines(text: str, dialect: Dialect) -> list[int] | None:
    """Lines that look like an indented import, a ``global`` or a name of the dialect; None when any line may be one.

    It is decided on the text: most of a modeling file has none, and is then not walked at all.
    """
    families = [family for family in _families(dialect) if family.shared in text]
    aliases = (alias for family in families for alias in family.aliases)
    if any(common in text and any(alias in text for alias in listed) for common, listed in aliases):
        return None
    offsets = {found for word in _STATEMENTS for found in _each(text, word) if _counts(text, word, found)}
    for family in families:
        for word in family.words:
            offsets.update(_each(text, word))
        for word in family.callables:
            offsets.update(found for found in _each(text, word) if _called(text, found + len(word)))
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


class _Family(NamedTuple):
    """Words with something in common: one search for that passes over most files.

    ``words`` count anywhere, ``callables`` where they are called; ``aliases`` are the texts by which a name goes under
    another one, each list of them with what they have in common.
    """

    shared: str
    words: list[str]
    callables: list[str]
    aliases: list[tuple[str, tuple[str, ...]]]


@lru_cache(maxsize=8)
def _families(dialect: Dialect) -> tuple[_Family, ...]:
    found: dict[str, _Family] = {}

    def family(word: str) -> _Family:
        shared = next((shared for shared in _SHARED if shared in word), word)
        return found.setdefault(shared, _Family(shared, [], [], []))

    words = {*dialect.npu_packages, *dialect.npu_guards, dialect.post_import_block, dialect.backend_spec}
    for word in sorted(words):
        if not any(other != word and other in word for other in words):
            family(word).words.append(word)
    for slot in (dialect.op_slot, dialect.config_slot):
        family(slot).callables.append(slot)
        family(slot).aliases.append((f"{slot} as ", (f"{slot} as ",)))
    lasts = {name.rpartition(".")[2] for name in dialect.npu_packages}
    for last in sorted(lasts):
        if not any(other != last and last.endswith(other) for other in lasts):
            family(last).aliases.append((f"{last} as ", tuple(f"{one} as " for one in lasts if one.endswith(last))))
    for name in dialect.npu_packages:
        parent, _, last = name.rpartition(".")
        family(last).aliases.append((f"from {name}", (f"from {name} import", f"from {name}.")))
        if parent:
            family(last).aliases.append((f"from {parent} import {last}", (f"from {parent} import {last}",)))
    return tuple(found.values())
