"""An NPU namespace (`torch_npu`, `torch.npu`) is used in shared code outside an NPU guard."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)


def check(model: OpsModel) -> Iterator[Finding]:
    for fault in model.reach.unguarded_uses():
        path = model.module(fault.module).path
        error = "AttributeError" if fault.subject.startswith("torch.") else "NameError"
        chain = (
            Related(model.place(model.module(hop.module).path, hop.span), f"{hop.module} {hop.action}")
            for hop in fault.chain
        )
        yield rule.finding(
            model.place(path, fault.span),
            f"`{fault.subject}` is used outside an NPU guard in code that GPU and CPU hosts run too: it raises {error} "
            f"there; guard it with `{model.dialect.npu_guards[0]}()` or move it into an NPU file",
            chain,
        )
