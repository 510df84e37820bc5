"""Functions of the standard library that module-level code uses to build tables and callables."""

from __future__ import annotations

import itertools
import operator
import posixpath
from collections.abc import Callable, Iterator
from typing import Any

from veomni_opslint.evaluate.builtin_functions import BUILTINS, each, steady
from veomni_opslint.evaluate.containers import DictValue, IteratorValue, ListValue
from veomni_opslint.evaluate.core import reason_of
from veomni_opslint.evaluate.limits import MAX_ITEMS, NotPlain, Raised
from veomni_opslint.evaluate.methods import argument, copied, update_table
from veomni_opslint.evaluate.operators import Handler, Operators
from veomni_opslint.evaluate.values import (
    UNBOUND,
    Arguments,
    Class,
    External,
    Field,
    Function,
    Instance,
    Partial,
    Value,
    Wrapped,
    key_of,
)

HARMLESS_DECORATORS = frozenset((
    "functools.total_ordering", "functools.singledispatch", "abc.abstractmethod", "enum.unique", "typing.overload",
    "typing.final", "typing.no_type_check", "typing.runtime_checkable", "typing_extensions.overload",
    "typing_extensions.final", "typing.override", "typing_extensions.override", "warnings.deprecated",
    "typing_extensions.deprecated", "torch.no_grad", "torch.inference_mode", "torch.enable_grad",
    "torch.compiler.disable", "torch._dynamo.disable", "torch.jit.ignore", "torch.jit.unused", "torch.jit.export",
    "torch._disable_dynamo",
))  # fmt: skip


def harmless_decorator(dotted: str, arguments: Arguments) -> Value:
    """The function decorated, or the decorator itself when it is called with settings first."""
    if len(arguments.positional) == 1 and isinstance(arguments.positional[0], Function | Class | Wrapped | Partial):
        return arguments.positional[0]
    return External(dotted)


def _partial(_run: Operators, arguments: Arguments) -> Value:
    if arguments.lost or arguments.lost_keywords:
        raise NotPlain(arguments.lost or arguments.lost_keywords)
    function, *rest = arguments.positional
    positional, keywords = tuple(rest), arguments.keywords
    if isinstance(function, Partial):
        positional = function.positional + positional
        keywords = {**dict(function.keywords), **keywords}
        function = function.function
    return Partial(function, positional, tuple(keywords.items()))


def _reduce(run: Operators, arguments: Arguments) -> Value:
    call = each(run, argument(arguments, 0), arguments)
    items = run.ordered(argument(arguments, 1))
    if len(arguments.positional) > 2:
        items.insert(0, arguments.positional[2])
    if not items:
        raise Raised("TypeError")
    total = items[0]
    for item in items[1:]:
        total = call(total, item)
    return total


def _cached(_run: Operators, arguments: Arguments) -> Value:
    value = arguments.positional[0] if len(arguments.positional) == 1 else UNBOUND
    return Wrapped("cached", value) if isinstance(value, Function | Wrapped) else External("functools.cache")


def _wraps(_run: Operators, arguments: Arguments) -> Value:
    return Partial(External("functools.update_wrapper"), (), (("wrapped", argument(arguments, 0, "wrapped")),))


def _update_wrapper(run: Operators, arguments: Arguments) -> Value:
    wrapper, wrapped = argument(arguments, 0, "wrapper"), argument(arguments, 1, "wrapped")
    if isinstance(wrapper, Function):
        if isinstance(wrapped, Function):
            for name, value in wrapped.attrs.items():
                run.set_attribute(wrapper, name, value)
            run.set_attribute(wrapper, "__name__", run.attribute(wrapped, "__name__", "__name__"))
        run.set_attribute(wrapper, "__wrapped__", wrapped)
    return wrapper


def _stored(arguments: Arguments, name: str) -> Value:
    if arguments.keywords:
        raise NotPlain("is made in a way that is not followed")
    return Partial(External(f"operator.{name}()"), arguments.positional, ())


def _itemgetter(run: Operators, arguments: Arguments) -> Value:
    *keys, value = arguments.positional
    found = tuple(run.subscript(value, key, "an element") for key in keys)
    return found[0] if len(found) == 1 else found


