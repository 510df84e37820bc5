"""Which lines of a file make the body of a function worth a walk."""

from __future__ import annotations

import re
from functools import lru_cache

from veomni_opslint.dialect import Dialect

_STATEMENTS = ("import", "global")
_LONGEST_LINE = 500
_FROM = re.compile(r"(?:^|[:;])\s*from\b")
_CALLS = ("__import__", "import_module")


def wanted_lines(text: str, dialect: Dialect) -> list[int] | None:
    """Lines that look like an import, a ``global`` or a name of the dialect; None when any line may be one.

    It is decided on the text: most of a modeling file has none, and is then not walked at all.
    """
    words, calls, aliases = _words(dialect)
    if any(name in text and any(alias in text for alias in listed) for name, listed in aliases):
        return None
    offsets: set[int] = set()
    for word in (*_STATEMENTS, *words, *calls):
        found = text.find(word)
        while found >= 0:
            end = found + len(word)
            if word in _STATEMENTS:
                counts = not _is_word(text[end : end + 1]) and _starts_statement(text, found)
            else:
                counts = word not in calls or text[end : end + 8].lstrip().startswith("(")
            if counts:
                offsets.add(found)
            found = text.find(word, end)
    return _lines_of(text, offsets)


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
    before = text[max(text.rfind("\n", nearest, offset) + 1, nearest) : offset].strip()
    return not before or before[-1] in ":;\\" or _FROM.search(before) is not None


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


@lru_cache(maxsize=8)
def _words(dialect: Dialect) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...]]:
    """Words that count anywhere, those that count when called, and texts by which a name goes under another one."""
    slots = (dialect.op_slot, dialect.config_slot)
    words = {*dialect.npu_packages, *dialect.npu_guards, dialect.post_import_block, dialect.backend_spec}
    distinct = tuple(sorted(name for name in words if not any(other != name and other in name for other in words)))
    aliases: list[tuple[str, tuple[str, ...]]] = [(slot, (f"{slot} as ",)) for slot in slots]
    for name in dialect.npu_packages:
        parent, _, last = name.rpartition(".")
        spellings = [f"{last} as ", f"from {name} import", f"from {name}."]
        if parent:
            spellings.append(f"from {parent} import {last}")
        aliases.append((last, tuple(spellings)))
    return distinct, (*slots, *_CALLS), tuple(aliases)
