"""Whether values are certainly one and the same, and their keys in dicts and sets."""

from __future__ import annotations

from collections.abc import Hashable

from veomni_opslint.evaluate.cells import UNBOUND, Opaque, Value
from veomni_opslint.evaluate.limits import NotPlain
from veomni_opslint.evaluate.values import (
    Class,
    EnumMember,
    External,
    Function,
    Instance,
    Lazy,
    Maybe,
    Method,
    ModuleRef,
    Native,
    Partial,
    Wrapped,
)


def key_of(value: Value, depth: int = 12) -> Hashable:
    """A hashable that is equal for equal values.

    Raises:
        NotPlain: the value is unhashable, or not known, or nested deeper than *depth*.
    """
    if value is None or isinstance(value, str | int | float | bytes | complex):
        return value
    if depth == 0:
        raise NotPlain("is looked up by a key that is nested too deeply")
    if isinstance(value, tuple):
        return tuple(key_of(item, depth - 1) for item in value)
    if isinstance(value, EnumMember):
        return value if value.plain is UNBOUND else key_of(value.plain, depth - 1)
    if isinstance(value, Opaque):
        raise NotPlain(value.reason)
    if isinstance(value, Instance) and (
        value.cls.find("__eq__") is not UNBOUND or value.cls.find("__hash__") is not UNBOUND
    ):
        raise NotPlain("is looked up by a key that is not known")
    if isinstance(value, Instance):
        if value.cls.flavor == "namedtuple":
            return tuple(key_of(item, depth - 1) for item in value.sequence)
        if value.cls.flavor == "dataclass":
            return (id(value.cls), *(key_of(value.attrs.get(item.name), depth - 1) for item in value.cls.fields))
        return value
    if isinstance(value, External | ModuleRef | Function | Class | Method | Partial | Native | Wrapped):
        return value
    if isinstance(value, range) or value is Ellipsis:
        return value
    raise NotPlain("is looked up by a key that is not known")


def same(left: Value, right: Value) -> bool:
    """Whether both are certainly one value."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, str | int | float | bytes | complex | range | External | ModuleRef | Lazy):
        return left == right
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Maybe) and isinstance(right, Maybe):
        return left.when == right.when and same(left.value, right.value)
    if isinstance(left, Native) and isinstance(right, Native):
        return left.name == right.name and same(left.receiver, right.receiver)
    if isinstance(left, Method) and isinstance(right, Method):
        return left.function is right.function and same(left.receiver, right.receiver)
    if isinstance(left, Opaque) and isinstance(right, Opaque):
        return left.key == right.key
    return False