def _attrgetter(run: Operators, arguments: Arguments) -> Value:
    *names, value = arguments.positional
    found = []
    for name in names:
        item = value
        for part in str(run.plain(name)).split("."):
            item = run.attribute(item, part, part)
        found.append(item)
    return found[0] if len(found) == 1 else tuple(found)


def _methodcaller(run: Operators, arguments: Arguments) -> Value:
    name, *rest, value = arguments.positional
    return each(run, run.attribute(value, str(run.plain(name)), "a method"), arguments)(*rest)


def _on_two(function: Callable[[Any, Any], Any]) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        left, right = arguments.positional
        try:
            result: Value = function(run.plain(left), run.plain(right))
        except (TypeError, ArithmeticError) as problem:
            raise Raised(type(problem).__name__) from problem
        return result

    return apply


def _getitem(run: Operators, arguments: Arguments) -> Value:
    return run.subscript(argument(arguments, 0), argument(arguments, 1), "an element")


def _bounded(items: Iterator[tuple[Value, ...]], *, unordered: bool = False) -> Value:
    found: list[Value] = list(itertools.islice(items, MAX_ITEMS + 1))
    if len(found) > MAX_ITEMS:
        raise NotPlain("is too large to follow")
    return IteratorValue(iter(found), unordered=unordered)


def _product(run: Operators, arguments: Arguments) -> Value:
    sources = [run.certain(value) for value in arguments.positional]
    repeat = run.plain(arguments.keywords.get("repeat", 1))
    unordered = any(run.unordered(value) for value in arguments.positional)
    return _bounded(itertools.product(*sources, repeat=min(int(repeat), 64)), unordered=unordered)


def _selections(choose: Callable[..., Iterator[tuple[Value, ...]]]) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        items = run.ordered(argument(arguments, 0))
        sizes = [run.plain(value) for value in (*arguments.positional[1:], *arguments.keywords.values())]
        return _bounded(choose(items, *sizes))

    return apply


def _chain(run: Operators, arguments: Arguments) -> Value:
    unordered = any(run.unordered(value) for value in arguments.positional)
    return IteratorValue(
        (item for source in arguments.positional for item in run.iterate(source)), unordered=unordered
    )


def _chain_from(run: Operators, arguments: Arguments) -> Value:
    sources = run.certain(argument(arguments, 0))
    unordered = run.unordered(arguments.positional[0]) or any(run.unordered(source) for source in sources)
    return IteratorValue((item for source in sources for item in run.iterate(source)), unordered=unordered)


def _on_steady(function: Callable[..., Iterator[Value]]) -> Handler:
    def apply(run: Operators, arguments: Arguments) -> Value:
        source, *rest = arguments.positional
        return IteratorValue(function(steady(run, source), *(run.plain(value) for value in rest)))

    return apply


def _starmap(run: Operators, arguments: Arguments) -> Value:
    call = each(run, argument(arguments, 0), arguments)
    source = argument(arguments, 1)
    items = (run.on_item(item, lambda values: call(*run.ordered(values))) for item in run.iterate(source))
    return IteratorValue((item for item in items if item is not UNBOUND), unordered=run.unordered(source))


def _zip_longest(run: Operators, arguments: Arguments) -> Value:
    sources = [run.ordered(value) for value in arguments.positional]
    return IteratorValue(iter(itertools.zip_longest(*sources, fillvalue=arguments.keywords.get("fillvalue"))))


def _count(run: Operators, arguments: Arguments) -> Value:
    start, step = run.plain(arguments.get(0, "start", 0)), run.plain(arguments.get(1, "step", 1))
    return IteratorValue(_endless(run, itertools.count(start, step)))


def _cycle(run: Operators, arguments: Arguments) -> Value:
    return IteratorValue(_endless(run, itertools.cycle(run.ordered(argument(arguments, 0)))))


def _repeat(run: Operators, arguments: Arguments) -> Value:
    value, times = argument(arguments, 0, "object"), arguments.get(1, "times")
    endless = itertools.repeat(value) if times is UNBOUND else itertools.repeat(value, int(run.plain(times)))
    return IteratorValue(_endless(run, endless))


def _endless(run: Operators, items: Iterator[Value]) -> Iterator[Value]:
    for item in items:
        run.spend()
        yield item


