"""What modelled functions and methods share: their arguments, callbacks, and plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from veomni_opslint.evaluate.cells import UNBOUND, Value
from veomni_opslint.evaluate.containers import UNORDERED, Container, DictValue, KeyedContainer, ListValue, SetValue
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.operators import Handler, Operators
from veomni_opslint.evaluate.values import Arguments, Maybe

C = TypeVar("C", bound=Container)


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


def clear(run: Operators, arguments: Arguments) -> Value:
    """``clear`` of a container."""
    values = changing(run, arguments, Container)
    if isinstance(values, ListValue):
        values.items.clear()
    elif isinstance(values, KeyedContainer):
        values.entries.clear()
    values.lost = ""
    return None


def copy_of(_run: Operators, arguments: Arguments) -> Value:
    """``copy`` of a container."""
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


def each(run: Operators, function: Value, arguments: Arguments) -> Callable[..., Value]:
    """A callback as a Python function, called at the place of *arguments*."""

    def call(*values: Value) -> Value:
        return run.call(function, Arguments(values, {}, arguments.node, arguments.frame))

    return call


def steady(run: Operators, value: Value) -> Iterator[Value]:
    """The elements, which are all certainly there and in a known order.

    Raises:
        NotPlain: they are not; for a container before anything is consumed.
    """
    if run.unordered(value):
        raise NotPlain(UNORDERED)
    if isinstance(value, ListValue):
        run.certain(value)
    return _without_maybe(run, run.iterate(value))


def _without_maybe(run: Operators, items: Iterator[Value]) -> Iterator[Value]:
    for item in items:
        if isinstance(item, Maybe):
            if run.holds(item.when) is not True:
                raise NotPlain("depends on too many conditions")
            yield item.value
        else:
            yield item


def on_plain(function: Callable[..., Any]) -> Handler:
    """A function that only needs plain values."""

    def apply(run: Operators, arguments: Arguments) -> Value:
        positional = [run.plain(value) for value in arguments.positional]
        keywords = {name: run.plain(value) for name, value in arguments.keywords.items()}
        try:
            result: Value = function(*positional, **keywords)
        except (TypeError, ValueError, ArithmeticError, LookupError) as problem:
            raise Raised(type(problem).__name__) from problem
        return result

    return apply
