"""Importing the ops package loads an optional dependency."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.rule import Rule

if TYPE_CHECKING:
    from veomni_opslint.runtime.observation import LoadedOptional, RuntimeRun

rule = Rule.of(__name__, Severity.ERROR)


def judge(run: RuntimeRun) -> Iterator[Finding]:
    costs = {cost.package: cost for cost in run.imported.packages}
    on_npu = run.environment.device == "npu"
    for loaded in run.imported.optional:
        if on_npu and loaded.package in run.model.dialect.npu_packages:
            # Behind its guard it is how torch gets the device at all.
            continue
        importer = loaded.chain[-1] if loaded.chain else None
        if importer is None or importer.place is None:
            # Another package imports it: the program cannot be lazier than what it depends on.
            continue
        cost = costs.get(loaded.package)
        took = f" in {cost.seconds:.2f} s with {cost.memory / (1 << 20):.0f} MiB" if cost is not None else ""
        yield rule.finding(
            importer.place,
            f"importing {run.model.ops_package} loads `{loaded.package}`{took}: every process of a job pays, and "
            "one where it is broken cannot start; import it in the factory that needs it",
            list(_chain(loaded)),
        )


def _chain(loaded: LoadedOptional) -> Iterator[Related]:
    for link in loaded.chain[:-1]:
        if link.place is not None:
            yield Related(link.place, f"`{link.importer}` imports `{link.module}`")
