"""An OpSlot is called where no `use_non_eager_impl` check dominates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from veomni_opslint.findings import Finding, Fix, Related
from veomni_opslint.model import OpsModel
from veomni_opslint.model.slot_guards import SlotGuards, UnguardedCall
from veomni_opslint.proposals import Edit, Proposal, extent, is_generated
from veomni_opslint.rule import Rule

rule = Rule.of(__name__)


def check(model: OpsModel) -> Iterator[Finding]:
    for call in SlotGuards(model, model.slot_names).unguarded_calls():
        yield _finding(model, call)


def fix(model: OpsModel, finding: Finding) -> Proposal | None:
    from veomni_opslint.model.expression_places import tests_around  # noqa: PLC0415 - only a finding needs it

    if is_generated(model, finding.place.path):
        return None
    facts = model.files[finding.place.path]
    slots = {name.partition(".")[0] for name in re.findall(r"`([^`]*)`", finding.message)[:1]}
    for test, place in tests_around(facts, finding.place):
        name, _, attribute = test.partition(".")
        if name in slots and attribute in ("", "is_bound"):
            _, end = extent(facts.text, place)
            guard = model.dialect.slot_guard
            edit = Edit(end - len(attribute), end, guard if attribute else f".{guard}")
            return _asking(f"{name}.{guard}", edit)
    return None


def _asking(what: str, edit: Edit) -> Proposal:
    return Proposal(Fix(f"ask `{what}`", safe=True), lambda: (edit,))


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
