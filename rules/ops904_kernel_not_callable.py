"""A kernel of which `resolve()` returns something that cannot be called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from veomni_opslint.findings import Finding, Severity
from veomni_opslint.rule import Rule

if TYPE_CHECKING:
    from veomni_opslint.runtime.observation import RuntimeRun

rule = Rule.of(__name__, Severity.ERROR)


def judge(run: RuntimeRun) -> Iterator[Finding]:
    from veomni_opslint.runtime.kernels import kernel_place, registration  # noqa: PLC0415 - only a run needs it

    for kernel in run.kernels:
        if kernel.status == "not-callable":
            consequence = (
                "the slot counts as eager, so the job trains without the kernel that it selects"
                if kernel.returned.startswith("None ")
                else "the first call of the slot fails"
            )
            yield rule.finding(
                kernel_place(run, kernel),
                f"{kernel.title}: {kernel.reason}: {consequence}; the factory has to return the kernel",
                registration(run, kernel),
            )
