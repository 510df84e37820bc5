"""The methods of lists. The first argument of each is its receiver."""

from __future__ import annotations

from typing import Any

from veomni_opslint.evaluate.cells import Value
from veomni_opslint.evaluate.containers import ListValue
from veomni_opslint.evaluate.core import known, reason_of
from veomni_opslint.evaluate.identity import same
from veomni_opslint.evaluate.limits import MAX_ITEMS, TOO_MANY, NotPlain, Raised
from veomni_opslint.evaluate.natives import argument, changing, clear, copy_of
from veomni_opslint.evaluate.operators import Handler, Operators
from veomni_opslint.evaluate.values import Arguments, Maybe


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


def on_list(method: str) -> Handler:
    """A method of lists that needs to know all elements; some of them are methods of tuples too."""

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


LIST_METHODS: dict[str, Handler] = {
    "append": _append,
    "extend": _extend,
    "insert": on_list("insert"),
    "pop": on_list("pop"),
    "remove": on_list("remove"),
    "index": on_list("index"),
    "count": on_list("count"),
    "sort": _sort,
    "reverse": _reverse,
    "clear": clear,
    "copy": copy_of,
}
