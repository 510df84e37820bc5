"""``dataclasses``, ``collections``, ``copy`` and ``types``."""

from __future__ import annotations

from veomni_opslint.evaluate.builtin_functions import BUILTINS
from veomni_opslint.evaluate.cells import UNBOUND, Value
from veomni_opslint.evaluate.containers import DictValue, ListValue
from veomni_opslint.evaluate.core import reason_of
from veomni_opslint.evaluate.limits import NotPlain
from veomni_opslint.evaluate.natives import argument, copied
from veomni_opslint.evaluate.operators import Handler, Operators
from veomni_opslint.evaluate.table_methods import update_table
from veomni_opslint.evaluate.values import Arguments, Class, External, Field, Instance, Partial


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


def first(_run: Operators, arguments: Arguments) -> Value:
    """The first argument."""
    return argument(arguments, 0)


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


OBJECTS: dict[str, Handler] = {
    "dataclasses.field": _field,
    "dataclasses.dataclass": _dataclass,
    "dataclasses.replace": _replace,
    "dataclasses.asdict": _asdict,
    "dataclasses.fields": _fields,
    "copy.replace": _replace,
    "copy.copy": _copy,
    "copy.deepcopy": _deepcopy,
    "collections.defaultdict": _defaultdict,
    "collections.deque": _deque,
    "collections.OrderedDict": BUILTINS["dict"],
    "collections.namedtuple": _namedtuple,
    "typing.NamedTuple": _namedtuple,
    "types.SimpleNamespace": _namespace,
    "types.MappingProxyType": first,
}
