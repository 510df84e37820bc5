"""Values with choices, taken apart into values without."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, negate
from veomni_opslint.evaluate.cells import UNBOUND, Value
from veomni_opslint.evaluate.containers import Container, DictValue, KeyedContainer, ListValue, SetValue
from veomni_opslint.evaluate.core import Core
from veomni_opslint.evaluate.limits import MAX_OPTIONS, TOO_MANY, NotPlain
from veomni_opslint.evaluate.path import Step
from veomni_opslint.evaluate.values import Choice, Maybe


class Settling(Core):
    """Choices and their combinations."""

    def settled(self, value: Value) -> list[tuple[Condition, Value]]:
        """The values that *value* can be, each without choices inside; containers are copies.

        Raises:
            NotPlain: there are too many of them.
        """
        if not has_choices(value, 3) or (isinstance(value, Container) and value.lost):
            return [(TRUE, value)]
        if isinstance(value, Choice):
            parts = [self._within([(both(when, inner), item) for inner, item in self.settled(option)])
                     for when, option in value.options if option is not UNBOUND]  # fmt: skip
            return self._limited([option for part in parts for option in part])
        if isinstance(value, tuple):
            return [(when, tuple(items)) for when, items in self.combine([self.settled(item) for item in value])]
        if isinstance(value, ListValue):
            return [
                (when, ListValue(_without_gaps(items), unordered=value.unordered))
                for when, items in self.combine([self._element(item) for item in value.items])
            ]
        if isinstance(value, SetValue):
            items = [item for _, item in value.entries.values()]
            return [
                (when, SetValue(_without_gaps(found), frozen=value.frozen))
                for when, found in self.combine([self._element(item) for item in items])
            ]
        if isinstance(value, DictValue):
            keys = [key for key, _ in value.entries.values()]
            return [
                (when, self._table(value, zip(keys, found, strict=True)))
                for when, found in self.combine([self._element(item) for _, item in value.entries.values()])
            ]
        return [(TRUE, value)]

    def _element(self, item: Value) -> list[tuple[Condition, Value]]:
        if isinstance(item, Maybe):
            present = [(both(item.when, when), value) for when, value in self.settled(item.value)]
            return self._within([*present, (negate(item.when), UNBOUND)])
        if isinstance(item, Choice) and any(option is UNBOUND for _, option in item.options):
            return self._within([(when, option) for when, option in item.options])
        return self.settled(item)

    @staticmethod
    def _table(original: DictValue, pairs: Iterable[tuple[Value, Value]]) -> DictValue:
        table = DictValue((key, value) for key, value in pairs if value is not UNBOUND)
        table.unordered, table.default_factory = original.unordered, original.default_factory
        return table

    def combine(self, parts: Iterable[list[tuple[Condition, Value]]]) -> list[tuple[Condition, list[Value]]]:
        """Each combination of one option of each part that is possible on the path."""
        combined: list[tuple[Condition, list[Value]]] = [(TRUE, [])]
        for part in parts:
            if len(part) == 1 and part[0][0] == TRUE:
                for _, items in combined:
                    items.append(part[0][1])
                continue
            combined = [
                (formula, [*items, item])
                for when, items in combined
                for option, item in part
                if self.feasible(formula := both(when, option))
            ]
            if len(combined) > MAX_OPTIONS:
                raise NotPlain(TOO_MANY)
        return combined

    def in_each(self, combinations: list[tuple[Condition, list[Value]]], use: Callable[[list[Value]], Value]) -> Value:
        """Apply *use* to each combination of values under its condition."""
        if len(combinations) == 1:
            return use(combinations[0][1])
        branches = [
            (Step(when, self.notes_of(when)), lambda values=values: use(values)) for when, values in combinations
        ]
        return self.choose([(step.formula, result) for step, result in self.fork(branches, exhaustive=True)])

    def combined(self, values: Iterable[Value], use: Callable[[list[Value]], Value]) -> Value:
        """Apply *use* to the values, once for each combination of the options of choices among them."""
        pruned = [self.prune(value) for value in values]
        if not any(isinstance(value, Choice) for value in pruned):
            return use(pruned)
        return self.in_each(self.combine([_options(value) for value in pruned]), use)

    def _within(self, options: list[tuple[Condition, Value]]) -> list[tuple[Condition, Value]]:
        return [(when, value) for when, value in options if when != FALSE and self.feasible(when)]

    @staticmethod
    def _limited(options: list[tuple[Condition, Value]]) -> list[tuple[Condition, Value]]:
        if len(options) > MAX_OPTIONS:
            raise NotPlain(TOO_MANY)
        return options


def _options(value: Value) -> list[tuple[Condition, Value]]:
    if isinstance(value, Choice):
        return [(when, option) for when, option in value.options if option is not UNBOUND]
    return [(TRUE, value)]


def _without_gaps(items: list[Value]) -> list[Value]:
    return [item for item in items if item is not UNBOUND]


def has_choices(value: Value, depth: int) -> bool:
    """Whether the value is a choice, or contains one within *depth* levels of containers."""
    if isinstance(value, Choice | Maybe):
        return True
    if depth == 0:
        return False
    if isinstance(value, tuple):
        return any(has_choices(item, depth - 1) for item in value)
    if isinstance(value, ListValue):
        return any(has_choices(item, depth - 1) for item in value.items)
    if isinstance(value, KeyedContainer):
        return any(has_choices(item, depth - 1) for _, item in value.entries.values())
    return False
