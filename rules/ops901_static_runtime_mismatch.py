"""What the running program registers is not what its source says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.rule import Rule

if TYPE_CHECKING:
    from veomni_opslint.runtime.observation import RuntimeRun

rule = Rule.of(__name__, Severity.ERROR)


def judge(run: RuntimeRun) -> Iterator[Finding]:
    from veomni_opslint.runtime.compare import differences  # noqa: PLC0415 - only a run needs it

    if run.imported.status != "ok":
        return
    for one in differences(run):
        related = [Related(one.runtime_place, "the factory that runs")] if one.runtime_place is not None else []
        yield rule.finding(
            one.place,
            f"{one.what}; what depends on the environment of a process can differ between the ranks of a job, "
            "and what opslint checks is not what runs",
            related,
        )
