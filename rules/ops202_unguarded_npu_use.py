"""An NPU namespace (`torch_npu`, `torch.npu`) is used in shared code outside an NPU guard."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.reach import Unguarded
from veomni_opslint.model.stand_ins import stand_in
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)


def check(model: OpsModel) -> Iterator[Finding]:
    for fault in model.reach.unguarded_uses():
        path = model.module(fault.module).path
        chain = (
            Related(model.place(model.module(hop.module).path, hop.span), f"{hop.module} {hop.action}")
            for hop in fault.chain
        )
        yield rule.finding(
            model.place(path, fault.span),
            f"`{fault.subject}` is used outside an NPU guard in code that GPU and CPU hosts run too: "
            f"{_effect(model, fault)}; guard it with `{model.dialect.npu_guards[0]}()` or move it into an NPU file",
            chain,
        )


def _effect(model: OpsModel, fault: Unguarded) -> str:
    """What the use does there."""
    root, _, attribute = fault.subject.partition(".")
    if root == "torch":
        return "it raises AttributeError there"
    if not stand_in(model.symbols, fault.module, 0, root):
        return "it raises NameError there"
    return f"it is None there, and raises {'AttributeError' if attribute else 'TypeError'}"
