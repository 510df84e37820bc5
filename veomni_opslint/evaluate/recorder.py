"""From registering calls to KernelSpec and OpSpec records."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TypeVar

from veomni_opslint.conditions import TRUE, Condition, both
from veomni_opslint.evaluate.core import DEFAULTS, reason_of
from veomni_opslint.evaluate.containers import DictValue
from veomni_opslint.evaluate.factories import factory_of
from veomni_opslint.evaluate.forks import TOO_MANY
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.imports import Imports
from veomni_opslint.evaluate.limits import MAX_OPTIONS, NotPlain
from veomni_opslint.evaluate.values import (
    UNBOUND,
    Arguments,
    Choice,
    EnumMember,
    Instance,
    Value,
    unknown,
)
from veomni_opslint.findings import Place
from veomni_opslint.registrations import Backend, Hardware, KernelSpec, Known, OpSpec, Unknown, Unresolved

T = TypeVar("T")
_KERNEL_FIELDS = ("op_name", "variant", "name", "factory", "hardware", "description")
_HARDWARE_FIELDS = ("device_type", "min_compute_capability", "max_compute_capability")
_OP_FIELDS = ("name", "config_field", "label", "scope", "default", "global_slot", "backends")


@dataclass(frozen=True, slots=True)
class _Site:
    place: Place
    caller: Place
    module: str


class Recorder(Imports):
    """Recording what is registered."""

    def register_kernel(self, arguments: Arguments) -> Value:
        force = arguments.get(1, "force", False)
        spec = arguments.get(0, "spec")
        if spec is UNBOUND and arguments.keywords:
            others = [value for name, value in arguments.keywords.items() if name != "force"]
            spec = self._spec_from(arguments) if len(others) > 1 else (others or [UNBOUND])[0]
        if arguments.lost and not arguments.positional:
            spec = unknown(arguments.lost)
        for when, option in self._options(spec):
            if isinstance(option, Instance) and option.role == "kernel_spec":
                self._record_kernel(when, option, force, arguments)
            else:
                self.report_unresolved(arguments.node, arguments.frame, self._no_spec(option))
        return None

    def _spec_from(self, arguments: Arguments) -> Value:
        keywords = {name: value for name, value in arguments.keywords.items() if name != "force"}
        return self.call(self.outside(self.dialect.kernel_spec), arguments.replaced((), keywords))

    def _no_spec(self, value: Value) -> str:
        reason = reason_of(value)
        if reason:
            return f"the {self.dialect.kernel_spec} {reason}"
        return f"what is registered is no {self.dialect.kernel_spec}"

    def _options(self, value: Value) -> list[tuple[Condition, Value]]:
        value = self.prune(value)
        if isinstance(value, Choice):
            return [(when, option) for when, option in value.options if option is not UNBOUND]
        return [(TRUE, value)]

    def _combinations(self, values: list[Value], when: Condition) -> list[tuple[Condition, list[Value]]]:
        return self.combine([[(when, None)], *(self._options(value) for value in values)])

    def _record_kernel(self, when: Condition, spec: Instance, force: Value, arguments: Arguments) -> None:
        if self.dry:
            return
        try:
            values = [self._field(spec, name) for name in _KERNEL_FIELDS]
            found = 0
            for formula, (_, *fields) in self._combinations([*values, force], when):
                hardware = fields[4]
                parts = [self._field(hardware, name) for name in _HARDWARE_FIELDS] if isinstance(
                    hardware, Instance) else []  # fmt: skip
                for condition, (_, *details) in self._combinations(parts, formula):
                    found += 1
                    if found > MAX_OPTIONS:
                        raise NotPlain(TOO_MANY)  # noqa: TRY301
                    self._add_kernel(condition, spec, fields, details, arguments)
        except NotPlain as problem:
            self.report_unresolved(arguments.node, arguments.frame, f"the {spec.cls.name} {problem.reason}")

    def _field(self, value: Value, name: str) -> Value:
        if not isinstance(value, Instance):
            return unknown(reason_of(value) or "is not given")
        found = value.attrs.get(name, UNBOUND)
        if found is UNBOUND:
            found = value.cls.find(name)
        if found is UNBOUND and not value.cls.opaque_base and name in DEFAULTS:
            return DEFAULTS[name]
        return unknown("is not given") if found is UNBOUND else found

    def _add_kernel(
        self, when: Condition, spec: Instance, fields: list[Value], details: list[Value], arguments: Arguments
    ) -> None:
        names = []
        for name, value in zip(_KERNEL_FIELDS[:3], fields[:3], strict=True):
            text = _text(value)
            if text is None:
                reason = f"{name} {reason_of(value) or 'is not a string'}"
                pair = (_text(fields[0]), _text(fields[1]))
                self.report_unresolved(arguments.node, arguments.frame, reason, pair)
                return
            names.append(text)
        site = self._site(arguments)
        spec_place = spec.place or site.place
        written, written_place = spec.written or ("", spec_place)
        self.kernel_specs.append(
            KernelSpec(
                names[0],
                names[1],
                names[2],
                factory_of(fields[3], written, written_place),
                self._hardware(fields[4], details, spec_place),
                _known_text("description", fields[5]),
                _known_bool("force", fields[6]),
                self._conditions(when),
                site.place,
                spec_place,
                site.caller,
                site.module,
            )
        )

    def _hardware(self, value: Value, details: list[Value], otherwise: Place) -> Known[Hardware]:
        if not isinstance(value, Instance):
            return Unknown(f"hardware {reason_of(value) or 'is no ' + self.dialect.hardware_requirement}")
        return Hardware(
            self._device_type(details[0]),
            _known_number(_HARDWARE_FIELDS[1], details[1]),
            _known_number(_HARDWARE_FIELDS[2], details[2]),
            value.place or otherwise,
        )

    def _device_type(self, value: Value) -> Known[str | tuple[str, ...]]:
        text = _text(value)
        if text is not None:
            return text
        try:
            parts = [_text(item) for item in self.certain(value)]
        except NotPlain as problem:
            return Unknown(f"device_type {reason_of(value) or problem.reason}")
        if None in parts:
            return Unknown("device_type holds something that is not a known string")
        return tuple(part for part in parts if part is not None)

    def _conditions(self, when: Condition) -> tuple[str, ...]:
        notes = dict.fromkeys((*self.conditions(), *self.notes_of(when)))
        return tuple(str(note) for note in notes)

    def _site(self, arguments: Arguments) -> _Site:
        module = self.running[-1]
        place = arguments.frame.module.place(arguments.node)
        inside = arguments.frame.module is module and _at_module_level(arguments.frame)
        return _Site(place, place if inside else module.place(self.statements[-1]), module.name)

    def report_unresolved(
        self,
        node: ast.AST,
        frame: Frame,
        reason: str,
        pair: tuple[str | None, str | None] = (None, None),
        of_op: bool = False,
    ) -> None:
        if self.dry:
            return
        found = Unresolved(frame.module.place(node), reason, *pair, of_op)
        if found not in self.unresolved:
            self.unresolved.append(found)
            return
        index = self.unresolved.index(found)
        known = self.unresolved[index]
        op_name = known.op_name if known.op_name == found.op_name else None
        variant = known.variant if known.variant == found.variant else None
        self.unresolved[index] = replace(known, op_name=op_name, variant=variant)

    def register_op(self, arguments: Arguments) -> Value:
        for when, option in self._options(arguments.get(0, "spec")):
            if isinstance(option, Instance) and option.role == "op_spec":
                self._record_op(when, option, arguments)
            else:
                reason = reason_of(option)
                what = f"the {self.dialect.op_spec} {reason}" if reason else (
                    f"what is registered is no {self.dialect.op_spec}")  # fmt: skip
                self.report_unresolved(arguments.node, arguments.frame, what, of_op=True)
        return None

    def _record_op(self, when: Condition, spec: Instance, arguments: Arguments) -> None:
        if self.dry:
            return
        site = self._site(arguments)
        try:
            values = [self._field(spec, name) for name in _OP_FIELDS]
            backends = [(condition, table) for condition, table in self.settled(values[6])]
            for formula, (_, *fields) in self.combine(
                [[(when, None)], *(self._options(value) for value in values[:6]), backends]
            ):
                name = _text(fields[0])
                if name is None:
                    reason = f"name {reason_of(fields[0]) or 'is not a string'}"
                    self.report_unresolved(arguments.node, arguments.frame, reason, of_op=True)
                    continue
                self.op_specs.append(
                    OpSpec(
                        name,
                        _known_text("config_field", fields[1]),
                        _known_text("label", fields[2]),
                        _scope(fields[3]),
                        _known_text("default", fields[4]),
                        _known_optional("global_slot", fields[5]),
                        self._backends(fields[6], spec.place or site.place),
                        self._conditions(formula),
                        site.place,
                        site.module,
                        spec.place or site.place,
                    )
                )
        except NotPlain as problem:
            problem_text = f"the {spec.cls.name} {problem.reason}"
            self.report_unresolved(arguments.node, arguments.frame, problem_text, of_op=True)

    def _backends(self, value: Value, otherwise: Place) -> Known[tuple[tuple[str, Backend], ...]]:
        if value is None:
            return ()
        if not isinstance(value, DictValue) or value.lost:
            reason = value.lost if isinstance(value, DictValue) else reason_of(value)
            return Unknown(f"backends {reason or 'is no dict'}")
        found = []
        for _, key, item in value.elements():
            name = _text(key)
            if name is None or not isinstance(item, Instance):
                return Unknown(f"backends {reason_of(key) or reason_of(item) or 'holds something else'}")
            found.append((name, self._backend(item, otherwise)))
        return tuple(found)

    def _backend(self, item: Instance, otherwise: Place) -> Backend:
        place = item.place or otherwise
        requires = self._field(item, "requires")
        names: Known[tuple[str, ...]]
        try:
            texts = [_text(self.prune(part)) for part in self.certain(self.prune(requires))]
            names = Unknown("requires holds something that is not a known string") if None in texts else tuple(
                text for text in texts if text is not None)  # fmt: skip
        except NotPlain as problem:
            names = Unknown(f"requires {problem.reason}")
        return Backend(
            _known_text("entry", self.prune(self._field(item, "entry"))),
            names,
            _known_optional("side_effect", self.prune(self._field(item, "side_effect"))),
            _known_bool("replace_forward", self.prune(self._field(item, "replace_forward"))),
            _known_bool("entry_is_factory", self.prune(self._field(item, "entry_is_factory"))),
            _known_optional("target_override", self.prune(self._field(item, "target_override"))),
            place,
            item.written[1] if item.written else place,
        )


def _at_module_level(frame: Frame) -> bool:
    scope: Frame | None = frame
    while scope is not None:
        if scope.kind == "function":
            return False
        scope = scope.parent
    return True


def _text(value: Value) -> str | None:
    if isinstance(value, EnumMember) and value.plain is not UNBOUND:
        value = value.plain
    return value if isinstance(value, str) else None


def _known_text(name: str, value: Value) -> Known[str]:
    text = _text(value)
    return Unknown(f"{name} {reason_of(value) or 'is not a string'}") if text is None else text


def _known_optional(name: str, value: Value) -> Known[str | None]:
    return None if value is None else _known_text(name, value)


def _known_bool(name: str, value: Value) -> Known[bool]:
    return value if isinstance(value, bool) else Unknown(f"{name} {reason_of(value) or 'is not a boolean'}")


def _known_number(name: str, value: Value) -> Known[int | None]:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    return Unknown(f"{name} {reason_of(value) or 'is not a number'}")


def _scope(value: Value) -> Known[str]:
    if isinstance(value, EnumMember):
        return value.name
    if isinstance(value, str) and value.upper() in {"GLOBAL", "PER_MODEL"}:
        return value.upper()
    return Unknown(f"scope {reason_of(value) or 'is not a known scope'}")
