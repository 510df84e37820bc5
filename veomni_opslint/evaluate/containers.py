# ruff: noqa: ARG002 - a container has a single part, and no use for the key of it.
"""Lists, dicts, sets and iterators, whose contents can be snapshot, restored and merged."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from veomni_opslint.conditions import Condition, both
from veomni_opslint.evaluate.cells import UNBOUND, Cell, Join, Value
from veomni_opslint.evaluate.identity import key_of, same
from veomni_opslint.evaluate.limits import MAX_ITEMS, NotPlain
from veomni_opslint.evaluate.values import Choice, Maybe

UNORDERED = "depends on the order of a set"


@dataclass(frozen=True, slots=True)
class Content:
    """What a container holds: its elements, whether their order is known, and why they are not known, if so."""

    items: tuple[tuple[Hashable, Value, Value], ...]
    unordered: bool
    lost: str


class Container(Cell):
    """What lists, dicts and sets share. ``lost`` says why the contents are not known; empty when they are."""

    __slots__ = ("lost", "unordered")

    def __init__(self) -> None:
        super().__init__()
        self.unordered = False
        self.lost = ""

    def lose(self, reason: str) -> None:
        """Forget the contents."""
        self.lost = self.lost or reason

    def check_known(self) -> None:
        """Raise NotPlain when the contents are not known."""
        if self.lost:
            raise NotPlain(self.lost)

    def poison(self, key: str, reason: str) -> None:
        self.lose(reason)

    def __len__(self) -> int:
        raise NotImplementedError


class ListValue(Container):
    """A list. Elements may be ``Maybe``."""

    __slots__ = ("items",)

    def __init__(self, items: Iterable[Value] = (), *, unordered: bool = False) -> None:
        super().__init__()
        self.items: list[Value] = list(items)
        self.unordered = unordered

    def __len__(self) -> int:
        return len(self.items)

    def peek(self, key: str) -> object:
        return Content(tuple((None, None, item) for item in self.items), self.unordered, self.lost)

    def poke(self, key: str, content: object) -> None:
        if isinstance(content, Content):
            self.items[:] = [item for _, _, item in content.items]
            self.unordered, self.lost = content.unordered, content.lost

    def merge(self, options: list[tuple[Condition, object]], join: Join) -> object:
        contents = [(when, content) for when, content in options if isinstance(content, Content)]
        lists = [(when, [item for _, _, item in content.items]) for when, content in contents]
        merged = merge_lists(lists)
        unordered = any(content.unordered for _, content in contents)
        lost = next((content.lost for _, content in contents if content.lost), "")
        return Content(tuple((None, None, item) for item in merged), unordered, lost)


class KeyedContainer(Container):
    """Entries by key: of a dict, or of a set (whose values are its keys)."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[Hashable, tuple[Value, Value]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def peek(self, key: str) -> object:
        items = tuple((name, first, second) for name, (first, second) in self.entries.items())
        return Content(items, self.unordered, self.lost)

    def poke(self, key: str, content: object) -> None:
        if isinstance(content, Content):
            self.entries.clear()
            self.entries.update((name, (first, second)) for name, first, second in content.items)
            self.unordered, self.lost = content.unordered, content.lost

    def merge(self, options: list[tuple[Condition, object]], join: Join) -> object:
        contents = [(when, content) for when, content in options if isinstance(content, Content)]
        tables = [(when, {name: (k, v) for name, k, v in content.items}) for when, content in contents]
        names = _merged_order([list(table) for _, table in tables])
        items: list[tuple[Hashable, Value, Value]] = []
        for name in names:
            first = next(table[name][0] for _, table in tables if name in table)
            values = [(when, table[name][1] if name in table else UNBOUND) for when, table in tables]
            items.append((name, first, join(list(values))))
        unordered = any(content.unordered for _, content in contents) or not _orders_agree(
            names, [list(table) for _, table in tables]
        )
        lost = next((content.lost for _, content in contents if content.lost), "")
        return Content(tuple(items), unordered, lost)

    def elements(self) -> Iterator[tuple[Condition | None, Value, Value]]:
        """Each entry with the condition under which it is there, None for always; raises NotPlain when lost."""
        self.check_known()
        for first, second in list(self.entries.values()):
            if isinstance(second, Choice) and any(value is UNBOUND for _, value in second.options):
                for when, value in second.options:
                    if value is not UNBOUND:
                        yield when, first, value
            else:
                yield None, first, second


