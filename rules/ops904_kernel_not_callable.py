"""A kernel of which `resolve()` returns something that cannot be called, or that `--call` finds to be wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from veomni_opslint.findings import Finding, Severity
from veomni_opslint.rule import Rule

if TYPE_CHECKING:
    from veomni_opslint.runtime.observation import RuntimeRun

rule = Rule.of(__name__, Severity.ERROR)


def judge(run: RuntimeRun) -> Iterator[Finding]:
    # Only a run needs them.
    from veomni_opslint.runtime.kernels import (  # noqa: PLC0415
        failure_place,
        kernel_place,
        registration,
        traceback_places,
    )
    from veomni_opslint.runtime.words import call_words  # noqa: PLC0415

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
        elif kernel.call is not None and not kernel.call.passed:
            yield rule.finding(
                failure_place(run, kernel.call.failure) or kernel_place(run, kernel),
                f"{kernel.title} resolves, but fails with the examples of its op ({call_words(kernel.call)})",
                [*registration(run, kernel), *traceback_places(run, kernel.call.failure)],
            )
