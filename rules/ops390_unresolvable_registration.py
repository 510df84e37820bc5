"""A registration, or a slot, whose content cannot be known without running the code."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.test_paths import is_test
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.INFO)


def check(model: OpsModel) -> Iterator[Finding]:
    for unresolved in model.registrations.unresolved:
        if model.files[unresolved.place.path].problem is not None:
            continue
        yield rule.finding(
            unresolved.place,
            f"what is registered here cannot be known without running it: {unresolved.reason}; rules about the "
            "registry stay silent where it could matter: write out what is registered",
        )
    yield from _slots(model)


def _slots(model: OpsModel) -> Iterator[Finding]:
    for slot in model.slots:
        if (slot.op_name is None or slot.variant is None) and not is_test(slot.path):
            yield rule.finding(slot.place, _message(slot.written))
    for config_slot in model.config_slots:
        if config_slot.field_name is None and not is_test(config_slot.path):
            yield rule.finding(config_slot.place, _message(config_slot.written))
    classes = (model.dialect.op_slot, model.dialect.config_slot)
    for _, facts in model.modules_in(model.package):
        for scope in facts.scopes:
            named = next((base for base in scope.bases if base.rpartition(".")[2] in classes), "")
            if named and scope.name not in classes and not is_test(facts.path):
                yield rule.finding(
                    model.place(facts.path, scope.span),
                    f"slots made by `{scope.name}` are not seen: it is a class of its own, and rules about slots know "
                    f"`{named}` only; declare them with `{named}`",
                )


def _message(written: str) -> str:
    return (
        f"which kernels {written} asks for cannot be known without running it: rules about slots, and about kernels "
        "that nothing uses, stay silent where it could matter; write op and variant where the slot is declared"
    )
