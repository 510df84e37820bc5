"""The conditions under which code runs, and the ways in which it is left."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Literal

from veomni_opslint.conditions import TRUE, Condition, atoms, both, negate, possible, truth
from veomni_opslint.evaluate.cells import Value
from veomni_opslint.evaluate.limits import MAX_PATH, MAX_STEPS, TOO_MANY, TooDeep

# In a formula with more mentions of conditions than the first, each costs as much as that many expressions to look at.
_SHORT, _STEPS_FOR_MENTION = 50, 50


@dataclass(frozen=True, slots=True)
class Note:
    """One condition as the reader knows it: its source text, and whether it holds."""

    text: str
    holds: bool = True

    def __str__(self) -> str:
        return self.text if self.holds else f"not ({self.text})"

    def flipped(self) -> Note:
        """The opposite condition."""
        return Note(self.text, not self.holds)


@dataclass(frozen=True, slots=True)
class Step:
    """One condition of the path: as a formula over atoms, and as the texts to report."""

    formula: Condition
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Exit:
    """One way in which a block ends other than by running to its end, and when it does.

    ``value`` is what is returned, or the name of the exception raised. ``origin`` is the statement that raises it, if
    that is no ``raise`` statement.
    """

    kind: Literal["return", "break", "continue", "raise"]
    when: Condition
    notes: tuple[Note, ...]
    value: Value = None
    origin: ast.stmt | None = None

    def under(self, step: Step) -> Exit:
        """The exit as seen from outside a branch."""
        return Exit(self.kind, both(step.formula, self.when), step.notes + self.notes, self.value, self.origin)


@dataclass(frozen=True, slots=True)
class Held:
    step: Step
    known: dict[Condition, bool]
    rest: Condition


class Path:
    """The conditions that hold where code runs."""

    def __init__(self) -> None:
        self.steps = MAX_STEPS
        self.path: list[Held] = []
        self._atoms: dict[Hashable, int] = {}
        self._atom_texts: list[str] = []

    def atom(self, key: Hashable, text: str) -> Condition:
        """The atomic condition that *key* identifies; *text* is reported for it."""
        number = self._atoms.get(key)
        if number is None:
            number = self._atoms[key] = len(self._atom_texts)
            self._atom_texts.append(text)
        return ("opaque", number)

    def holds(self, formula: Condition) -> bool | None:
        """Whether the formula is certainly true or false on the path; None when it may be either."""
        if formula == TRUE:
            return True
        if not self.path:
            return truth(formula, _nothing)
        held = self.path[-1]
        value = truth(formula, held.known.get)
        if value is None and held.rest != TRUE:
            if not self._possible(both(held.rest, formula)):
                return False
            if not self._possible(both(held.rest, negate(formula))):
                return True
        return value

    def feasible(self, formula: Condition) -> bool:
        """Whether the formula can be true on the path."""
        value = self.holds(formula)
        if value is not None:
            return value
        return self._possible(formula)

    def _possible(self, formula: Condition) -> bool:
        """The same for a formula by itself; a long one is work, and counts as such."""
        mentions = sum(1 for _ in atoms(formula))
        self.steps -= max(mentions - _SHORT, 0) * _STEPS_FOR_MENTION
        return possible(formula, self.path[-1].known.get if self.path else _nothing)

    def push(self, step: Step) -> None:
        """Assume the condition from here on.

        Raises:
            TooDeep: too many conditions lie within each other.
        """
        if len(self.path) >= MAX_PATH:
            raise TooDeep(TOO_MANY)
        known = dict(self.path[-1].known) if self.path else {}
        rest = self.path[-1].rest if self.path else TRUE
        for part, value in _literals(step.formula, value=True):
            if part[0] == "opaque":
                known[part] = value
            else:
                rest = both(rest, part if value else negate(part))
        self.path.append(Held(step, known, rest))

    def conditions(self) -> tuple[Note, ...]:
        """What to report as the conditions of something that happens now."""
        return tuple(dict.fromkeys(note for held in self.path for note in held.step.notes))

    def notes_of(self, formula: Condition) -> tuple[Note, ...]:
        """What to report for a formula, less what the path says already."""
        if self.holds(formula) is True:
            return ()
        if formula[0] == "and":
            return tuple(note for part in formula[1:] for note in self.notes_of(part))
        if formula[0] == "not":
            return (Note(self._render(formula[1]), holds=False),)
        return (Note(self._render(formula)),)

    def _render(self, formula: Condition) -> str:
        if formula[0] == "opaque":
            return self._atom_texts[formula[1]]
        if formula[0] == "not":
            return f"not ({self._render(formula[1])})"
        if formula[0] in ("and", "or"):
            parts = (self._render(part) for part in formula[1:])
            return f" {formula[0]} ".join(f"({part})" if " " in part else part for part in parts)
        return "True" if formula == TRUE else "False"


def _nothing(_atom: Condition) -> None:
    return None


def flipped(notes: tuple[Note, ...]) -> tuple[Note, ...]:
    """What to report when not all of *notes* hold."""
    if len(notes) <= 1:
        return tuple(note.flipped() for note in notes)
    return (Note(" and ".join(f"({note})" for note in notes), holds=False),)


def catches(names: frozenset[str], error: str) -> bool | None:
    """Whether handlers for *names* catch the exception; None when it may be.

    An empty name stands for an exception that is not known, in *names* for one of unknown class.
    """
    kind = _EXCEPTIONS.get(error)
    if "BaseException" in names or ("Exception" in names and (kind is None or issubclass(kind, Exception))):
        return True
    if "" in names or not error:
        return None
    for name in names:
        handled = _EXCEPTIONS.get(name)
        if name == error or (kind is not None and handled is not None and issubclass(kind, handled)):
            return True
    return False if kind is not None else None


def is_exception(dotted: str) -> bool:
    """Whether a built-in is an exception class."""
    return dotted.startswith("builtins.") and dotted.endswith(("Error", "Exception", "Warning"))


def _exceptions() -> Iterator[tuple[str, type[BaseException]]]:
    waiting: list[type[BaseException]] = [BaseException]
    while waiting:
        kind = waiting.pop()
        if kind.__module__ == "builtins":
            yield kind.__name__, kind
            waiting.extend(kind.__subclasses__())


_EXCEPTIONS = dict(_exceptions())


def _literals(formula: Condition, *, value: bool) -> Iterator[tuple[Condition, bool]]:
    kind = formula[0]
    if kind == "not":
        yield from _literals(formula[1], value=not value)
    elif (kind == "and" and value) or (kind == "or" and not value):
        for part in formula[1:]:
            yield from _literals(part, value=value)
    elif kind not in ("true", "false"):
        yield formula, value
