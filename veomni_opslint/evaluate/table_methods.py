"""The methods of dicts and sets. The first argument of each is its receiver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from veomni_opslint.conditions import negate
from veomni_opslint.evaluate.cells import UNBOUND, Value
from veomni_opslint.evaluate.containers import UNORDERED, DictValue, ListValue, SetValue
from veomni_opslint.evaluate.core import known
from veomni_opslint.evaluate.identity import key_of
from veomni_opslint.evaluate.limits import TOO_MANY, NotPlain, Raised
from veomni_opslint.evaluate.natives import argument, changing, clear, copy_of
from veomni_opslint.evaluate.operators import Handler, Operators
from veomni_opslint.evaluate.values import Arguments, Choice, Maybe


def _table(arguments: Arguments) -> DictValue:
    receiver = arguments.positional[0]
    if not isinstance(receiver, DictValue):
        raise Raised("TypeError")
    return receiver


def _get(run: Operators, arguments: Arguments) -> Value:
    table = _table(arguments)
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
    table = _table(arguments)
    keys = SetValue(key if when is None else Maybe(when, key) for when, key, _ in table.elements())
    keys.unordered = table.unordered
    return keys


def _view(select: Callable[[Value, Value], Value]) -> Handler:
    def apply(_run: Operators, arguments: Arguments) -> Value:
        table = _table(arguments)
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
        if not isinstance(receiver, SetValue):
            raise Raised("TypeError")
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


DICT_METHODS: dict[str, Handler] = {
    "get": _get,
    "setdefault": _setdefault,
    "pop": _pop,
    "popitem": _popitem,
    "update": _update,
    "keys": _keys,
    "values": _view(lambda _, value: value),
    "items": _view(lambda key, value: (key, value)),
    "copy": copy_of,
    "clear": clear,
}


SET_METHODS: dict[str, Handler] = {
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
    "copy": copy_of,
    "clear": clear,
}
