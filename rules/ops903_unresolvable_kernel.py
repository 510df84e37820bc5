"""A kernel that `opslint runtime` cannot resolve although its hardware requirement holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from veomni_opslint.findings import Finding, Severity
from veomni_opslint.rule import Rule

if TYPE_CHECKING:
    from veomni_opslint.runtime.observation import RuntimeRun

rule = Rule.of(__name__, Severity.ERROR)


def judge(run: RuntimeRun) -> Iterator[Finding]:
    from veomni_opslint.runtime import kernels  # noqa: PLC0415 - only a run needs it

    imported = run.imported
    if imported.status in {"broken", "missing"}:
        yield rule.finding(
            kernels.failure_place(run, imported.failure) or kernels.package_place(run),
            f"importing {run.model.ops_package} fails, so no kernel resolves and no job starts: {imported.reason}",
            kernels.traceback_places(run, imported.failure),
        )
    for kernel in run.kernels:
        if kernel.status == "broken":
            yield rule.finding(
                kernels.failure_place(run, kernel.failure) or kernels.kernel_place(run, kernel),
                f"{kernel.title} does not resolve though its hardware requirement holds: {kernel.reason}; "
                "a job that selects it fails when the model is built",
                [*kernels.registration(run, kernel), *kernels.traceback_places(run, kernel.failure)],
            )
