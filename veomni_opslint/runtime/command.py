"""From the options of ``opslint runtime`` to a run and the report on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veomni_opslint.check import Request, checked
from veomni_opslint.errors import RunError
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


def require_use(outcome: Outcome) -> Outcome:
    """The outcome, unless nothing at all works with the interpreter; findings are worth more than that refusal.

    Raises:
        RunError: no kernel resolves, no module can be imported, and nothing was found.
    """
    run = outcome.run
    lacking = _lacking(run)
    if lacking and not outcome.report.findings:
        raise RunError(
            f"nothing of {run.model.package} works with {run.environment.executable}: no kernel resolves and no module "
            f"with slots can be imported, because {lacking} is not installed; `--python` names the interpreter of the "
            "environment that jobs run in"
        )
    return outcome


def _lacking(run: RuntimeRun) -> str:
    """The package without which nothing at all works, though it is not optional; empty if there is none."""
    optional = run.model.dialect.optional_packages
    if not run.modules or any(kernel.status not in {"missing", "gated"} for kernel in run.kernels):
        return ""
    missing = [module.missing for module in run.modules]
    return missing[0] if all(name and ".so" not in name and name not in optional for name in missing) else ""
