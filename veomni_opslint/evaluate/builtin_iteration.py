"""Built-in functions about iterables: making, combining, ordering and reducing them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.evaluate.cells import UNBOUND, Value
from veomni_opslint.evaluate.containers import UNORDERED, DictValue, IteratorValue, ListValue, SetValue
from veomni_opslint.evaluate.core import known, reason_of
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.list_methods import sort_items
from veomni_opslint.evaluate.natives import argument, each, steady
from veomni_opslint.evaluate.operators import Handler, Operators
from veomni_opslint.evaluate.table_methods import update_table
from veomni_opslint.evaluate.values import Arguments, Maybe


def _list(run: Operators, arguments: Arguments) -> Value:
    if not arguments.positional:
        return ListValue()
    value = arguments.positional[0]
    return ListValue(run.elements(value), unordered=run.unordered(value))


def _tuple(run: Operators, arguments: Arguments) -> Value:
    return tuple(run.ordered(arguments.positional[0])) if arguments.positional else ()


def _set(*, frozen: bool) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        return SetValue(run.elements(arguments.positional[0]) if arguments.positional else (), frozen=frozen)

    return apply


def _dict(run: Operators, arguments: Arguments) -> Value:
    table = DictValue()
    for source in arguments.positional:
        update_table(run, table, source)
    for name, value in arguments.keywords.items():
        table.put(name, value)
    return table


def _fromkeys(run: Operators, arguments: Arguments) -> Value:
    keys = run.certain(argument(arguments, 0))
    table = DictValue((key, arguments.get(1, "value", None)) for key in keys)
    table.unordered = run.unordered(arguments.positional[0])
    return table


def _enumerate(run: Operators, arguments: Arguments) -> Value:
    start = run.plain(arguments.get(1, "start", 0))
    return IteratorValue((start + index, item) for index, item in enumerate(steady(run, argument(arguments, 0))))


def _zip(run: Operators, arguments: Arguments) -> Value:
    sources = [steady(run, value) for value in arguments.positional]
    return IteratorValue(iter(zip(*sources, strict=False)))


def _map(run: Operators, arguments: Arguments) -> Value:
    function, *sources = arguments.positional
    call = each(run, function, arguments)
    if len(sources) == 1:
        items = run.iterate(sources[0])
        mapped = (run.on_item(item, call) for item in items)
        return IteratorValue((item for item in mapped if item is not UNBOUND), unordered=run.unordered(sources[0]))
    steadies = [steady(run, value) for value in sources]
    return IteratorValue(call(*values) for values in zip(*steadies, strict=False))


def _filter(run: Operators, arguments: Arguments) -> Value:
    function, source = argument(arguments, 0), argument(arguments, 1)
    call = each(run, function, arguments) if function is not None else _same
    return IteratorValue(_passing(run, call, run.iterate(source)), unordered=run.unordered(source))


def _same(value: Value) -> Value:
    return value


def _passing(run: Operators, test: Callable[[Value], Value], items: Iterator[Value]) -> Iterator[Value]:
    for item in items:
        inner, when = (item.value, item.when) if isinstance(item, Maybe) else (item, TRUE)
        passes = run.truth_of(test(inner), "the test of filter()")
        if passes == TRUE:
            yield item
        elif passes != FALSE:
            yield Maybe(both(when, passes), inner)


def _sorted(run: Operators, arguments: Arguments) -> Value:
    source = argument(arguments, 0)
    items = run.elements(source)
    key = arguments.keywords.get("key")
    if key is not None and run.unordered(source):
        raise NotPlain(UNORDERED)
    reverse = run.truth_of(known(arguments.keywords.get("reverse", False)), "reverse") == TRUE
    return ListValue(sort_items(run, items, key, reverse=reverse))


def _reversed(run: Operators, arguments: Arguments) -> Value:
    source = argument(arguments, 0)
    if isinstance(source, DictValue):
        source = ListValue(run.elements(source), unordered=source.unordered)
    return IteratorValue(iter(run.elements(source)[::-1]), unordered=run.unordered(source))


def _extreme(choose: Callable[..., Any]) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        values = arguments.positional
        items = run.certain(values[0]) if len(values) == 1 else list(values)
        if not items:
            if "default" in arguments.keywords:
                return arguments.keywords["default"]
            raise Raised("ValueError")
        key = arguments.keywords.get("key")
        if key is not None and len(values) == 1 and run.unordered(values[0]):
            raise NotPlain(UNORDERED)
        keys = [run.plain(item if key is None else run.invoke(key, item)) for item in items]
        try:
            index: int = choose(range(len(items)), key=keys.__getitem__)
        except TypeError as problem:
            raise Raised("TypeError") from problem
        return items[index]

    return apply


def _sum(run: Operators, arguments: Arguments) -> Value:
    total = arguments.get(1, "start", 0)
    items = run.ordered(argument(arguments, 0))
    for item in items:
        run.spend()
        total = run.binary(ast.Add(), total, item)
    return total


def _any_all(*, every: bool) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        formula: Condition = TRUE if every else FALSE
        for item in run.iterate(argument(arguments, 0)):
            inner, when = (item.value, item.when) if isinstance(item, Maybe) else (item, TRUE)
            truth = run.truth_of(inner, "an element")
            formula = both(formula, either(negate(when), truth)) if every else either(formula, both(when, truth))
            if formula == (FALSE if every else TRUE):
                break
        return run.boolean(formula)

    return apply


def _iter(run: Operators, arguments: Arguments) -> Value:
    value = argument(arguments, 0)
    if isinstance(value, IteratorValue):
        return value
    return IteratorValue(run.iterate(value), unordered=run.unordered(value))


def _next(run: Operators, arguments: Arguments) -> Value:
    source, options, left = argument(arguments, 0), [], TRUE
    if not isinstance(source, IteratorValue):
        raise NotPlain(reason_of(source) or "is the next element of something that is not known")
    if run.unordered(source):
        raise NotPlain(UNORDERED)
    for item in run.iterate(source):
        if not isinstance(item, Maybe):
            options.append((left, item))
            break
        options.append((both(left, item.when), item.value))
        left = both(left, negate(item.when))
    else:
        default = arguments.get(1, "")
        if default is UNBOUND and not options:
            raise Raised("StopIteration")
        options.append((left, default))
    if len(options) > 1:
        source.lose("is advanced as far as conditions say")
    return run.choose(options)


ITERATION: dict[str, Handler] = {
    "list": _list,
    "tuple": _tuple,
    "set": _set(frozen=False),
    "frozenset": _set(frozen=True),
    "dict": _dict,
    "dict.fromkeys": _fromkeys,
    "enumerate": _enumerate,
    "zip": _zip,
    "map": _map,
    "filter": _filter,
    "sorted": _sorted,
    "reversed": _reversed,
    "min": _extreme(min),
    "max": _extreme(max),
    "sum": _sum,
    "any": _any_all(every=False),
    "all": _any_all(every=True),
    "iter": _iter,
    "next": _next,
}