def _groupby(run: Operators, arguments: Arguments) -> Value:
    key = arguments.get(1, "key", None)
    groups: list[tuple[Value, ListValue]] = []
    for item in run.ordered(argument(arguments, 0, "iterable")):
        name = item if key is None else each(run, key, arguments)(item)
        if groups and key_of(groups[-1][0]) == key_of(name):
            groups[-1][1].items.append(item)
        else:
            groups.append((name, ListValue([item])))
    return IteratorValue(iter(groups))


def _field(_run: Operators, arguments: Arguments) -> Value:
    options = arguments.keywords
    return Field(
        "",
        options.get("default", UNBOUND),
        options.get("default_factory", UNBOUND),
        options.get("init", True) is not False,
        options.get("kw_only", False) is True,
    )


def _dataclass(run: Operators, arguments: Arguments) -> Value:
    if arguments.positional and isinstance(arguments.positional[0], Class):
        return run.make_dataclass(arguments.positional[0], arguments.keywords)
    return Partial(External("dataclasses.dataclass"), (), tuple(arguments.keywords.items()))


def _replace(run: Operators, arguments: Arguments) -> Value:
    value = argument(arguments, 0)
    if not isinstance(value, Instance):
        raise NotPlain(reason_of(value) or "is a copy of an object that is not known")
    return run.replaced(value, arguments)


def _asdict(run: Operators, arguments: Arguments) -> Value:
    value = argument(arguments, 0)
    if isinstance(value, Instance):
        return _as_data(run, value)
    raise NotPlain(reason_of(value) or "comes from the attributes of an object")


def _as_data(run: Operators, value: Value) -> Value:
    if isinstance(value, Instance) and value.cls.flavor == "dataclass":
        run.spend()
        return DictValue((item.name, _as_data(run, value.attrs.get(item.name))) for item in value.cls.fields)
    if isinstance(value, ListValue):
        run.spend(len(value))
        return ListValue((_as_data(run, item) for item in value.items), unordered=value.unordered)
    return copied(value)


def _fields(_run: Operators, arguments: Arguments) -> Value:
    value = argument(arguments, 0)
    cls = value.cls if isinstance(value, Instance) else value
    if not isinstance(cls, Class) or cls.flavor != "dataclass":
        raise NotPlain(reason_of(value) or "comes from the fields of an object that is not known")
    found = []
    for item in cls.fields:
        entry = Instance(Class("Field", "Field", None, ()))
        entry.attrs.update(name=item.name, default=item.default)
        found.append(entry)
    return tuple(found)


def _get_args(_run: Operators, arguments: Arguments) -> Value:
    value = argument(arguments, 0)
    if isinstance(value, Partial) and value.function == External("typing.Literal[]"):
        return value.positional
    raise NotPlain(reason_of(value) or "comes from a type")


def _defaultdict(run: Operators, arguments: Arguments) -> Value:
    table = DictValue()
    for source in arguments.positional[1:]:
        update_table(run, table, source)
    table.default_factory = arguments.get(0, "default_factory", None)
    return table


def _deque(run: Operators, arguments: Arguments) -> Value:
    return ListValue(run.elements(arguments.positional[0]) if arguments.positional else ())


def _namespace(_run: Operators, arguments: Arguments) -> Value:
    instance = Instance(Class("SimpleNamespace", "SimpleNamespace", None, ()))
    instance.attrs.update(arguments.keywords)
    return instance


def _namedtuple(run: Operators, arguments: Arguments) -> Value:
    name, names = str(run.plain(argument(arguments, 0, "typename"))), run.plain(argument(arguments, 1, "field_names"))
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    names = [item if isinstance(item, str) else item[0] for item in names]
    defaults = run.ordered(arguments.keywords.get("defaults", ()))
    cls = Class(name, name, arguments.frame.module, ())
    cls.flavor = "namedtuple"
    first = len(names) - len(defaults)
    cls.fields = tuple(
        Field(item, defaults[index - first] if index >= first else UNBOUND) for index, item in enumerate(names)
    )
    return cls


def _first(_run: Operators, arguments: Arguments) -> Value:
    return argument(arguments, 0)


def _second(_run: Operators, arguments: Arguments) -> Value:
    return argument(arguments, 1, "val")


def _copy(run: Operators, arguments: Arguments) -> Value:
    value = argument(arguments, 0)
    return run.replaced(value, arguments.replaced((value,), {})) if isinstance(value, Instance) else copied(value)


