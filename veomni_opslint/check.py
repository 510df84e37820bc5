"""The pipeline of ``opslint check``: discover, read, extract, link, apply the rules, suppress, report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from veomni_opslint.analysis import Analysis, analyse, collector_paused
from veomni_opslint.dialect_check import doubt_about_dialect
from veomni_opslint.discovery import Project, discover
from veomni_opslint.errors import RunError
from veomni_opslint.findings import Finding, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.own_rules import project_rules
from veomni_opslint.proposals import with_fixes
from veomni_opslint.report import BaselineChange, BaselineUse, Coverage, Report, at_least
from veomni_opslint.rule_levels import read_levels
from veomni_opslint.rule_loader import NOTHING_ASKED, LoadedRule, Selection, select_rules
from veomni_opslint.rule_run import Outcome, apply_rules, filter_findings
from veomni_opslint.settings import Settings
from veomni_opslint.stopwatch import Stopwatch
from veomni_opslint.twins import with_twins

if TYPE_CHECKING:
    from veomni_opslint.gate.apply_baseline import BaselineFile


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for. ``stdin`` is the content of the file ``stdin_path``, which need not exist.

    ``contents`` are what files (paths relative to the root) are taken to hold, whatever is on disk: fixes are checked
    before they are written. With ``replacements`` the report holds the text of the fixes, too, which takes time.
    """

    paths: tuple[str, ...]
    root: str | None = None
    config: str | None = None
    selection: Selection = NOTHING_ASKED
    min_severity: Severity = Severity.WARNING
    stdin_path: str | None = None
    stdin: bytes = b""
    contents: Mapping[str, bytes] = field(default_factory=dict)
    baseline: str | None = None
    baseline_use: BaselineUse = "apply"
    new_from: str | None = None
    replacements: bool = False


class Checked(NamedTuple):
    """A report and what it was made from."""

    report: Report
    analysis: Analysis


Judge: TypeAlias = Callable[[Sequence[LoadedRule], OpsModel], tuple[tuple[Finding, ...], tuple[tuple[str, float], ...]]]
"""Applies rules: what they found, and the seconds that each of them took."""


def check(request: Request) -> Report:
    """Run every selected rule over the project that the paths belong to.

    Raises:
        RunError: the run could not be made.
    """
    return checked(request).report


def checked(request: Request, judge: Judge | None = None) -> Checked:
    """The same, with the model for who wants to change what was found.

    With *judge* it is the rules about a run of the program that are selected, and *judge* that applies them.

    Raises:
        RunError: the run could not be made.
    """
    watch = Stopwatch()
    project, settings = discover(request.paths, root=request.root, config=request.config, stdin_path=request.stdin_path)
    watch.lap("discover")
    rules = project_rules(project.root, settings)
    off = read_levels(settings, rules).off
    configured = Selection(settings.select, (*settings.ignore, *off), settings.extend_select)
    selected = select_rules(rules, configured, request.selection, settings.describe(), runtime=judge is not None)
    baseline = _open_baseline(request, project, settings)
    watch.lap("load rules")
    with collector_paused():
        analysis = analyse(project, settings, contents_of(request, project), watch, rules)
        found, timings = (judge or apply_rules)(selected, analysis.model)
    watch.lap("rules")
    files = _files_checked(analysis)
    outcome = filter_findings(found, analysis, rules, selected, baseline.entry_paths() if baseline else ())
    unaccepted, accepted, change = _against_baseline(baseline, request, outcome, analysis, rules, selected)
    watch.lap("suppressions and baseline")
    left, doubt = unaccepted, None
    if request.new_from is not None:
        # Loaded late: it starts other programs, and most runs need none.
        from veomni_opslint.gate.new_from import new_since  # noqa: PLC0415

        with collector_paused():
            left, doubt = new_since(request.new_from, unaccepted, analysis, settings, rules, selected)
        watch.lap("the other revision")
    shown = with_fixes(at_least(left, request.min_severity), analysis.model, selected)
    shown = with_twins(shown, settings.dialect)
    replacements = {}
    if request.replacements:
        from veomni_opslint.replacements import replacements_of  # noqa: PLC0415 - one format holds them

        replacements = replacements_of(shown, analysis, selected)
    watch.lap("fixes")
    report = Report(
        root=project.root,
        package=project.package,
        settings=settings.describe(),
        findings=shown,
        hidden=_below((*unaccepted, *accepted), request.min_severity),
        suppressed=len(outcome.silenced),
        files=files,
        coverage=_coverage(analysis),
        baselined=len(at_least(accepted, request.min_severity)),
        not_new=len(at_least(unaccepted, request.min_severity)) - len(shown),
        new_from=request.new_from,
        baseline=baseline is not None,
        baseline_change=change,
        silenced=tuple(one for one in outcome.silenced if at_least((one.finding,), request.min_severity)),
        accepted=at_least(accepted, request.min_severity),
        replacements=replacements,
        rules=rules,
        excerpts=dict(_excerpts(shown, analysis)),
        timings=timings,
        stages=watch.stages(),
        doubt=doubt or doubt_about_dialect(analysis.model, settings),
    )
    return Checked(report, analysis)


