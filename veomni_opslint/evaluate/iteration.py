"""The elements of values, and values without choices inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from veomni_opslint.conditions import Condition, both
from veomni_opslint.evaluate.cells import UNBOUND, Value
from veomni_opslint.evaluate.containers import (
    UNORDERED,
    Container,
    DictValue,
    IteratorValue,
    KeyedContainer,
    ListValue,
    SetValue,
    merge_lists,
)
from veomni_opslint.evaluate.core import reason_of
from veomni_opslint.evaluate.limits import MAX_ITEMS, TOO_MANY, NotPlain
from veomni_opslint.evaluate.path import Step
from veomni_opslint.evaluate.settling import Settling
from veomni_opslint.evaluate.values import Choice, Class, EnumMember, Instance, Maybe


class Iteration(Settling):
    """Iterating over values, and turning them into Python's own."""

    def iterate(self, value: Value) -> Iterator[Value]:
        value = self.prune(value)
        if isinstance(value, Choice):
            return self._each_option(value)
        if isinstance(value, tuple | str | bytes):
            return iter(value)
        if isinstance(value, range):
            return self._numbers(value)
        if isinstance(value, ListValue):
            value.check_known()
            return self._live(value)
        if isinstance(value, KeyedContainer):
            value.check_known()
            return (first if when is None else Maybe(when, first) for when, first, _ in value.elements())
        if isinstance(value, IteratorValue):
            value.check_known()
            return self._consume(value)
        if isinstance(value, Class) and value.flavor == "enum":
            return iter(members(value))
        if isinstance(value, EnumMember) and value.plain is not UNBOUND:
            return self.iterate(value.plain)
        if isinstance(value, Instance):
            return self._instance(value)
        raise NotPlain(reason_of(value) or "is not something to iterate over")

    def _each_option(self, choice: Choice) -> Iterator[Value]:
        options = [(when, option) for when, option in choice.options if option is not UNBOUND]
        if all(isinstance(option, tuple | ListValue) for _, option in options):
            yield from merge_lists([(when, list(self.iterate(option))) for when, option in options])
            return
        tables = [(when, option) for when, option in options if isinstance(option, DictValue) and not option.lost]
        if len(tables) == len(options):
            merged = DictValue()
            merged.poke("", merged.merge([(when, table.peek("")) for when, table in tables], self.choose))
            yield from self.iterate(merged)
            return
        for when, option in choice.options:
            for item in self.iterate(option):
                yield Maybe(both(when, item.when), item.value) if isinstance(item, Maybe) else Maybe(when, item)

    def _numbers(self, numbers: range) -> Iterator[Value]:
        for number in numbers:
            self.spend()
            yield number

    def _live(self, values: ListValue) -> Iterator[Value]:
        index = 0
        while index < len(values.items):
            values.check_known()
            yield values.items[index]
            index += 1

    def _consume(self, iterator: IteratorValue) -> Iterator[Value]:
        while True:
            iterator.check_known()
            self.touch(iterator)
            try:
                item = next(iterator.source)
            except StopIteration:
                return
            except ValueError as problem:
                iterator.lose("is an iterator that uses itself")
                raise NotPlain(iterator.lost) from problem
            except NotPlain as problem:
                iterator.lose(problem.reason)
                raise
            iterator.taken += 1
            yield item

    def _instance(self, value: Instance) -> Iterator[Value]:
        if value.cls.flavor == "namedtuple":
            return iter(value.sequence)
        method = value.cls.find("__iter__")
        if method is UNBOUND or value.role == "registry":
            raise NotPlain("is an object whose elements are not known")
        items = self.invoke(self.attribute(value, "__iter__", "__iter__"))
        if isinstance(items, Instance):
            raise NotPlain("is an object whose elements are not known")
        return self.iterate(items)

    def on_item(self, item: Value, use: Callable[[Value], Value]) -> Value:
        """Apply *use* to an element, under its condition if it has one; UNBOUND when it is never there."""
        if not isinstance(item, Maybe):
            return use(item)
        held = self.holds(item.when)
        if held is not None:
            return use(item.value) if held else UNBOUND
        step = Step(item.when, self.notes_of(item.when))
        results = self.fork([(step, lambda: use(item.value))], exhaustive=False)
        return Maybe(item.when, results[0][1]) if results else UNBOUND

    def unordered(self, value: Value) -> bool:
        """Whether the elements come in an order that is known only at run time."""
        if isinstance(value, IteratorValue):
            return value.unordered
        if isinstance(value, Container):
            return value.unordered and len(value) > 1
        return isinstance(value, Choice) and any(self.unordered(option) for _, option in value.options)

    def elements(self, value: Value) -> list[Value]:
        """The elements of a finite iterable; raises NotPlain when not known or too many."""
        found = []
        for item in self.iterate(value):
            found.append(item)
            if len(found) > MAX_ITEMS:
                raise NotPlain("is too large to follow")
        return found

    def ordered(self, value: Value) -> list[Value]:
        """The elements, all certainly there and in a known order."""
        if self.unordered(value):
            raise NotPlain(UNORDERED)
        return self.certain(value)

    def certain(self, value: Value) -> list[Value]:
        """The elements, all certainly there."""
        found = self.elements(value)
        for index, item in enumerate(found):
            if isinstance(item, Maybe):
                if self.holds(item.when) is not True:
                    raise NotPlain(TOO_MANY)
                found[index] = item.value
        return found

    def plain(self, value: Value) -> Any:  # noqa: ANN401
        """The value as Python's own; raises NotPlain when it is not known, has no counterpart or is too large."""
        return self._plain(value, [MAX_ITEMS])

    def _plain(self, value: Value, left: list[int]) -> Any:  # noqa: ANN401
        if value is None or isinstance(value, str | int | float | bytes | complex | range | slice):
            return value
        left[0] -= 1
        if left[0] < 0:
            raise NotPlain("is too large to follow")
        if isinstance(value, tuple):
            return tuple(self._plain(item, left) for item in value)
        if isinstance(value, ListValue):
            return [self._plain(item, left) for item in self.ordered(value)]
        if isinstance(value, SetValue):
            if len(value) > 1:
                raise NotPlain(UNORDERED)
            return {self._plain(item, left) for item in self.certain(value)}
        if isinstance(value, DictValue):
            if self.unordered(value) or value.default_factory is not UNBOUND:
                raise NotPlain(UNORDERED)
            return {
                self._plain(k, left): self._plain(v, left) for when, k, v in value.elements() if self._present(when)
            }
        if isinstance(value, EnumMember) and value.plain is not UNBOUND:
            return self._plain(value.plain, left)
        if isinstance(value, Instance) and value.cls.flavor == "namedtuple":
            return tuple(self._plain(item, left) for item in value.sequence)
        if isinstance(value, Choice | Maybe):
            raise NotPlain(reason_of(value) or TOO_MANY)
        raise NotPlain(reason_of(value) or "is not a plain value")

    def _present(self, when: Condition | None) -> bool:
        if when is not None and self.holds(when) is not True:
            raise NotPlain(TOO_MANY)
        return True


def members(cls: Class) -> list[EnumMember]:
    """The members of an enum, without aliases, in order."""
    return [value for name, value in cls.attrs.items() if isinstance(value, EnumMember) and value.name == name]