def _deepcopy(run: Operators, arguments: Arguments) -> Value:
    return _deep(run, argument(arguments, 0), arguments)


def _deep(run: Operators, value: Value, arguments: Arguments) -> Value:
    run.spend()
    if isinstance(value, tuple):
        return tuple(_deep(run, item, arguments) for item in value)
    result = copied(value)
    if isinstance(result, ListValue):
        result.items[:] = [_deep(run, item, arguments) for item in result.items]
    elif isinstance(result, DictValue):
        result.entries.update((k, (a, _deep(run, b, arguments))) for k, (a, b) in list(result.entries.items()))
    elif isinstance(value, Instance):
        return run.replaced(value, arguments.replaced((value,), {}))
    return result


def _import_module(run: Operators, arguments: Arguments) -> Value:
    name = str(run.plain(argument(arguments, 0, "name")))
    if name.startswith("."):
        package = str(run.plain(arguments.get(1, "package", "")))
        level = len(name) - len(name.lstrip("."))
        parts = package.split(".")
        name = ".".join([*parts[: len(parts) - level + 1], name.lstrip(".")]).rstrip(".")
    return run.import_named(name, arguments.frame.module.text(arguments.node))


def _path(name: str) -> Handler:
    function = getattr(posixpath, name)

    def apply(run: Operators, arguments: Arguments) -> Value:
        try:
            result: Value = function(*(run.plain(value) for value in arguments.positional))
        except TypeError as problem:
            raise Raised("TypeError") from problem
        return result

    return apply


LIBRARY: dict[str, Handler] = {
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "functools.cache": _cached,
    "functools.lru_cache": _cached,
    "functools.wraps": _wraps,
    "functools.update_wrapper": _update_wrapper,
    "functools.cached_property": lambda _run, arguments: Wrapped("property", argument(arguments, 0)),
    "contextlib.contextmanager": lambda _run, arguments: Wrapped("contextmanager", argument(arguments, 0)),
    "operator.itemgetter": lambda _run, arguments: _stored(arguments, "itemgetter"),
    "operator.itemgetter()": _itemgetter,
    "operator.attrgetter": lambda _run, arguments: _stored(arguments, "attrgetter"),
    "operator.attrgetter()": _attrgetter,
    "operator.methodcaller": lambda _run, arguments: _stored(arguments, "methodcaller"),
    "operator.methodcaller()": _methodcaller,
    "operator.add": _on_two(operator.add),
    "operator.mul": _on_two(operator.mul),
    "operator.sub": _on_two(operator.sub),
    "operator.getitem": _getitem,
    "itertools.product": _product,
    "itertools.permutations": _selections(itertools.permutations),
    "itertools.combinations": _selections(itertools.combinations),
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_from,
    "itertools.islice": _on_steady(itertools.islice),
    "itertools.pairwise": _on_steady(itertools.pairwise),
    "itertools.starmap": _starmap,
    "itertools.zip_longest": _zip_longest,
    "itertools.count": _count,
    "itertools.cycle": _cycle,
    "itertools.repeat": _repeat,
    "itertools.groupby": _groupby,
    "dataclasses.field": _field,
    "dataclasses.dataclass": _dataclass,
    "dataclasses.replace": _replace,
    "dataclasses.asdict": _asdict,
    "dataclasses.fields": _fields,
    "typing.get_args": _get_args,
    "copy.replace": _replace,
    "copy.copy": _copy,
    "copy.deepcopy": _deepcopy,
    "collections.defaultdict": _defaultdict,
    "collections.deque": _deque,
    "collections.OrderedDict": BUILTINS["dict"],
    "collections.namedtuple": _namedtuple,
    "typing.NamedTuple": _namedtuple,
    "types.SimpleNamespace": _namespace,
    "types.MappingProxyType": _first,
    "typing.cast": _second,
    "typing.NewType": lambda _run, _arguments: External("typing.NewType()"),
    "typing.NewType()": _first,
    "sys.intern": _first,
    "enum.auto": lambda _run, _arguments: External("enum.auto()"),
    "importlib.import_module": _import_module,
    **{f"os.path.{name}": _path(name) for name in ("join", "basename", "dirname", "splitext", "normpath")},
}

