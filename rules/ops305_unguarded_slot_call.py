"""An OpSlot is called where no `use_non_eager_impl` check dominates."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Related
from veomni_opslint.model import OpsModel
from veomni_opslint.model.slot_guards import SlotGuards, UnguardedCall
from veomni_opslint.model.slot_names import slot_names
from veomni_opslint.rule import Rule

rule = Rule.of(__name__)


def check(model: OpsModel) -> Iterator[Finding]:
    for call in SlotGuards(model, slot_names(model)).unguarded_calls():
        yield _finding(model, call)


def _finding(model: OpsModel, call: UnguardedCall) -> Finding:
    dialect, name = model.dialect, call.slot.var
    what, error = f"the slot `{name}` is called", "RuntimeError"
    if call.of_kernel:
        what, error = f"the kernel of the slot `{name}` is called", "TypeError, for it is None"
    related = [Related(call.slot.place, "the slot")]
    if call.caller is not None:
        module, span = call.caller
        related.insert(0, Related(model.place(model.module(module).path, span), "called here, without a check as well"))
    return rule.finding(
        model.place(model.module(call.module).path, call.span),
        f"{what} where no `{dialect.slot_guard}` check stands before it: for a job that leaves the op eager the call "
        f"raises {error}; put it under `if {name}.{dialect.slot_guard}:` with the eager code after it",
        related,
    )
