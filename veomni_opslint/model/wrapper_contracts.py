"""What the builders build: whether it has the two halves of a wrapper, and where they are defined."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from veomni_opslint.evaluate.cells import UNBOUND, Value
from veomni_opslint.evaluate.containers import DictValue, ListValue
from veomni_opslint.evaluate.values import Choice, Class, External, Function, Instance, Method, Partial, Wrapped
from veomni_opslint.findings import Place
from veomni_opslint.model.wrapper_builders import Result

HALVES = ("forward", "backward")
_DECLARING = frozenset({"Protocol", "ABC"})
_PLAIN = (str, int, float, bytes, DictValue, ListValue)


@dataclass(frozen=True, slots=True)
class Half:
    """One half of a wrapper.

    ``missing``: there certainly is none; ``unbound``: a method of a class that the builder does not instantiate.
    ``function`` is the definition in ``module``, where it is known.
    """

    name: str
    status: Literal["defined", "missing", "unbound", "unknown"]
    module: str = ""
    function: ast.FunctionDef | ast.Lambda | None = None
    place: Place | None = None


class Built(NamedTuple):
    """Something that a builder returns as a wrapper: ``label`` for messages, ``place`` where it is defined or made."""

    op: str
    label: str
    place: Place | None
    halves: tuple[Half, ...]


def built(results: tuple[Result, ...]) -> Iterator[Built]:
    """Each thing that is built for something, once."""
    seen: set[int] = set()
    for result in results:
        if result.verdict != "accepted":
            continue
        for option in _options(result.value):
            origin = option.cls if isinstance(option, Instance) and not _holds_halves(option) else option
            if id(origin) not in seen:
                seen.add(id(origin))
                found = _built(result.op, option)
                if found is not None:
                    yield found


def _options(value: Value) -> Iterator[Value]:
    for option in [one for _, one in value.options] if isinstance(value, Choice) else [value]:
        if option is not UNBOUND and option is not None:
            yield option


def _built(op: str, value: Value) -> Built | None:
    if isinstance(value, Instance):
        return Built(op, f"`{value.cls.name}`", _class_place(value.cls) or value.place, _halves_of(value.cls, value))
    if isinstance(value, Class):
        return Built(op, f"`{value.name}`", _class_place(value), _halves_of(value, None))
    if isinstance(value, tuple):
        if len(value) != len(HALVES):
            return Built(op, f"a tuple of {len(value)}", None, tuple(Half(name, "missing") for name in HALVES))
        return Built(op, "a pair", None, tuple(_half(name, one) for name, one in zip(HALVES, value, strict=True)))
    if isinstance(value, DictValue) and not value.lost:
        entries = {key: item for _, key, item in value.elements()}
        return Built(op, "a dict", None, tuple(_half(name, entries.get(name, UNBOUND)) for name in HALVES))
    if isinstance(value, (Function, *_PLAIN)) and not (isinstance(value, DictValue | ListValue) and value.lost):
        label = f"the function `{value.name}`" if isinstance(value, Function) else "a plain value"
        place = value.module.place(value.node) if isinstance(value, Function) else None
        return Built(op, label, place, tuple(Half(name, "missing") for name in HALVES))
    return None


def _holds_halves(value: Instance) -> bool:
    """Whether the halves are given to the object, so that each object may have others."""
    return any(name in value.attrs for name in HALVES)


def _halves_of(cls: Class, instance: Instance | None) -> tuple[Half, ...]:
    return tuple(_attribute(cls, instance, name) for name in HALVES)


def _attribute(cls: Class, instance: Instance | None, name: str) -> Half:
    if instance is not None and name in instance.attrs:
        return _half(name, instance.attrs[name])
    found = cls.find(name)
    if found is UNBOUND:
        open_ended = any(one.opaque_base or "__getattr__" in one.attrs for one in cls.lineage())
        assigned = instance is not None and "__init__" in {key for one in cls.lineage() for key in one.attrs}
        return Half(name, "unknown" if open_ended or (assigned and _sets(cls, name)) else "missing")
    if isinstance(found, Function) and _is_stub(found):
        return Half(name, "missing")
    half = _half(name, found)
    if instance is None and isinstance(found, Function) and _takes_self(found):
        return replace(half, status="unbound")
    return half


def _half(name: str, value: Value) -> Half:
    if value is UNBOUND or value is None or isinstance(value, (*_PLAIN, tuple)):
        return Half(name, "missing")
    function = value
    while isinstance(function, Method | Partial | Wrapped):
        function = function.function
    if isinstance(function, Function) and isinstance(function.node, ast.FunctionDef | ast.Lambda):
        place = function.module.place(function.node)
        return Half(name, "defined", function.module.name, function.node, place)
    return Half(name, "unknown")


def _is_stub(function: Function) -> bool:
    """A method that only declares itself: its body is ``...`` or ``pass``, or it is abstract and raises."""
    node = function.node
    if not isinstance(node, ast.FunctionDef):
        return False
    try:
        body = node.body or function.module.facts.function_body(node)
    except (SyntaxError, ValueError):
        return False
    rest = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    owner = function.owner
    declares = owner is not None and any(isinstance(base, External) and base.last in _DECLARING for base in owner.bases)
    return all(isinstance(one, ast.Pass) or (declares and isinstance(one, ast.Raise)) for one in rest)


def _takes_self(function: Function) -> bool:
    names = [one.arg for one in (*function.node.args.posonlyargs, *function.node.args.args)]
    return names[:1] == ["self"]


def _sets(cls: Class, name: str) -> bool:
    """Whether the code of a class may set an attribute on its objects."""
    words = frozenset({f".{name} =", "setattr"})
    return any(
        one.module is not None and one.node is not None and one.module.mentions(one.node, words)
        for one in cls.lineage()
    )


def _class_place(cls: Class) -> Place | None:
    return cls.module.place(cls.node) if cls.module is not None and cls.node is not None else None
