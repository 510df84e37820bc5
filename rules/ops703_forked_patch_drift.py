"""An NPU config's copy of a GPU patch differs in signature from what its reused callers pass."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.forked_patches import Drift, drifts
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.WARNING)


def check(model: OpsModel) -> Iterator[Finding]:
    said: set[tuple[str, str]] = set()
    for drift in drifts(model):
        key = (drift.plan.generated, drift.fork.target)
        if key not in said:
            said.add(key)
            yield _finding(model, drift)


def _finding(model: OpsModel, drift: Drift) -> Finding:
    generated = drift.plan.generated.rpartition(".")[2]
    message = (
        f"`{drift.fork.target}` is written anew here, but `{drift.caller.target}`, taken over from another config, "
        f"calls it as `{drift.call.name}(...)`, and this version {drift.problem}: in {generated} the call raises "
        "TypeError; give it the parameters that its callers count on"
    )
    related = [Related(model.place(drift.caller_path, drift.call.span), "called here")]
    if drift.original is not None:
        related.append(Related(model.place(drift.original.path, span_of(drift.original.node)), "the other version"))
    asked = model.place(drift.caller.origin.path, drift.caller.origin.span)
    related.append(Related(asked, f"`{drift.caller.target}` is taken over here"))
    return rule.finding(model.place(drift.definition.path, span_of(drift.definition.node)), message, related)
