"""What can change, and the values that everything else builds on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import Enum
from itertools import count
from typing import TypeAlias

from veomni_opslint.conditions import Condition

Value: TypeAlias = object


Join: TypeAlias = Callable[[list[tuple[Condition, Value]]], Value]


class Absence(Enum):
    """The place of a value that is not there: an unbound name, a missing key."""

    UNBOUND = "unbound"


UNBOUND = Absence.UNBOUND


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """A value known only at run time. ``reason`` continues "the variant …"; equal keys mean equal values.

    ``call`` is the callee as written where the value is what a call that cannot be followed returns. ``hides`` is the
    project function or class that calling the value, or a part of it, may run.
    """

    reason: str
    key: Hashable
    call: str = ""
    hides: Value = None


def unknown(reason: str, call: str = "", hides: Value = None) -> Opaque:
    """An opaque value that equals no other."""
    return Opaque(reason, object(), call, hides)


_serials = count()


class Cell:
    """Something that can change. Parts are named by a key; contents are immutable snapshots of a part."""

    __slots__ = ("serial",)

    def __init__(self) -> None:
        self.serial = next(_serials)

    @staticmethod
    def mark() -> int:
        """A number between those of the cells made before and after."""
        return next(_serials)

    def peek(self, key: str) -> object:
        """The content of the part."""
        raise NotImplementedError

    def poke(self, key: str, content: object) -> None:
        """Replace the content of the part."""
        raise NotImplementedError

    def merge(self, options: list[tuple[Condition, object]], join: Join) -> object:
        """One content for contents that hold under conditions which exclude each other."""
        raise NotImplementedError

    def poison(self, key: str, reason: str) -> None:
        """Make the part unknown."""
        raise NotImplementedError


class Attributes(Cell):
    """A cell whose parts are named values."""

    __slots__ = ("attrs",)

    def __init__(self, attrs: dict[str, Value] | None = None) -> None:
        super().__init__()
        self.attrs: dict[str, Value] = attrs if attrs is not None else {}

    def peek(self, key: str) -> object:
        return self.attrs.get(key, UNBOUND)

    def poke(self, key: str, content: object) -> None:
        if content is UNBOUND:
            self.attrs.pop(key, None)
        else:
            self.attrs[key] = content

    def merge(self, options: list[tuple[Condition, object]], join: Join) -> object:
        return join(options)

    def poison(self, key: str, reason: str) -> None:
        self.attrs[key] = unknown(reason)
