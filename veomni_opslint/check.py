"""The pipeline of ``opslint check``: discover, read, extract, link, apply the rules, suppress, report."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from veomni_opslint.dialect_check import doubt_about_dialect
from veomni_opslint.discovery import Project, discover
from veomni_opslint.errors import RunError
from veomni_opslint.extract import extract
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Finding, Severity
from veomni_opslint.fingerprints import with_fingerprints
from veomni_opslint.model import OpsModel, build_model
from veomni_opslint.project_metadata import with_installed
from veomni_opslint.proposals import with_fixes
from veomni_opslint.report import Coverage, Report, at_least
from veomni_opslint.rule_loader import NOTHING_ASKED, LoadedRule, Selection, load_rules, select_rules
from veomni_opslint.rule_settings import rule_options, rules_by_file, severities
from veomni_opslint.settings import Settings
from veomni_opslint.source import Source, decode_source, read_data, read_source
from veomni_opslint.suppress import suppress


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for. ``stdin`` is the content of the file ``stdin_path``, which need not exist.

    ``contents`` are what files (paths relative to the root) are taken to hold, whatever is on disk: fixes are checked
    before they are written.
    """

    paths: tuple[str, ...]
    root: str | None = None
    config: str | None = None
    selection: Selection = NOTHING_ASKED
    min_severity: Severity = Severity.WARNING
    stdin_path: str | None = None
    stdin: bytes = b""
    contents: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Analysis:
    """A project, linked."""

    project: Project
    settings: Settings
    model: OpsModel
    files: Mapping[str, FileFacts]


@dataclass(frozen=True, slots=True)
class Checked:
    """A report and what it was made from."""

    report: Report
    analysis: Analysis


class InternalError(RunError):
    """A fault of opslint itself; its cause is shown with ``--verbose``."""


def check(request: Request) -> Report:
    """Run every selected rule over the project that the paths belong to.

    Raises:
        RunError: the run could not be made.
    """
    return checked(request).report


def checked(request: Request) -> Checked:
    """The same, with the model for who wants to change what was found.

    Raises:
        RunError: the run could not be made.
    """
    project, settings = discover(request.paths, root=request.root, config=request.config, stdin_path=request.stdin_path)
    rules = load_rules()
    configured = Selection(settings.select, settings.ignore, settings.extend_select)
    selected = select_rules(rules, configured, request.selection, settings.describe())
    with _collector_paused():
        analysis = analyse(project, settings, contents_of(request, project))
        found, timings = _apply(selected, analysis.model)
    files = _files_checked(analysis)
    kept, suppressed = _filter(found, analysis, selected)
    shown = with_fixes(at_least(kept, request.min_severity), analysis.model, selected)
    report = Report(
        root=project.root,
        package=project.package,
        settings=settings.describe(),
        findings=shown,
        hidden=len(kept) - len(shown),
        suppressed=suppressed,
        files=files,
        coverage=_coverage(analysis),
        excerpts=dict(_excerpts(shown, analysis.files)),
        timings=timings,
        doubt=doubt_about_dialect(analysis.model, settings),
    )
    return Checked(report, analysis)


def contents_of(request: Request, project: Project) -> Mapping[str, bytes]:
    """What files hold that are not to be read from disk."""
    if request.stdin_path is None:
        return request.contents
    path = os.path.relpath(request.stdin_path, project.root).replace(os.sep, "/")
    return {path: request.stdin, **request.contents}


def analyse(project: Project, settings: Settings, contents: Mapping[str, bytes] | None = None) -> Analysis:
    """Read and link the files of *project*; *contents* take the place of what is on disk.

    Raises:
        RunError: a rule option is wrong, or opslint failed on a file.
    """
    options = rule_options(settings, load_rules())
    settings = replace(settings, dialect=with_installed(settings.dialect, project.root))
    contents = contents or {}
    files: dict[str, FileFacts] = {}
    problems: list[Source] = []
    with _collector_paused():
        for path in project.files:
            source = decode_source(path, contents[path]) if path in contents else read_source(project.root, path)
            if source.problem is not None:
                problems.append(source)
                continue
            files[path] = _extract(source, settings)
        yaml_sources: dict[str, bytes] = {}
        for path in project.yaml_files:
            data = read_data(project.root, path)
            if isinstance(data, bytes):
                yaml_sources[path] = data
            else:
                problems.append(Source(path, "", data))
        project = replace(project, problems=(*project.problems, *problems))
        model = build_model(project, files, settings.dialect, options, yaml_sources)
    return Analysis(project, settings, model, files)


