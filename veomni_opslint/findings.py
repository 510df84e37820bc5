"""What a rule reports: a fault, its place, and how to put it right."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How much a finding matters; errors decide the exit status."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A range in a file: path relative to the project root with forward slashes, lines and columns from 1."""

    path: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class Related(NamedTuple):
    """Another place that a reader needs to understand a finding: the slot, the spec, a link of an import chain."""

    place: Place
    message: str


class Fix(NamedTuple):
    """What an automatic fix would do; *safe* when it cannot change what a correct program does."""

    description: str
    safe: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault. The message is one line, in the user's terms, and carries no line numbers."""

    code: str
    name: str
    severity: Severity
    message: str
    place: Place
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    fingerprint: str = ""

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Order of every report: path, line, column, code, and the message to make it total."""
        return (self.place.path, self.place.line, self.place.column, self.code, self.message)
