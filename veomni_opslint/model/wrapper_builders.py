"""Which wrappers the builders make: each builder is tried with every implementation and variant that is named."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from veomni_opslint.evaluate.binding import Formal, formals_of, formals_of_fields
from veomni_opslint.evaluate.cells import UNBOUND, Opaque, Value
from veomni_opslint.evaluate.containers import DictValue, ListValue, SetValue
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.trials import Trials
from veomni_opslint.evaluate.values import (
    Choice,
    Class,
    External,
    Function,
    Instance,
    Maybe,
    Method,
    Partial,
    Wrapped,
    string_of,
)
from veomni_opslint.findings import Place
from veomni_opslint.model.builder_mentions import Mention, Mentions
from veomni_opslint.model.table_places import TablePlaces
from veomni_opslint.model.wrapper_module import OTHER

Verdict = Literal["accepted", "refused", "unknown"]

_MAX_NAMES = 24
_OURS = frozenset({"TypeError", "NameError", "AttributeError", ""})
"""Exceptions that may be a limit of the evaluator as well as a refusal."""
_IMPLEMENTATION_WORDS = frozenset({"backend", "kernel", "kernel_name", "name", "kind", "which"})
_OP_WORDS = frozenset({"op", "op_name", "opname"})


@dataclass(frozen=True, slots=True)
class Builder:
    """One entry of the table of builders, for an op or for one variant or implementation of it.

    ``function`` is the name and ``definition`` the place of what it calls (None where it is not seen). ``mentions``
    are the names that it compares its arguments with.
    """

    op: str
    variant: str | None
    implementation: str | None
    place: Place
    function: str
    definition: Place | None
    mentions: tuple[Mention, ...]


class Result(NamedTuple):
    """What the builders of an op give for one variant and implementation; ``value`` is what is built, if known."""

    op: str
    variant: str
    implementation: str
    verdict: Verdict
    value: Value = None


class _Made(NamedTuple):
    builder: Builder
    value: Value


@dataclass(frozen=True, slots=True)
class BuilderTable:
    """The table of builders ``name``, as module-level code of ``module`` fills it.

    ``names`` are all known implementations and variants by role; ``named`` gives those to try for an op in a role,
    besides those that its builder mentions.
    """

    name: str
    module: str
    places: TablePlaces
    trials: Trials
    mentions: Mentions
    names: Mapping[str, frozenset[str]]
    named: Callable[[str, str], Iterable[str]]

    def read(self, table: Value) -> tuple[tuple[Builder, ...] | None, tuple[Result, ...]]:
        """The builders, and what they give for every pair of names; None where the table is not known."""
        if not isinstance(table, DictValue) or table.lost:
            return None, ()
        made: list[_Made] = []
        for _, key, value in table.elements():
            parts = tuple(string_of(part) for part in (key if isinstance(key, tuple) else (key,)))
            flat = list(_flattened(parts, value, self.names))
            if not flat:
                return None, ()
            made += (self._made(*one, parts) for one in flat)
        ops = dict.fromkeys(one.builder.op for one in made)
        results = tuple(result for op in ops for result in self._tried(op, made))
        return tuple(one.builder for one in made), results

    def _made(
        self, op: str, variant: str | None, implementation: str | None, value: Value, key: tuple[str | None, ...]
    ) -> _Made:
        written = tuple(part or "" for part in key)
        name = written if len(written) > 1 else written[0]
        place = self.places.key(self.name, name)
        found = [
            Mention(role, text, self.places.part(self.name, name, text))
            for role, text in (("variant", variant), ("implementation", implementation))
            if text is not None
        ]
        function = _function_of(value)
        label, definition = "", None
        if function is not None:
            definition = function.module.place(function.node)
            label = "the lambda" if isinstance(function.node, ast.Lambda) else function.name
            roles = {one.name: role_of(one.name) for one in formals_of(function) if role_of(one.name) not in ("", "op")}
            if not isinstance(function.node, ast.AsyncFunctionDef):
                found += self.mentions.in_function(function.module.name, function.node, roles)
        elif isinstance(value, Class):
            label, definition = value.name, value.module.place(value.node) if value.module and value.node else None
        return _Made(Builder(op, variant, implementation, place, label, definition, tuple(found)), value)

    def _tried(self, op: str, made: list[_Made]) -> Iterator[Result]:
        mentions = [one for each in made if each.builder.op == op for one in each.builder.mentions]
        variants, implementations = (
            list(dict.fromkeys([*self.named(op, role), *_values(mentions, role)]))[:_MAX_NAMES]
            for role in ("variant", "implementation")
        )
        for variant in (*variants, OTHER):
            for implementation in (*implementations, OTHER):
                yield self._try(op, variant, implementation, made)

    def _try(self, op: str, variant: str, implementation: str, made: list[_Made]) -> Result:
        asked = {"op": op, "variant": variant, "implementation": implementation}
        fitting = [
            one.value for one in made
            if one.builder.op == op and one.builder.variant in (None, variant)
            and one.builder.implementation in (None, implementation)
        ]  # fmt: skip
        call = _arguments(fitting[-1], asked) if fitting else None
        if call is None:
            return Result(op, variant, implementation, "unknown" if fitting else "refused")
        try:
            value = self.trials.result_of(self.module, fitting[-1], *call)
        except Raised as problem:
            return Result(op, variant, implementation, "unknown" if problem.error in _OURS else "refused")
        return Result(op, variant, implementation, _verdict(value), value)


def strings_in(value: Value) -> tuple[str, ...] | None:
    """The strings that a value is or holds, under whatever conditions; None when they are not known."""
    if isinstance(value, Choice):
        parts = [strings_in(option) for _, option in value.options if option is not UNBOUND]
        return None if None in parts else tuple(dict.fromkeys(text for part in parts for text in part or ()))
    text = string_of(value)
    if text is not None:
        return (text,)
    items: list[Value]
    try:
        if isinstance(value, SetValue | DictValue):
            items = [first for _, first, _ in value.elements()]
        elif isinstance(value, ListValue):
            value.check_known()
            items = list(value.items)
        elif isinstance(value, tuple):
            items = list(value)
        else:
            return None
    except NotPlain:
        return None
    texts = [string_of(item.value if isinstance(item, Maybe) else item) for item in items]
    known = tuple(text for text in texts if text is not None)
    return known if len(known) == len(texts) else None


def _flattened(
    parts: tuple[str | None, ...], value: Value, names: Mapping[str, frozenset[str]]
) -> Iterator[tuple[str, str | None, str | None, Value]]:
    """Op, variant, implementation and builder for an entry; nothing where its keys are not understood."""
    op, *rest = parts
    found: dict[str, str] = {}
    for part in rest:
        role = _role_of_key(part, names, found)
        if part is None or role is None:
            return
        found[role] = part
    if op is None:
        return
    if not isinstance(value, DictValue):
        yield op, found.get("variant"), found.get("implementation"), value
    elif not value.lost:
        for _, key, one in value.elements():
            inner = (string_of(part) for part in (key if isinstance(key, tuple) else (key,)))
            yield from _flattened((*parts, *inner), one, names)


def _role_of_key(part: str | None, names: Mapping[str, frozenset[str]], found: Mapping[str, str]) -> str | None:
    roles = [role for role in ("variant", "implementation") if role not in found]
    fitting = [role for role in roles if part in names.get(role, ())]
    if len(fitting) == 1:
        return fitting[0]
    return roles[0] if len(roles) == 1 and found else None


def _function_of(value: Value) -> Function | None:
    if isinstance(value, Function):
        return value
    if isinstance(value, Method | Partial | Wrapped):
        return _function_of(value.function)
    if isinstance(value, Instance):
        return _function_of(value.cls.find("__call__"))
    return None


def role_of(parameter: str) -> str:
    """The role of a builder's parameter, by its name; empty where the name says nothing."""
    lowered = parameter.lower()
    if "variant" in lowered:
        return "variant"
    if "impl" in lowered or lowered in _IMPLEMENTATION_WORDS:
        return "implementation"
    return "op" if lowered in _OP_WORDS else ""


