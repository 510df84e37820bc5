"""A slot is kept where binding never finds it: it is no attribute of its module."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.slot_holders import deletion_of, hidden_in
from veomni_opslint.model.slots import ConfigSlotInfo, OpSlotInfo
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)


def check(model: OpsModel) -> Iterator[Finding]:
    slots: tuple[OpSlotInfo | ConfigSlotInfo, ...] = (*model.slots, *model.config_slots)
    for slot in slots:
        if _in_ops_package(model, slot.module) or "tests" in slot.path.split("/"):
            continue
        if slot.at_module_level:
            deleted = deletion_of(slot)
            if deleted is not None:
                message = f"`{slot.var}` is deleted after {slot.written} was assigned to it{_consequence(slot)}"
                yield rule.finding(model.place(slot.path, deleted), message, [Related(slot.place, "the slot")])
            continue
        holder = hidden_in(model, slot)
        if holder:
            yield rule.finding(slot.place, f"{slot.written} is kept by {holder}{_consequence(slot)}")


def _in_ops_package(model: OpsModel, module: str) -> bool:
    return module == model.ops_package or module.startswith(model.ops_package + ".")


def _consequence(slot: OpSlotInfo | ConfigSlotInfo) -> str:
    outcome = "the model silently runs eager code" if isinstance(slot, OpSlotInfo) else "it silently keeps its default"
    return (
        f", where binding, which walks the attributes of the modeling module, never finds it: {outcome}, "
        "whatever the configuration selects; assign it to a module-level name"
    )
