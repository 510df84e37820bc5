"""The slot object is stored or passed on instead of `bound_kernel()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.findings import Finding, Fix, Place, Related
from veomni_opslint.model import OpsModel
from veomni_opslint.model.slot_escapes import Escape, escaping_slots
from veomni_opslint.proposals import Edit, NotPossibleError, Proposal, extent
from veomni_opslint.rule import Rule

rule = Rule.of(__name__)


def check(model: OpsModel) -> Iterator[Finding]:
    for escape in escaping_slots(model, model.slot_names):
        path = model.module(escape.module).path
        related = [Related(escape.slot.place, "the slot")]
        yield rule.finding(model.place(path, escape.span), _message(model, escape), related)


def fix(model: OpsModel, finding: Finding) -> Proposal | None:
    from veomni_opslint.restoring import put_back_or  # noqa: PLC0415 - only a finding needs it

    return put_back_or(model, finding.place, lambda: _kernel(model, finding.place))


def _kernel(model: OpsModel, place: Place) -> Proposal:
    """Take the kernel at the time when the slot would have been kept or passed on."""
    from veomni_opslint.model.expression_places import is_in_function, parent_of  # noqa: PLC0415 - as above

    facts = model.files[place.path]
    if not is_in_function(facts, place):
        raise NotPossibleError("it is kept while the module is loaded, before any kernel is bound")
    _, end = extent(facts.text, place)
    call = f".{model.dialect.slot_kernel}()"
    outer = parent_of(facts, place)
    if isinstance(outer, ast.Attribute):
        end = extent(facts.text, model.place(facts.path, span_of(outer)))[1]
        asked = outer.attr == model.dialect.slot_kernel
        edit = Edit(end, end, "()") if asked else Edit(end - len(outer.attr) - 1, end, call)
    else:
        edit = Edit(end, end, call)
    return Proposal(Fix(f"take what `{call[1:]}` gives instead of the slot", safe=False), lambda: (edit,))


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
