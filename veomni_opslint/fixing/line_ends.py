"""The bytes of a file whose text was changed: encoding, byte order mark and line ends stay as they are."""

from __future__ import annotations

import codecs
import re
from collections import Counter

from veomni_opslint.source import declared_encoding

_LINE_END = re.compile("\r\n|\r|\n")


def encoded(original: bytes, text: str) -> bytes:
    """*text*, which has plain line ends, as the file with the bytes *original* would hold it.

    Raises:
        UnicodeError: the encoding of the file lacks a character.
    """
    mark = codecs.BOM_UTF8 if original.startswith(codecs.BOM_UTF8) else b""
    encoding = "utf-8" if mark else declared_encoding(original)
    before = original.removeprefix(mark).decode(encoding)
    return mark + _with_line_ends(before, text).encode(encoding)


def _with_line_ends(before: str, text: str) -> str:
    ends = _LINE_END.findall(before)
    counted = Counter(ends).most_common()
    usual = counted[0][0] if counted else "\n"
    if len(counted) < 2:
        return text.replace("\n", usual)
    return _with_mixed_line_ends(before, text, ends, usual)


def _with_mixed_line_ends(before: str, text: str, ends: list[str], usual: str) -> str:
    """Lines that were there keep their ends, changed ones too; new ones have the usual one."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - slow to import, and hardly ever needed

    old, new = _LINE_END.split(before), text.split("\n")
    kept = dict.fromkeys(range(len(new)), usual)
    for _, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        kept.update(zip(range(first, last), ends[start:end], strict=False))
    return "".join(line + kept[number] for number, line in enumerate(new[:-1])) + new[-1]
