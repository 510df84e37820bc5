"""Running code under unknown conditions: the path, the undoing of a branch, and the merging of what branches did.

The branches of an unknown condition run one after the other from the same state. Each change is logged, undone when
the branch ends, and all changes are then merged: what differs becomes a ``Choice``, or ``Maybe`` elements.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.evaluate.cells import UNBOUND, Cell, Opaque, Value, unknown
from veomni_opslint.evaluate.identity import same
from veomni_opslint.evaluate.limits import MAX_OPTIONS, TOO_MANY, Raised
from veomni_opslint.evaluate.path import Exit, Note, Path, Step, catches, flipped
from veomni_opslint.evaluate.values import Choice

T = TypeVar("T")
_ABANDONED = "changes in code that cannot be followed"


class _Level:
    """The changes since a branch began: for each part of a cell its content before."""

    __slots__ = ("log", "start")

    def __init__(self) -> None:
        self.start = Cell.mark()
        self.log: dict[tuple[int, str], tuple[Cell, str, object]] = {}


class Forks(Path):
    """The path of conditions under which code runs, and the changes to undo."""

    def __init__(self) -> None:
        super().__init__()
        self.levels: list[_Level] = []
        self.pending: list[Exit] = []
        self.base = 0
        self.conditional_load = False
        self.catching: list[frozenset[str]] = []

    def touch(self, cell: Cell, key: str = "") -> None:
        """Note the content of a part of *cell* before it changes."""
        if self.conditional_load:
            self.note_foreign(cell, key)
        if self.levels:
            level = self.levels[-1]
            slot = (id(cell), key)
            if cell.serial <= level.start and slot not in level.log:
                level.log[slot] = (cell, key, cell.peek(key))

    def note_foreign(self, cell: Cell, key: str) -> None:
        """Note a change by a module that is only imported under a condition."""
        raise NotImplementedError

    def open_level(self) -> None:
        """Begin to log changes."""
        self.levels.append(_Level())

    def undo_level(self) -> list[tuple[Cell, str, object]]:
        """Undo the changes since the level began and return the parts changed, with their content at the end."""
        changes = []
        for cell, key, before in self.levels.pop().log.values():
            changes.append((cell, key, cell.peek(key)))
            cell.poke(key, before)
        return changes

    def keep_level(self) -> None:
        """End the level and keep its changes."""
        log = self.levels.pop().log
        if self.levels:
            outer = self.levels[-1]
            for slot, entry in log.items():
                if entry[0].serial <= outer.start:
                    outer.log.setdefault(slot, entry)

    def abandon(self, changes: Iterable[tuple[Cell, str, object]], reason: str = _ABANDONED) -> None:
        """Take the parts that were changed as unknown: the code that changed them was not followed to its end."""
        for cell, key, _ in list(changes):
            self.touch(cell, key)
            cell.poison(key, reason)

    def merge(self, branches: Sequence[tuple[Condition, list[tuple[Cell, str, object]]]], *, exhaustive: bool) -> None:
        """Apply the undone changes of branches, each under its condition.

        Unless *exhaustive*, nothing changes where none of the conditions holds.
        """
        slots: dict[tuple[int, str], tuple[Cell, str]] = {}
        tables: list[tuple[Condition, dict[tuple[int, str], object]]] = []
        for formula, changes in branches:
            tables.append((formula, {(id(cell), key): content for cell, key, content in changes}))
            for cell, key, _ in changes:
                slots.setdefault((id(cell), key), (cell, key))
        for slot, (cell, key) in slots.items():
            original = cell.peek(key)
            options = [(formula, table.get(slot, original)) for formula, table in tables]
            if not exhaustive:
                otherwise = TRUE
                for formula, _ in tables:
                    otherwise = both(otherwise, negate(formula))
                options.append((otherwise, original))
            content = options[0][1] if len(options) == 1 else cell.merge(options, self.choose)
            self.touch(cell, key)
            cell.poke(key, content)

    def fork(self, branches: Sequence[tuple[Step, Callable[[], T]]], *, exhaustive: bool) -> list[tuple[Step, T]]:
        """Run each branch that is possible from the present state, then merge what they did.

        A branch that raises has no result; what raised it is pending. Raises Raised when all of them raise.
        """
        live = [(step, run) for step, run in branches if self.feasible(step.formula)]
        if len(live) == 1 and self.holds(live[0][0].formula) is True:
            return [(Step(TRUE, ()), live[0][1]())]
        results: list[tuple[Step, T]] = []
        changed: list[tuple[Condition, list[tuple[Cell, str, object]]]] = []
        before, errors = len(self.pending), 0
        for step, run in live:
            depth, followed = len(self.path), False
            self.push(step)
            self.open_level()
            try:
                results.append((step, run()))
                followed = True
            except Raised as error:
                errors += 1
                last, followed = error, True
                self._leave_pending(TRUE, (), error.error)
            finally:
                del self.path[depth:]
                changed.append((step.formula, self.undo_level()))
                if not followed:
                    self.abandon([change for _, changes in changed for change in changes])
        self.merge(changed, exhaustive=exhaustive)
        if errors and errors == len(live) and exhaustive:
            del self.pending[before:]
            raise last
        for exit_ in self.pending[before:]:
            self.push(Step(negate(exit_.when), flipped(exit_.notes) if self.catching else ()))
        return results

    def may_raise(self, error: str, text: str, key: Hashable = None) -> None:
        """Go on under the condition that no exception is raised here, if a handler would catch one."""
        if not any(catches(names, error) is not False for names in self.catching):
            return
        atom = self.atom(("succeeds", key if key is not None else object()), text)
        if self.holds(atom) is True:
            return
        if self.holds(atom) is False:
            raise Raised(error)
        self._leave_pending(negate(atom), (Note(text, holds=False),), error)
        self.push(Step(atom, (Note(text),)))

    def leave(self, exits: list[Exit]) -> None:
        """Note that a called function raises under some conditions, and go on without them."""
        for exit_ in exits:
            if self.catching:
                self._leave_pending(exit_.when, exit_.notes, exit_.value)
                self.push(Step(negate(exit_.when), flipped(exit_.notes)))

    def _leave_pending(self, when: Condition, notes: tuple[Note, ...], error: Value) -> None:
        steps = [held.step for held in self.path[self.base :]]
        full = TRUE
        for step in steps:
            full = both(full, step.formula)
        prefix = tuple(note for step in steps for note in step.notes)
        self.pending.append(Exit("raise", both(full, when), prefix + notes, error))

    def prune(self, value: Value) -> Value:
        """Drop the options of a choice that cannot be on the path, and those without a value."""
        if not isinstance(value, Choice):
            return value
        left = [(when, option) for when, option in value.options if option is not UNBOUND and self.feasible(when)]
        if len(left) == 1:
            return left[0][1]
        if not left:
            return unknown("has no value here")
        return value if len(left) == len(value.options) else Choice(tuple(left))

    def choose(self, options: Sequence[tuple[Condition, Value]]) -> Value:
        """The value that is each option under its condition."""
        merged: list[tuple[Condition, Value]] = []
        for when, value in _flattened(options):
            if when == FALSE or not self.feasible(when):
                continue
            for index, (other, kept) in enumerate(merged):
                if same(kept, value):
                    merged[index] = (either(other, when), kept)
                    break
            else:
                merged.append((when, value))
        if len(merged) == 1:
            return merged[0][1]
        if not merged:
            return unknown("has no value here")
        if len(merged) > MAX_OPTIONS:
            return unknown(TOO_MANY)
        if all(isinstance(value, Opaque) for _, value in merged):
            return merged[0][1]
        return Choice(tuple(merged))

    def spread(self, value: Value, use: Callable[[Value], Value]) -> Value:
        """Apply *use* to a value, or to each option of a choice under its condition."""
        return self.each_option(self.prune(value), use)

    def each_option(self, value: Value, use: Callable[[Value], Value]) -> Value:
        """Apply *use* to a value, or to each option of a choice, absent ones included, under its condition."""
        if not isinstance(value, Choice):
            return use(value)
        branches = [
            (Step(when, self.notes_of(when)), lambda option=option: use(option)) for when, option in value.options
        ]
        return self.choose([(step.formula, result) for step, result in self.fork(branches, exhaustive=True)])


def _flattened(options: Sequence[tuple[Condition, Value]]) -> Iterator[tuple[Condition, Value]]:
    for when, value in options:
        if isinstance(value, Choice):
            for inner, option in value.options:
                yield both(when, inner), option
        else:
            yield when, value
