"""From the options of ``opslint runtime`` to a run and the report on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veomni_opslint.check import Request, checked
from veomni_opslint.findings import Finding
from veomni_opslint.model import OpsModel
from veomni_opslint.report import Report
from veomni_opslint.rule_loader import LoadedRule
from veomni_opslint.runtime.observation import RuntimeRun
from veomni_opslint.runtime.observe import Progress, observe
from veomni_opslint.runtime.request import RuntimeOptions


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was seen, and the findings about it."""

    run: RuntimeRun
    report: Report


def examine(request: Request, options: RuntimeOptions, progress: Progress | None = None) -> Outcome:
    """Run the program that the paths of *request* belong to, and judge what was seen.

    Raises:
        RunError: the run could not be made.
    """
    runs: list[RuntimeRun] = []

    def judge(
        selected: Sequence[LoadedRule], model: OpsModel
    ) -> tuple[tuple[Finding, ...], tuple[tuple[str, float], ...]]:
        run = observe(model, options, progress)
        runs.append(run)
        found: list[Finding] = []
        for loaded in selected:
            if loaded.judge is not None:
                found.extend(loaded.judge(run))
        return tuple(found), ()

    report = checked(request, judge).report
    return Outcome(runs[0], report)
