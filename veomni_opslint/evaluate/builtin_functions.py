"""Python's built-in functions, over values that may be unknown."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.evaluate.containers import UNORDERED, DictValue, IteratorValue, ListValue, SetValue
from veomni_opslint.evaluate.core import known, reason_of
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.methods import METHODS, argument, sort_items, update_table
from veomni_opslint.evaluate.operators import Handler, Operators
from veomni_opslint.evaluate.type_tests import callable_test, class_test, instance_test, type_of
from veomni_opslint.evaluate.values import (
    UNBOUND,
    Arguments,
    Attributes,
    Globals,
    Instance,
    Maybe,
    ModuleRef,
    Opaque,
    Value,
    Wrapped,
    unknown,
)


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


def _len(run: Operators, arguments: Arguments) -> Value:
    value = argument(arguments, 0)
    if isinstance(value, Instance) and value.cls.flavor != "namedtuple":
        return run.invoke(run.attribute(value, "__len__", "len"))
    if isinstance(value, IteratorValue):
        raise Raised("TypeError")
    return len(run.certain(value))


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
        return IteratorValue(
            (item for item in mapped if item is not UNBOUND), unordered=run.unordered(sources[0])
        )
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


def _on_plain(function: Callable[..., Any]) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        positional = [run.plain(value) for value in arguments.positional]
        keywords = {name: run.plain(value) for name, value in arguments.keywords.items()}
        try:
            result: Value = function(*positional, **keywords)
        except (TypeError, ValueError, ArithmeticError, LookupError) as problem:
            raise Raised(type(problem).__name__) from problem
        return result

    return apply


def _text(conversion: str) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        return run.formatted(argument(arguments, 0, default=""), conversion, "")

    return apply


def _format(run: Operators, arguments: Arguments) -> Value:
    return run.formatted(argument(arguments, 0), "", str(run.plain(arguments.get(1, "", ""))))


def _bool(run: Operators, arguments: Arguments) -> Value:
    value = arguments.positional[0] if arguments.positional else False
    return run.boolean(run.truth_of(value, arguments.frame.module.text(arguments.node)))


def _hasattr(run: Operators, arguments: Arguments) -> Value:
    value, name = argument(arguments, 0), str(run.plain(argument(arguments, 1)))
    try:
        found = run.attribute(value, name, name)
    except Raised:
        return False
    if reason_of(value) or isinstance(found, Opaque):
        return run.boolean(run.atom(("hasattr", found.key if isinstance(found, Opaque) else found, name),
                                    arguments.frame.module.text(arguments.node)))  # fmt: skip
    return True


def _getattr(run: Operators, arguments: Arguments) -> Value:
    value, name = argument(arguments, 0), str(run.plain(argument(arguments, 1)))
    default = arguments.get(2, "")
    try:
        found = run.attribute(value, name, arguments.frame.module.text(arguments.node))
    except Raised:
        if default is UNBOUND:
            raise
        return default
    if default is not UNBOUND and reason_of(value):
        return unknown(reason_of(value))
    return found


def _setattr(run: Operators, arguments: Arguments) -> Value:
    run.set_attribute(argument(arguments, 0), str(run.plain(argument(arguments, 1))), argument(arguments, 2))
    return None


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


def _vars(_run: Operators, arguments: Arguments) -> Value:
    value = arguments.positional[0] if arguments.positional else ModuleRef(arguments.frame.module.name)
    if isinstance(value, ModuleRef):
        return Globals(value.name)
    if isinstance(value, Attributes) and not (isinstance(value, Instance) and value.role):
        return DictValue(value.attrs.items())
    raise NotPlain(reason_of(value) or "comes from the attributes of an object")


def _maketrans(run: Operators, arguments: Arguments) -> Value:
    table = str.maketrans(*(run.plain(value) for value in arguments.positional))
    return DictValue((code, text if text is None else chr(text) if isinstance(text, int) else text)
                     for code, text in table.items())  # fmt: skip


def _wrapped(kind: Any) -> Handler:  # noqa: ANN401
    return lambda _run, arguments: Wrapped(kind, argument(arguments, 0))


def _print(_run: Operators, _arguments: Arguments) -> Value:
    return None


def _object(_run: Operators, arguments: Arguments) -> Value:
    return unknown("is a bare object") if arguments.positional else object()


BUILTINS: dict[str, Handler] = {
    "len": _len,
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
    "range": _on_plain(range),
    "slice": _on_plain(slice),
    "int": _on_plain(int),
    "float": _on_plain(float),
    "abs": _on_plain(abs),
    "divmod": _on_plain(divmod),
    "round": _on_plain(round),
    "chr": _on_plain(chr),
    "ord": _on_plain(ord),
    "hex": _on_plain(hex),
    "bin": _on_plain(bin),
    "oct": _on_plain(oct),
    "str": _text("s"),
    "str.maketrans": _maketrans,
    "repr": _text("r"),
    "ascii": _text("a"),
    "format": _format,
    "bool": _bool,
    "isinstance": instance_test,
    "issubclass": class_test,
    "callable": callable_test,
    "type": type_of,
    "hasattr": _hasattr,
    "getattr": _getattr,
    "setattr": _setattr,
    "iter": _iter,
    "next": _next,
    "vars": _vars,
    "globals": lambda _run, arguments: Globals(arguments.frame.module.name),
    "print": _print,
    "object": _object,
    "staticmethod": _wrapped("staticmethod"),
    "classmethod": _wrapped("classmethod"),
    "property": _wrapped("property"),
}


def builtin_handler(dotted: str) -> Handler | None:
    """The handler of a built-in function, or of a method taken from a built-in type (``str.upper``)."""
    name = dotted.removeprefix("builtins.")
    handler = BUILTINS.get(name)
    if handler is None and "." in name:
        owner, _, method = name.partition(".")
        kind = {"str": str, "list": ListValue, "dict": DictValue, "set": SetValue, "tuple": tuple}.get(owner)
        return METHODS[kind].get(method) if kind is not None else None
    return handler
