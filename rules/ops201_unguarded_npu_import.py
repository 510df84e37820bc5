"""An NPU-only module or package is imported on a path that no NPU guard dominates."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.callers import Hop
from veomni_opslint.model.reach import Unguarded
from veomni_opslint.proposals import Proposal
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)


def check(model: OpsModel) -> Iterator[Finding]:
    for fault in model.reach.unguarded_imports():
        path = model.module(fault.module).path
        yield rule.finding(model.place(path, fault.span), _message(model, fault), chain_of(model, fault.chain))


def fix(model: OpsModel, finding: Finding) -> Proposal | None:
    from veomni_opslint.guarding import guarded  # noqa: PLC0415 - only a finding needs it
    from veomni_opslint.restoring import put_back_or  # noqa: PLC0415 - as above

    return put_back_or(model, finding.place, lambda: guarded(model, finding.place))


def chain_of(model: OpsModel, chain: tuple[Hop, ...]) -> Iterator[Related]:
    """The links of a chain as related places, from the entry point on."""
    for hop in chain:
        path = model.module(hop.module).path
        yield Related(model.place(path, hop.span), f"{hop.module} {hop.action}")


def _message(model: OpsModel, fault: Unguarded) -> str:
    guard = f"`{model.dialect.npu_guards[0]}()`"
    remedy = f"put it behind {guard} or into a factory registered for the NPU"
    if fault.kind == "backend":
        return (
            f"the backend whose entry is in `{fault.subject}` does not require an NPU package: selecting it on a GPU "
            f"or CPU host raises ModuleNotFoundError; say `requires=({model.dialect.npu_packages[0]!r},)`"
        )
    if not model.npu_modules.needs_npu(fault.subject):
        when = f" when `{fault.module}` is loaded" if fault.at_module_level else ""
        return (
            f"`{fault.subject}` is generated for the NPU and imported without an NPU guard{when}: it loads on a GPU or "
            f"CPU host too, and the models there run the code that is meant for the NPU; put it behind {guard}"
        )
    if fault.at_module_level:
        return (
            f"`{fault.subject}` is imported without an NPU guard when `{fault.module}` is loaded: "
            f"loading it on a GPU or CPU host raises ModuleNotFoundError; {remedy}"
        )
    return (
        f"`{fault.subject}` is imported on a path without an NPU guard: "
        f"on a GPU or CPU host it raises ModuleNotFoundError there; {remedy}"
    )