def _open_baseline(request: Request, project: Project, settings: Settings) -> BaselineFile | None:
    none_given = request.baseline is None and settings.baseline is None
    if request.baseline_use == "none" or (none_given and request.baseline_use == "apply"):
        return None
    from veomni_opslint.gate.apply_baseline import open_baseline  # noqa: PLC0415 - most runs need none

    return open_baseline(request.baseline, request.baseline_use, project, settings)


def _against_baseline(
    baseline: BaselineFile | None,
    request: Request,
    outcome: Outcome,
    analysis: Analysis,
    rules: tuple[LoadedRule, ...],
    selected: tuple[LoadedRule, ...],
) -> tuple[tuple[Finding, ...], tuple[Finding, ...], BaselineChange | None]:
    """The findings that a baseline does not accept, those that it does, and how it has to change."""
    if baseline is None:
        return outcome.findings, (), None
    from veomni_opslint.gate.apply_baseline import apply_baseline  # noqa: PLC0415 - most runs need none

    lines = dict(_excerpts(outcome.findings, analysis))
    unaccepted, change = apply_baseline(
        baseline, outcome, lines, analysis.project, analysis.settings, rules, selected, request.min_severity
    )
    left = set(unaccepted)
    return unaccepted, tuple(finding for finding in outcome.findings if finding not in left), change


def contents_of(request: Request, project: Project) -> Mapping[str, bytes]:
    """What files hold that are not to be read from disk."""
    if request.stdin_path is None:
        return request.contents
    path = os.path.relpath(request.stdin_path, project.root).replace(os.sep, "/")
    return {path: request.stdin, **request.contents}


def _below(findings: Sequence[Finding], minimum: Severity) -> int:
    """How many findings are below the level shown, whether they are old or new."""
    return len(findings) - len(at_least(findings, minimum))


def _files_read(analysis: Analysis) -> list[str]:
    """The files that findings could be about: Python files, documents, YAML files of jobs and of workflows."""
    project, model = analysis.project, analysis.model
    jobs = (job.yaml.path for job in model.job_files)
    return [*project.files, *project.documents, *jobs, *model.workflow_sources]


def _files_checked(analysis: Analysis) -> int:
    """How many of the files read are reported on."""
    project = analysis.project
    paths = _files_read(analysis)
    problems = any(project.reports(problem.path) for problem in project.problems)
    if not problems and not any(map(project.reports, paths)):
        shown = ", ".join(sorted(project.requested or ()))
        raise RunError(
            f"nothing to check in {shown}: no Python file, no document, and no YAML file that configures a job"
        )
    return sum(map(project.reports, paths))


def _coverage(analysis: Analysis) -> Coverage:
    registrations = analysis.model.registrations
    return Coverage(
        files=len(_files_read(analysis)),
        unreadable_files=len(analysis.project.problems)
        + sum(facts.problem is not None for facts in analysis.files.values()),
        kernel_specs=len(registrations.kernel_specs),
        op_specs=len(registrations.op_specs),
        op_slots=len(analysis.model.slots),
        unresolved=registrations.unresolved,
    )


def _excerpts(findings: Iterable[Finding], analysis: Analysis) -> Iterator[tuple[tuple[str, int], str]]:
    lines: dict[str, list[str]] = {}
    for finding in findings:
        path, line = finding.place.path, finding.place.line
        if path not in lines:
            facts = analysis.files.get(path)
            lines[path] = facts.lines if facts is not None else (analysis.text(path) or "").split("\n")
        if line <= len(lines[path]):
            yield (path, line), lines[path][line - 1]
