"""An OpSlot is called where no `use_non_eager_impl` check dominates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from veomni_opslint.findings import Finding, Related
from veomni_opslint.model import OpsModel
from veomni_opslint.model.slot_guards import SlotGuards, UnguardedCall
from veomni_opslint.model.while_eager import WhileEager
from veomni_opslint.proposals import Proposal
from veomni_opslint.rule import Rule

rule = Rule.of(__name__)


def check(model: OpsModel) -> Iterator[Finding]:
    calls = tuple(SlotGuards(model, WhileEager(model, model.slot_names)).unguarded_calls())
    wrong = _in_compound_functions(model) if calls else frozenset()
    for call in calls:
        if (call.module, call.span[:2]) not in wrong:
            yield _finding(model, call)


def fix(model: OpsModel, finding: Finding) -> Proposal | None:
    from veomni_opslint.restoring import put_back_or  # noqa: PLC0415 - only a finding needs it
    from veomni_opslint.slot_checking import checked  # noqa: PLC0415 - as above

    # The message names the slot as its own module does, which the call may know under another name.
    name = re.findall(r"`([^`]*)`", finding.message)[0]
    return put_back_or(model, finding.place, lambda: checked(model, finding.place, name))


def _in_compound_functions(model: OpsModel) -> frozenset[tuple[str, tuple[int, int]]]:
    """Where calls stand in autograd functions: no check puts them right, they have no place there (OPS504)."""
    from veomni_opslint.model.compound_functions import slot_calls  # noqa: PLC0415 - only a finding needs it

    return frozenset((call.chain[0][0], call.chain[0][1][:2]) for call in slot_calls(model))


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
