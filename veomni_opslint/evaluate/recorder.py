"""From registering calls to KernelSpec and OpSpec records."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import NamedTuple, TypeVar

from veomni_opslint.conditions import TRUE, Condition
from veomni_opslint.evaluate.cells import UNBOUND, Value, unknown
from veomni_opslint.evaluate.core import DEFAULTS, reason_of
from veomni_opslint.evaluate.factories import factory_of
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.imports import Imports
from veomni_opslint.evaluate.limits import MAX_OPTIONS, TOO_MANY, NotPlain
from veomni_opslint.evaluate.values import Arguments, Choice, Instance, string_of
from veomni_opslint.findings import Place
from veomni_opslint.registrations import Hardware, KernelSpec, Known, Unknown, Unresolved

T = TypeVar("T")
_KERNEL_FIELDS = ("op_name", "variant", "name", "factory", "hardware", "description")
_HARDWARE_FIELDS = ("device_type", "min_compute_capability", "max_compute_capability")


class Site(NamedTuple):
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
        for when, option in self.options_of(spec):
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

    def options_of(self, value: Value) -> list[tuple[Condition, Value]]:
        value = self.prune(value)
        if isinstance(value, Choice):
            return [(when, option) for when, option in value.options if option is not UNBOUND]
        return [(TRUE, value)]

    def _combinations(self, values: list[Value], when: Condition) -> list[tuple[Condition, list[Value]]]:
        return self.combine([[(when, None)], *(self.options_of(value) for value in values)])

    def _record_kernel(self, when: Condition, spec: Instance, force: Value, arguments: Arguments) -> None:
        if self.dry:
            return
        try:
            values = [self.field_of(spec, name) for name in _KERNEL_FIELDS]
            found = [
                (condition, fields, details)
                for formula, (_, *fields) in self._combinations([*values, force], when)
                for condition, (_, *details) in self._combinations(self._details(fields[4]), formula)
            ]
            if len(found) > MAX_OPTIONS:
                found = []
                self.report_unresolved(arguments.node, arguments.frame, f"the {spec.cls.name} {TOO_MANY}")
            for condition, fields, details in found:
                self._add_kernel(condition, spec, fields, details, arguments)
        except NotPlain as problem:
            self.report_unresolved(arguments.node, arguments.frame, f"the {spec.cls.name} {problem.reason}")

    def _details(self, hardware: Value) -> list[Value]:
        return [self.field_of(hardware, name) for name in _HARDWARE_FIELDS] if isinstance(hardware, Instance) else []

    def field_of(self, value: Value, name: str) -> Value:
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
            text = string_of(value)
            if text is None:
                reason = f"{name} {reason_of(value) or 'is not a string'}"
                pair = (string_of(fields[0]), string_of(fields[1]))
                self.report_unresolved(arguments.node, arguments.frame, reason, pair)
                return
            names.append(text)
        site = self.site_of(arguments)
        spec_place = spec.place or site.place
        written, written_place = spec.written or ("", spec_place)
        self.kernel_specs.append(
            KernelSpec(
                names[0],
                names[1],
                names[2],
                factory_of(fields[3], written, written_place),
                self._hardware(fields[4], details, spec_place),
                known_text("description", fields[5]),
                known_bool("force", fields[6]),
                self.conditions_under(when),
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
            known_number(_HARDWARE_FIELDS[1], details[1]),
            known_number(_HARDWARE_FIELDS[2], details[2]),
            value.place or otherwise,
        )

    def _device_type(self, value: Value) -> Known[str | tuple[str, ...]]:
        text = string_of(value)
        if text is not None:
            return text
        try:
            parts = [string_of(item) for item in self.certain(value)]
        except NotPlain as problem:
            return Unknown(f"device_type {reason_of(value) or problem.reason}")
        if None in parts:
            return Unknown("device_type holds something that is not a known string")
        return tuple(part for part in parts if part is not None)

    def conditions_under(self, when: Condition) -> tuple[str, ...]:
        notes = dict.fromkeys((*self.conditions(), *self.notes_of(when)))
        return tuple(str(note) for note in notes)

    def site_of(self, arguments: Arguments) -> Site:
        module = self.running[-1]
        place = arguments.frame.module.place(arguments.node)
        inside = arguments.frame.module is module and _at_module_level(arguments.frame)
        return Site(place, place if inside else module.place(self.statements[-1]), module.name)

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


def _at_module_level(frame: Frame) -> bool:
    scope: Frame | None = frame
    while scope is not None:
        if scope.kind == "function":
            return False
        scope = scope.parent
    return True


def known_text(name: str, value: Value) -> Known[str]:
    text = string_of(value)
    return Unknown(f"{name} {reason_of(value) or 'is not a string'}") if text is None else text


def known_bool(name: str, value: Value) -> Known[bool]:
    return value if isinstance(value, bool) else Unknown(f"{name} {reason_of(value) or 'is not a boolean'}")


def known_number(name: str, value: Value) -> Known[int | None]:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    return Unknown(f"{name} {reason_of(value) or 'is not a number'}")
