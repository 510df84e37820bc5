"""From calls of ``register_op`` to OpSpec records."""

from __future__ import annotations

from veomni_opslint.conditions import Condition
from veomni_opslint.evaluate.cells import Value
from veomni_opslint.evaluate.containers import DictValue
from veomni_opslint.evaluate.core import reason_of
from veomni_opslint.evaluate.limits import NotPlain
from veomni_opslint.evaluate.recorder import Recorder, known_bool, known_text
from veomni_opslint.evaluate.values import Arguments, EnumMember, Instance, string_of
from veomni_opslint.findings import Place
from veomni_opslint.registrations import Backend, Known, OpSpec, Unknown

_OP_FIELDS = ("name", "config_field", "label", "scope", "default", "global_slot", "backends")


class OpRecorder(Recorder):
    """Recording ops of the legacy registry."""

    def register_op(self, arguments: Arguments) -> Value:
        for when, option in self.options_of(arguments.get(0, "spec")):
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
        site = self.site_of(arguments)
        try:
            values = [self.field_of(spec, name) for name in _OP_FIELDS]
            backends = [(condition, table) for condition, table in self.settled(values[6])]
            for formula, (_, *fields) in self.combine(
                [[(when, None)], *(self.options_of(value) for value in values[:6]), backends]
            ):
                name = string_of(fields[0])
                if name is None:
                    reason = f"name {reason_of(fields[0]) or 'is not a string'}"
                    self.report_unresolved(arguments.node, arguments.frame, reason, of_op=True)
                    continue
                self.op_specs.append(
                    OpSpec(
                        name,
                        known_text("config_field", fields[1]),
                        known_text("label", fields[2]),
                        _scope(fields[3]),
                        known_text("default", fields[4]),
                        _known_optional("global_slot", fields[5]),
                        self._backends(fields[6], spec.place or site.place),
                        self.conditions_under(formula),
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
            name = string_of(key)
            if name is None or not isinstance(item, Instance):
                return Unknown(f"backends {reason_of(key) or reason_of(item) or 'holds something else'}")
            found.append((name, self._backend(item, otherwise)))
        return tuple(found)

    def _backend(self, item: Instance, otherwise: Place) -> Backend:
        place = item.place or otherwise
        requires = self.field_of(item, "requires")
        names: Known[tuple[str, ...]]
        try:
            texts = [string_of(self.prune(part)) for part in self.certain(self.prune(requires))]
            names = Unknown("requires holds something that is not a known string") if None in texts else tuple(
                text for text in texts if text is not None)  # fmt: skip
        except NotPlain as problem:
            names = Unknown(f"requires {problem.reason}")
        return Backend(
            known_text("entry", self.prune(self.field_of(item, "entry"))),
            names,
            _known_optional("side_effect", self.prune(self.field_of(item, "side_effect"))),
            known_bool("replace_forward", self.prune(self.field_of(item, "replace_forward"))),
            known_bool("entry_is_factory", self.prune(self.field_of(item, "entry_is_factory"))),
            _known_optional("target_override", self.prune(self.field_of(item, "target_override"))),
            place,
            item.written[1] if item.written else place,
        )


def _known_optional(name: str, value: Value) -> Known[str | None]:
    return None if value is None else known_text(name, value)


def _scope(value: Value) -> Known[str]:
    if isinstance(value, EnumMember):
        return value.name
    if isinstance(value, str) and value.upper() in {"GLOBAL", "PER_MODEL"}:
        return value.upper()
    return Unknown(f"scope {reason_of(value) or 'is not a known scope'}")
