"""A kernel whose `resolve()` kills its process, exhausts the memory, or does not return."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from veomni_opslint.findings import Finding, Severity
from veomni_opslint.rule import Rule

if TYPE_CHECKING:
    from veomni_opslint.runtime.observation import RuntimeRun

rule = Rule.of(__name__, Severity.ERROR)


def judge(run: RuntimeRun) -> Iterator[Finding]:
    from veomni_opslint.runtime.kernels import kernel_place, package_place, registration  # noqa: PLC0415 - only a run needs it

    imported = run.imported
    if imported.status in {"crashed", "timeout"}:
        yield rule.finding(
            package_place(run),
            f"importing {run.model.ops_package} ends the process: {imported.reason}; every job ends the same way",
        )
    for kernel in run.kernels:
        if kernel.status in {"crashed", "timeout"}:
            what = "hangs in" if kernel.status == "timeout" else "dies in"
            yield rule.finding(
                kernel_place(run, kernel),
                f"{kernel.title} {what} resolve(): {kernel.reason}; so does every rank of a job that selects it, "
                "without an exception that says why",
                registration(run, kernel),
            )