def _extract(source: Source, settings: Settings) -> FileFacts:
    try:
        return extract(source, settings.dialect)
    except Exception as error:
        raise InternalError(f"{source.path}: opslint failed to analyse it: {_cause(error)}") from error


def _apply(
    selected: Iterable[LoadedRule], model: OpsModel
) -> tuple[tuple[Finding, ...], tuple[tuple[str, float], ...]]:
    found: list[Finding] = []
    timings = []
    for loaded in selected:
        started = time.perf_counter()
        try:
            found.extend(loaded.check(model))
        except Exception as error:
            code, name = loaded.rule.code, loaded.rule.name
            raise InternalError(
                f"rule {code} {name} failed: {_cause(error)}; this is a fault of opslint: "
                f"`--ignore {code}` runs without the rule, `--verbose` shows the traceback"
            ) from error
        timings.append((loaded.rule.code, time.perf_counter() - started))
    return tuple(found), tuple(timings)


def _filter(
    found: Iterable[Finding], analysis: Analysis, selected: Sequence[LoadedRule]
) -> tuple[tuple[Finding, ...], int]:
    """Apply what the settings and the comments in the code say; answer what is left and how many comments silenced."""
    rules = load_rules()
    levels = severities(analysis.settings, rules)
    project = analysis.project
    findings = with_fingerprints(found)
    paths = {*project.files, *(finding.place.path for finding in findings)}
    ran = rules_by_file(filter(project.reports, paths), analysis.settings, selected)
    relevant = tuple(finding for finding in findings if finding.code in ran.get(finding.place.path, ()))
    result = suppress(relevant, analysis.files, rules, ran)
    kept = (replace(finding, severity=levels.get(finding.code, finding.severity)) for finding in result.kept)
    return with_fingerprints(kept), result.silenced


def _files_checked(analysis: Analysis) -> int:
    """How many files the findings could be about: Python files, and YAML files that configure jobs."""
    project = analysis.project
    paths = [*project.files, *(job.yaml.path for job in analysis.model.job_files)]
    problems = any(project.reports(problem.path) for problem in project.problems)
    if not problems and not any(map(project.reports, paths)):
        shown = ", ".join(sorted(project.requested or ()))
        raise RunError(f"nothing to check in {shown}: no Python file, and no YAML file that configures a job")
    return sum(map(project.reports, paths))


def _coverage(analysis: Analysis) -> Coverage:
    registrations = analysis.model.registrations
    return Coverage(
        files=len(analysis.project.files),
        unreadable_files=len(analysis.project.problems)
        + sum(facts.problem is not None for facts in analysis.files.values()),
        kernel_specs=len(registrations.kernel_specs),
        op_specs=len(registrations.op_specs),
        op_slots=len(analysis.model.slots),
        unresolved=registrations.unresolved,
    )


def _excerpts(findings: Iterable[Finding], files: Mapping[str, FileFacts]) -> Iterator[tuple[tuple[str, int], str]]:
    lines: dict[str, list[str]] = {}
    for finding in findings:
        path, line = finding.place.path, finding.place.line
        if path in files:
            text = lines.setdefault(path, files[path].text.split("\n"))
            if line <= len(text):
                yield (path, line), text[line - 1]


def _cause(error: Exception) -> str:
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f" ({os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno})" if frame is not None else ""
    return f"{type(error).__name__}: {error}".splitlines()[0] + where


@contextmanager
def _collector_paused() -> Iterator[None]:
    """What is allocated is kept until the report is made, so collecting costs a fifth of the time and frees nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
