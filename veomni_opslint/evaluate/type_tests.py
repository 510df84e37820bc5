"""``isinstance``, ``issubclass``, ``callable`` and ``type``."""

from __future__ import annotations

from veomni_opslint.evaluate.cells import UNBOUND, Opaque, Value
from veomni_opslint.evaluate.containers import DictValue, IteratorValue, ListValue, SetValue
from veomni_opslint.evaluate.core import reason_of
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.operators import Operators, atom_key
from veomni_opslint.evaluate.values import (
    Arguments,
    Class,
    EnumMember,
    External,
    Function,
    Instance,
    Method,
    Native,
    Partial,
)

_NAMES: dict[type, tuple[str, ...]] = {
    bool: ("bool", "int"),
    str: ("str",),
    int: ("int",),
    float: ("float",),
    bytes: ("bytes",),
    complex: ("complex",),
    tuple: ("tuple",),
    range: ("range",),
    ListValue: ("list",),
    DictValue: ("dict",),
    Class: ("type",),
}
_ABSTRACT = {
    "Callable": (Function, Class, Method, Native, Partial),
    "Mapping": (DictValue,),
    "Iterable": (str, tuple, ListValue, DictValue, SetValue, IteratorValue, range),
    "Sequence": (str, tuple, ListValue, range),
    "Iterator": (IteratorValue,),
    "Set": (SetValue,),
}


def instance_test(run: Operators, arguments: Arguments) -> Value:
    """``isinstance``."""
    value, kinds = arguments.get(0, ""), arguments.get(1, "")
    if kinds is UNBOUND:
        raise Raised("TypeError")
    return _decided(run, arguments, [_instance_of(value, kind) for kind in _each_kind(kinds)])


def class_test(run: Operators, arguments: Arguments) -> Value:
    """``issubclass``."""
    value, kinds = arguments.get(0, ""), arguments.get(1, "")
    if not isinstance(value, Class):
        raise NotPlain(reason_of(value) or "is a test of a class that is not known")
    outcomes = [
        True if kind in value.lineage() or (isinstance(kind, External) and value.has_external_base(kind.dotted))
        else (None if value.opaque_base or not isinstance(kind, Class) else False)
        for kind in _each_kind(kinds)
    ]  # fmt: skip
    return _decided(run, arguments, outcomes)


def callable_test(run: Operators, arguments: Arguments) -> Value:
    """``callable``."""
    value = arguments.get(0, "")
    if isinstance(value, Instance):
        outcome = value.cls.find("__call__") is not UNBOUND or (None if value.cls.opaque_base else False)
    elif isinstance(value, Opaque) or (isinstance(value, External) and not value.dotted.startswith("builtins.")):
        outcome = None
    else:
        outcome = isinstance(value, Function | Class | Method | Native | Partial | External)
    return _decided(run, arguments, [outcome])


def type_of(_run: Operators, arguments: Arguments) -> Value:
    """``type`` with one argument."""
    value = arguments.get(0, "")
    if len(arguments.positional) != 1:
        raise NotPlain("is a class made by type()")
    if isinstance(value, Instance | EnumMember):
        return value.cls
    names = _names(value)
    if not names:
        raise NotPlain(reason_of(value) or "is the class of a value that is not known")
    return External(f"builtins.{names[0]}")


def _decided(run: Operators, arguments: Arguments, outcomes: list[bool | None]) -> Value:
    if any(outcomes):
        return True
    if None not in outcomes:
        return False
    text = arguments.frame.module.text(arguments.node)
    return run.boolean(run.atom((text, *map(atom_key, arguments.positional)), text))


def _each_kind(kinds: Value) -> list[Value]:
    if isinstance(kinds, tuple):
        return [inner for kind in kinds for inner in _each_kind(kind)]
    return [kinds]


def _names(value: Value) -> tuple[str, ...]:
    if value is None:
        return ("NoneType",)
    if isinstance(value, SetValue):
        return ("frozenset" if value.frozen else "set",)
    if isinstance(value, Function):
        return ("function",)
    return _NAMES.get(type(value), ())


def _instance_of(value: Value, kind: Value) -> bool | None:
    if isinstance(value, Opaque | External):
        return None
    if isinstance(kind, Class):
        if isinstance(value, Instance | EnumMember):
            return kind in value.cls.lineage() or (None if value.cls.opaque_base else False)
        return False
    if not isinstance(kind, External):
        return None
    if kind.dotted.startswith("builtins."):
        name = kind.last
        if isinstance(value, Instance | EnumMember):
            if name in {"object", "tuple"}:
                return name == "object" or (isinstance(value, Instance) and value.cls.flavor == "namedtuple")
            return value.cls.has_external_base(kind.dotted, f"enum.{name.capitalize()}Enum") or (
                None if value.cls.opaque_base else False
            )
        names = _names(value)
        return (name in names or name == "object") if names else None
    if kind.last in _ABSTRACT:
        return isinstance(value, _ABSTRACT[kind.last]) or (None if isinstance(value, Instance | EnumMember) else False)
    return False if _names(value) else None
