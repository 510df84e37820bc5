"""A compound autograd function calls an OpSlot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from veomni_opslint.findings import Finding, Related
from veomni_opslint.model.compound_functions import SlotCall, slot_calls
from veomni_opslint.rule import Rule

if TYPE_CHECKING:
    from veomni_opslint.model import OpsModel

rule = Rule.of(__name__)


def check(model: OpsModel) -> Iterator[Finding]:
    for call in slot_calls(model):
        yield _finding(model, call)


def _finding(model: OpsModel, call: SlotCall) -> Finding:
    links = [model.place(model.module(module).path, span) for module, span in call.chain]
    how = f"calls the slot `{call.slot[1]}`" if len(links) == 1 else f"runs the slot `{call.slot[1]}` through a helper"
    related = [Related(place, "which calls the slot" if place is links[-1] else "through here") for place in links[1:]]
    related += [
        Related(slot.place, "the slot")
        for slot in model.slots
        if (slot.module, slot.var) == call.slot and slot.at_module_level and slot.live
    ]
    return rule.finding(
        links[0],
        f"`{call.function}` {how}: inside an autograd function no graph is recorded, so the kernel's own backward "
        f"never runs and its gradients are lost; use {model.dialect.get_wrapper} and its forward and backward",
        related,
    )