class DictValue(KeyedContainer):
    """A dict; ``default_factory`` is that of a defaultdict."""

    __slots__ = ("default_factory",)

    def __init__(self, pairs: Iterable[tuple[Value, Value]] = ()) -> None:
        super().__init__()
        self.default_factory: Value = UNBOUND
        for key, value in pairs:
            self.put(key, value)

    def put(self, key: Value, value: Value) -> None:
        """Set one entry; a key that is not known loses the contents."""
        try:
            name = key_of(key)
        except NotPlain as problem:
            self.lose(problem.reason)
            return
        self.entries[name] = (self.entries[name][0] if name in self.entries else key, value)
        if len(self.entries) > MAX_ITEMS:
            self.lose("is too large to follow")


class SetValue(KeyedContainer):
    """A set or frozenset, in order of insertion, which is not its order at run time."""

    __slots__ = ("frozen",)

    def __init__(self, items: Iterable[Value] = (), *, frozen: bool = False) -> None:
        super().__init__()
        self.frozen = frozen
        self.unordered = True
        for item in items:
            self.add(item)

    def add(self, item: Value) -> None:
        """Add one element; one that is not known loses the contents."""
        inner = item.value if isinstance(item, Maybe) else item
        try:
            name = key_of(inner)
        except NotPlain as problem:
            self.lose(problem.reason)
            return
        if isinstance(item, Maybe):
            if name in self.entries:
                if isinstance(self.entries[name][1], Choice):
                    self.lose("depends on too many conditions")
                return
            absent: Condition = ("not", item.when)
            self.entries[name] = (inner, Choice(((item.when, inner), (absent, UNBOUND))))
            return
        self.entries[name] = (inner, inner)


class IteratorValue(Container):
    """An iterator: consumed once, element by element."""

    __slots__ = ("source", "taken")

    def __init__(self, source: Iterator[Value], *, unordered: bool = False) -> None:
        super().__init__()
        self.source = source
        self.taken = 0
        self.unordered = unordered

    def __len__(self) -> int:
        raise NotPlain("is an iterator")

    def peek(self, key: str) -> object:
        return (self.taken, self.lost)

    def poke(self, key: str, content: object) -> None:
        if content != (self.taken, self.lost):
            self.lose("is an iterator that only one branch of a condition advances")

    def merge(self, options: list[tuple[Condition, object]], join: Join) -> object:
        return (-1, "")


def merge_lists(lists: list[tuple[Condition, list[Value]]]) -> list[Value]:
    """The elements of all lists: common ones at both ends once, the others under the condition of their list."""
    shortest = min(len(items) for _, items in lists)
    head = 0
    first = lists[0][1]
    while head < shortest and all(same(items[head], first[head]) for _, items in lists):
        head += 1
    tail = 0
    while tail < shortest - head and all(same(items[-1 - tail], first[-1 - tail]) for _, items in lists):
        tail += 1
    middle: list[Value] = []
    for when, items in lists:
        middle.extend(_under(when, item) for item in items[head : len(items) - tail])
    return [*first[:head], *middle, *(first[len(first) - tail :] if tail else [])]


def _under(when: Condition, item: Value) -> Maybe:
    if isinstance(item, Maybe):
        return Maybe(both(when, item.when), item.value)
    return Maybe(when, item)


def _merged_order(orders: list[list[Hashable]]) -> list[Hashable]:
    """All names, each after those that it follows in the order that it comes from."""
    merged: list[Hashable] = max(orders, key=len)[:]
    for order in orders:
        known = set(merged)
        for index, name in enumerate(order):
            if name not in known:
                merged.insert(merged.index(order[index - 1]) + 1 if index else 0, name)
                known.add(name)
    return merged


def _orders_agree(names: list[Hashable], orders: list[list[Hashable]]) -> bool:
    rank = {name: index for index, name in enumerate(names)}
    return all(all(rank[a] < rank[b] for a, b in pairwise(order)) for order in orders)
