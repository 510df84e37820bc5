"""The slot object is stored or passed on instead of `bound_kernel()`."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Fix, Related
from veomni_opslint.model import OpsModel
from veomni_opslint.model.slot_escapes import Escape, escaping_slots
from veomni_opslint.proposals import Edit, Proposal, extent, is_generated
from veomni_opslint.rule import Rule

rule = Rule.of(__name__)


def check(model: OpsModel) -> Iterator[Finding]:
    for escape in escaping_slots(model, model.slot_names):
        path = model.module(escape.module).path
        related = [Related(escape.slot.place, "the slot")]
        yield rule.finding(model.place(path, escape.span), _message(model, escape), related)


def fix(model: OpsModel, finding: Finding) -> Proposal | None:
    from veomni_opslint.model.expression_places import is_kept_when_built  # noqa: PLC0415 - only a finding needs it

    facts = model.files[finding.place.path]
    if is_generated(model, finding.place.path) or not is_kept_when_built(facts, finding.place):
        return None
    _, end = extent(facts.text, finding.place)
    kernel = Fix(f"keep what `{model.dialect.slot_kernel}()` gives when the model is built", safe=False)
    return Proposal(kernel, lambda: (Edit(end, end, f".{model.dialect.slot_kernel}()"),))


def _message(model: OpsModel, escape: Escape) -> str:
    name = escape.slot.var
    what = (
        f"{escape.kept_by} keeps the slot `{name}`"
        if escape.kept_by
        else f"the slot `{name}` goes to {escape.passed_to}"
    )
    remedy = (
        f"hand over `{name}.{model.dialect.slot_kernel}()`, taken when the model is built, or call the slot by name"
    )
    return (
        f"{what} itself: a slot belongs to every model of the process, so binding another model changes the kernel of "
        f"this one, and the check before the call is lost; {remedy}"
    )
