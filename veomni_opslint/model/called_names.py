"""Names that a file calls, read off its text at once: a first look that takes a fraction of a walk over its tree."""

from __future__ import annotations

import re
from typing import NamedTuple

_REVERSED = re.compile(r"\(([\w.]++(?! ++(?:fed|ssalc)\b)(?:\)\(repus(?![\w.]))?)")
"""In a reversed text: a name that is called."""
_OBJECTS = ("fles", "slc", ")(repus")
_THEIRS = (".fles", ".slc", ".)(repus")
"""An attribute of an attribute is of an object whose class is not known."""


class CalledName(NamedTuple):
    """A dotted name that is called: the whole of it, its first part and its last."""

    whole: str
    root: str
    last: str


_NEW = CalledName("", "", "")


class CalledNames:
    """The names of many files, of which each is taken apart once.

    Only names whose last part is one of the *known*, and attributes of ``self``.
    """

    def __init__(self, known: frozenset[str]) -> None:
        self._known = frozenset(one[::-1] for one in known)
        self._names: dict[str, CalledName | None] = {}
        self._found: dict[str, list[tuple[int, CalledName]]] = {}

    def of(self, text: str) -> list[tuple[int, CalledName]]:
        """The calls in a text, in order: the offset of each name, and the name. Not to be changed."""
        found = self._found.get(text)
        if found is None:
            found = self._found[text] = self._find(text)
        return found

    def _find(self, text: str) -> list[tuple[int, CalledName]]:
        names, size = self._names, len(text)
        found: list[tuple[int, CalledName]] = []
        for match in _REVERSED.finditer(text[::-1]):
            written = match[1]
            name = names.get(written, _NEW)
            if name is _NEW:
                name = names[written] = self._name(written)
            if name is not None:
                found.append((size - match.end(), name))
        found.reverse()
        return found

    def _name(self, written: str) -> CalledName | None:
        backwards, _, others = written.partition(".")
        if others not in _OBJECTS and (backwards not in self._known or written[-1] == "." or others.endswith(_THEIRS)):
            return None
        whole = written[::-1]
        return CalledName(whole, whole.partition(".")[0], backwards[::-1])