def _values(mentions: Iterable[Mention], role: str) -> Iterator[str]:
    return (one.value for one in mentions if one.role == role)


def _verdict(value: Value) -> Verdict:
    options = [option for _, option in value.options] if isinstance(value, Choice) else [value]
    if all(option is None for option in options):
        return "refused"
    return "unknown" if all(isinstance(option, Opaque | External) for option in options) else "accepted"


def _arguments(value: Value, asked: Mapping[str, str]) -> tuple[list[Value], dict[str, Value]] | None:
    """The call of a builder; None where it has a parameter of which it is not known what it takes."""
    formals = _formals(value)
    if formals is None:
        return None
    given: list[Value] = []
    named: dict[str, Value] = {}
    for formal in formals:
        role = role_of(formal.name)
        if formal.kind in ("var", "kwvar"):
            return None if formal.kind == "var" and not given and not named else (given, named)
        if not role:
            if formal.default is UNBOUND:
                return None
        elif formal.kind == "positional":
            given.append(asked[role])
        else:
            named[formal.name] = asked[role]
    return given, named


def _formals(value: Value) -> list[Formal] | None:
    """The parameters that are left to the caller."""
    if isinstance(value, Function):
        return formals_of(value)
    if isinstance(value, Method):
        inner = _formals(value.function)
        return None if inner is None else inner[1:]
    if isinstance(value, Wrapped):
        return _formals(value.function)
    if isinstance(value, Partial):
        inner = _formals(value.function)
        taken = dict(value.keywords)
        return None if inner is None else [one for one in inner[len(value.positional) :] if one.name not in taken]
    if isinstance(value, Instance):
        inner = _formals(value.cls.find("__call__"))
        return None if inner is None else inner[1:]
    if isinstance(value, Class):
        found = value.find("__init__")
        inner = _formals(found) if found is not UNBOUND else None
        if inner is not None:
            return inner[1:]
        return formals_of_fields(value.fields) if value.fields else []
    return None
