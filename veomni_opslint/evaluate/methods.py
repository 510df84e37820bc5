"""The methods of lists, dicts, sets, tuples and iterators. The first argument of each is its receiver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from veomni_opslint.conditions import negate
from veomni_opslint.evaluate.containers import (
    UNORDERED,
    Container,
    DictValue,
    IteratorValue,
    KeyedContainer,
    ListValue,
    SetValue,
)
from veomni_opslint.evaluate.core import known, reason_of
from veomni_opslint.evaluate.forks import TOO_MANY
from veomni_opslint.evaluate.limits import MAX_ITEMS, NotPlain, Raised
from veomni_opslint.evaluate.operators import Handler, Operators
from veomni_opslint.evaluate.text_methods import TEXT_METHODS
from veomni_opslint.evaluate.values import UNBOUND, Arguments, Choice, Maybe, Value, key_of, same

C = TypeVar("C", bound=Container)

MUTATORS = frozenset((
    "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "setdefault", "popitem",
    "add", "discard", "difference_update", "intersection_update", "symmetric_difference_update", "appendleft",
    "__setitem__", "__delitem__",
))  # fmt: skip


def changing(run: Operators, arguments: Arguments, kind: type[C]) -> C:
    """The receiver of a method that changes it, with its content noted."""
    receiver = arguments.positional[0]
    if not isinstance(receiver, kind):
        raise Raised("TypeError")
    run.touch(receiver)
    return receiver


def argument(arguments: Arguments, index: int, name: str = "", default: Value = UNBOUND) -> Value:
    """An argument after the receiver; raises Raised where Python raises TypeError."""
    value = arguments.get(index, name, default)
    if value is UNBOUND:
        raise Raised("TypeError")
    return value


def sort_items(run: Operators, items: list[Value], key: Value, *, reverse: bool) -> list[Value]:
    """Sort as ``sorted`` does; elements that may be absent keep their condition."""
    inner = [item.value if isinstance(item, Maybe) else item for item in items]
    keys: list[Any] = [run.plain(item if key is None else run.invoke(key, item)) for item in inner]
    try:
        order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
    except TypeError as problem:
        raise Raised("TypeError") from problem
    return [items[index] for index in order]


def _append(run: Operators, arguments: Arguments) -> Value:
    values = changing(run, arguments, ListValue)
    if len(values.items) >= MAX_ITEMS:
        values.lose("is too large to follow")
    else:
        values.items.append(argument(arguments, 1))
    return None


def _extend(run: Operators, arguments: Arguments) -> Value:
    values = changing(run, arguments, ListValue)
    other = argument(arguments, 1)
    for item in run.elements(other) if other is values else run.iterate(other):
        run.touch(values)
        values.items.append(item)
        if len(values.items) > MAX_ITEMS:
            raise NotPlain("is too large to follow")
    values.unordered = values.unordered or run.unordered(other)
    return None


def _on_list(method: str) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        receiver = arguments.positional[0]
        rest = arguments.positional[1:]
        items = _at_an_end(method, receiver, rest) or run.ordered(receiver)
        if method in {"index", "remove", "count"}:
            matches = _matches(run, items, argument(arguments, 1))
            if method == "count":
                return len(matches)
            if not matches:
                raise Raised("ValueError")
            if method == "index":
                return matches[0]
            rest = (matches[0],)
        values = changing(run, arguments, ListValue)
        try:
            if method == "insert":
                items.insert(_whole(rest[0]), rest[1])
                result: Value = None
            else:
                result = items.pop(*(_whole(place) for place in rest[:1]))
        except IndexError as problem:
            raise Raised("IndexError") from problem
        values.items[:] = items
        return None if method == "remove" else result

    return apply


def _at_an_end(method: str, receiver: Value, rest: tuple[Value, ...]) -> list[Value]:
    """The elements where the method touches only an end of the list at which nothing is uncertain."""
    if not isinstance(receiver, ListValue) or receiver.lost or receiver.unordered or not receiver.items:
        return []
    if method == "insert" and rest[:1] == (0,):
        return list(receiver.items)
    end = rest[0] if rest else -1
    if method != "pop" or not isinstance(end, int) or end not in {0, -1} or isinstance(receiver.items[end], Maybe):
        return []
    return list(receiver.items)


def _whole(value: Value) -> int:
    if not isinstance(value, int):
        raise NotPlain(reason_of(value) or "is looked up by a key that is not known")
    return value


def _matches(run: Operators, items: list[Value], wanted: Value) -> list[int]:
    found = []
    for index, item in enumerate(items):
        outcome = True if same(item, wanted) else run.equal(item, wanted)
        if outcome is None:
            raise NotPlain(reason_of(item) or reason_of(wanted) or TOO_MANY)
        if outcome:
            found.append(index)
    return found


def _sort(run: Operators, arguments: Arguments) -> Value:
    values = changing(run, arguments, ListValue)
    values.check_known()
    reverse = bool(known(arguments.keywords.get("reverse", False)))
    values.items[:] = sort_items(run, values.items, arguments.keywords.get("key"), reverse=reverse)
    values.unordered = False
    return None


def _reverse(run: Operators, arguments: Arguments) -> Value:
    values = changing(run, arguments, ListValue)
    values.items.reverse()
    return None


def _clear(run: Operators, arguments: Arguments) -> Value:
    values = changing(run, arguments, Container)
    if isinstance(values, ListValue):
        values.items.clear()
    elif isinstance(values, KeyedContainer):
        values.entries.clear()
    values.lost = ""
    return None


def _copy(_run: Operators, arguments: Arguments) -> Value:
    return copied(arguments.positional[0])


def copied(value: Value) -> Value:
    """A shallow copy of a container; other values are themselves."""
    if isinstance(value, ListValue):
        result: Container = ListValue(value.items, unordered=value.unordered)
    elif isinstance(value, DictValue):
        result = DictValue()
        result.entries.update(value.entries)
        result.default_factory, result.unordered = value.default_factory, value.unordered
    elif isinstance(value, SetValue):
        result = SetValue(frozen=value.frozen)
        result.entries.update(value.entries)
    else:
        return value
    result.lost = value.lost
    return result


def _get(run: Operators, arguments: Arguments) -> Value:
    table = arguments.positional[0]
    assert isinstance(table, DictValue)  # noqa: S101
    table.check_known()
    entry = table.entries.get(key_of(known(argument(arguments, 1))))
    default = arguments.get(2, "default", None)
    if entry is None:
        return default
    if isinstance(entry[1], Choice):
        options = [(when, default if value is UNBOUND else value) for when, value in entry[1].options]
        return run.choose(options)
    return entry[1]


def _setdefault(run: Operators, arguments: Arguments) -> Value:
    table = changing(run, arguments, DictValue)
    value = _get(run, arguments)
    table.put(argument(arguments, 1), value)
    return value


def _pop(run: Operators, arguments: Arguments) -> Value:
    table = changing(run, arguments, DictValue)
    table.check_known()
    key = key_of(known(argument(arguments, 1)))
    if key not in table.entries:
        if arguments.get(2, "default") is UNBOUND:
            raise Raised("KeyError")
        return arguments.get(2, "default")
    value = _get(run, arguments)
    del table.entries[key]
    return value


def _popitem(run: Operators, arguments: Arguments) -> Value:
    table = changing(run, arguments, DictValue)
    entries = list(table.elements())
    if not entries:
        raise Raised("KeyError")
    if table.unordered or entries[-1][0] is not None:
        raise NotPlain(UNORDERED)
    table.entries.popitem()
    return entries[-1][1:]


def update_table(run: Operators, table: DictValue, source: Value) -> None:
    """Add the entries of a dict or of an iterable of pairs."""
    if isinstance(source, DictValue):
        for when, key, value in source.elements():
            if when is None:
                table.put(key, value)
            else:
                name = key_of(key)
                before = table.entries[name][1] if name in table.entries else UNBOUND
                table.put(key, run.choose([(when, value), (negate(when), before)]))
        table.unordered = table.unordered or source.unordered
        return
    for item in run.iterate(source):
        if isinstance(item, Maybe):
            raise NotPlain(TOO_MANY)
        pair = run.ordered(item)
        if len(pair) != 2:
            raise Raised("ValueError")
        table.put(pair[0], pair[1])
    table.unordered = table.unordered or run.unordered(source)


def _update(run: Operators, arguments: Arguments) -> Value:
    table = changing(run, arguments, DictValue)
    for source in arguments.positional[1:]:
        update_table(run, table, source)
    for name, value in arguments.keywords.items():
        table.put(name, value)
    return None


def _keys(_run: Operators, arguments: Arguments) -> Value:
    table = arguments.positional[0]
    assert isinstance(table, DictValue)  # noqa: S101
    keys = SetValue(key if when is None else Maybe(when, key) for when, key, _ in table.elements())
    keys.unordered = table.unordered
    return keys


def _view(select: Callable[[Value, Value], Value]) -> Handler:
    def apply(_run: Operators, arguments: Arguments) -> Value:
        table = arguments.positional[0]
        assert isinstance(table, DictValue)  # noqa: S101
        items = []
        for when, key, value in table.elements():
            item = select(key, value)
            items.append(item if when is None else Maybe(when, item))
        return ListValue(items, unordered=table.unordered)

    return apply


def _add(run: Operators, arguments: Arguments) -> Value:
    changing(run, arguments, SetValue).add(argument(arguments, 1))
    return None


def _discard(run: Operators, arguments: Arguments) -> Value:
    values = changing(run, arguments, SetValue)
    values.check_known()
    values.entries.pop(key_of(known(argument(arguments, 1))), None)
    return None


def _combine(keep: Callable[[bool, bool], bool], *, in_place: bool = False) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        receiver = arguments.positional[0]
        assert isinstance(receiver, SetValue)  # noqa: S101
        items = run.certain(receiver)
        for other in arguments.positional[1:]:
            added = run.certain(other)
            left, right = {key_of(item) for item in items}, {key_of(item) for item in added}
            items = [item for item in items + added if keep(key_of(item) in left, key_of(item) in right)]
        result = SetValue(items, frozen=receiver.frozen)
        if not in_place:
            return result
        values = changing(run, arguments, SetValue)
        values.entries.clear()
        values.entries.update(result.entries)
        return None

    return apply


def _relation(holds: Callable[[set[Any], set[Any]], bool]) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        left = {key_of(item) for item in run.certain(arguments.positional[0])}
        return holds(left, {key_of(item) for item in run.certain(argument(arguments, 1))})

    return apply


def _next(run: Operators, arguments: Arguments) -> Value:
    for item in run.iterate(arguments.positional[0]):
        if isinstance(item, Maybe):
            raise NotPlain(TOO_MANY)
        return item
    raise Raised("StopIteration")


_LIST: dict[str, Handler] = {
    "append": _append,
    "extend": _extend,
    "insert": _on_list("insert"),
    "pop": _on_list("pop"),
    "remove": _on_list("remove"),
    "index": _on_list("index"),
    "count": _on_list("count"),
    "sort": _sort,
    "reverse": _reverse,
    "clear": _clear,
    "copy": _copy,
}
_DICT: dict[str, Handler] = {
    "get": _get,
    "setdefault": _setdefault,
    "pop": _pop,
    "popitem": _popitem,
    "update": _update,
    "keys": _keys,
    "values": _view(lambda _, value: value),
    "items": _view(lambda key, value: (key, value)),
    "copy": _copy,
    "clear": _clear,
}
_SET: dict[str, Handler] = {
    "add": _add,
    "discard": _discard,
    "remove": _discard,
    "union": _combine(lambda left, right: left or right),
    "intersection": _combine(lambda left, right: left and right),
    "difference": _combine(lambda left, right: left and not right),
    "symmetric_difference": _combine(lambda left, right: left != right),
    "update": _combine(lambda left, right: left or right, in_place=True),
    "difference_update": _combine(lambda left, right: left and not right, in_place=True),
    "intersection_update": _combine(lambda left, right: left and right, in_place=True),
    "issubset": _relation(lambda left, right: left <= right),
    "issuperset": _relation(lambda left, right: left >= right),
    "isdisjoint": _relation(lambda left, right: left.isdisjoint(right)),
    "copy": _copy,
    "clear": _clear,
}
METHODS: dict[type, dict[str, Handler]] = {
    ListValue: _LIST,
    DictValue: _DICT,
    SetValue: _SET,
    IteratorValue: {"__next__": _next},
    tuple: {"index": _on_list("index"), "count": _on_list("count")},
    **TEXT_METHODS,
}
