"""What a baseline leaves of the findings, and how it changes when it is written or pruned."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from veomni_opslint.discovery import Project
from veomni_opslint.errors import RunError
from veomni_opslint.findings import Finding, Place, Severity
from veomni_opslint.fingerprints import with_fingerprints
from veomni_opslint.gate.baseline import Baseline, Entry, Scope, accepted, check_texts, entry_of, mark_of, read_baseline
from veomni_opslint.report import BaselineChange, BaselineUse, at_least
from veomni_opslint.rule_levels import read_levels
from veomni_opslint.rule_loader import LoadedRule
from veomni_opslint.rule_run import Outcome
from veomni_opslint.rule_settings import rules_by_file
from veomni_opslint.settings import Settings, shown_path

_STALE = "stale-baseline"


class BaselineFile(NamedTuple):
    """A baseline, where it is, and what to do with it. ``baseline`` is None where the file is yet to be written."""

    path: str
    use: BaselineUse
    baseline: Baseline | None

    def entry_paths(self) -> tuple[str, ...]:
        """The files that have entries."""
        return tuple(entry.path for entry in self.baseline.entries) if self.baseline is not None else ()


class Accepted(NamedTuple):
    """The findings that are not in the baseline, with those about the baseline itself."""

    findings: tuple[Finding, ...]
    change: BaselineChange | None = None


def open_baseline(asked: str | None, use: BaselineUse, project: Project, settings: Settings) -> BaselineFile | None:
    """The baseline that the command line asks for, or else the settings; None without one.

    Raises:
        RunError: it is missing, cannot be read or is damaged, or there is none to write or to prune.
    """
    path = asked
    if path is None and settings.baseline is not None:
        path = os.path.join(project.root, settings.baseline)
    if path is None:
        if use == "apply":
            return None
        raise RunError(
            f"--{use}-baseline: which file? give it with `--baseline FILE`, or set `baseline` in [tool.opslint]"
        )
    baseline = read_baseline(path)
    if baseline is None and use != "write":
        where = "--baseline" if asked is not None else f"{settings.describe()}: baseline"
        raise RunError(f"{where} {shown_path(path)}: no such file; `--write-baseline` makes it from what is found now")
    return BaselineFile(path, use, baseline)


def apply_baseline(
    file: BaselineFile,
    outcome: Outcome,
    lines: Mapping[tuple[str, int], str],
    project: Project,
    settings: Settings,
    rules: tuple[LoadedRule, ...],
    selected: Sequence[LoadedRule],
    minimum: Severity,
) -> Accepted:
    """Drop the findings that are in the baseline and add one for each entry that no longer occurs.

    *lines* are the lines of code that the findings are about. Only entries of rules that ran for their file can be
    stale. A baseline that is written takes what is found of *minimum* severity.

    Raises:
        RunError: an entry says something else than the finding that it accepts.
    """
    findings, ran = outcome.findings, outcome.ran
    marks = [mark_of(lines.get((finding.place.path, finding.place.line))) for finding in findings]
    scope: Scope = "package" if project.reads_package_only else "repository"
    before = file.baseline or Baseline(scope)
    check_texts(findings, before.entries, file.path)
    old = accepted(findings, marks, before.entries)
    codes = {loaded.rule.code for loaded in rules}
    judged = [entry for entry in before.entries if entry.code in ran.get(entry.path, ()) or entry.code not in codes]
    stale = _stale(judged, findings) if scope == before.scope else []
    if file.use == "write":
        chosen = old | set(at_least(findings, minimum))
        after = _rewritten(before, scope, judged, [(f, m) for f, m in zip(findings, marks, strict=True) if f in chosen])
        left = tuple(finding for finding in findings if finding not in chosen)
        return Accepted(left, _change(file, before, after))
    left = tuple(finding for finding in findings if finding not in old)
    if file.use == "prune":
        after = before._replace(entries=tuple(entry for entry in before.entries if entry not in stale))
        return Accepted(left, _change(file, before, after))
    about = _about_entries(file.path, stale, project, settings, rules, selected)
    return Accepted(with_fingerprints((*left, *about)))


def _stale(judged: Iterable[Entry], findings: Iterable[Finding]) -> list[Entry]:
    left = {finding.fingerprint for finding in findings}
    stale = []
    for entry in judged:
        if entry.fingerprint in left:
            left.remove(entry.fingerprint)
        else:
            stale.append(entry)
    return stale


def _rewritten(
    before: Baseline, scope: Scope, judged: Sequence[Entry], chosen: Sequence[tuple[Finding, str]]
) -> Baseline:
    """What this run could not judge stays; comments stay with their entries."""
    comments = {entry.fingerprint: entry.comment for entry in before.entries}
    kept = [entry for entry in before.entries if entry not in judged]
    written = (
        entry_of(finding, mark)._replace(comment=comments.get(finding.fingerprint, "")) for finding, mark in chosen
    )
    return Baseline(scope, (*kept, *written))


def _change(file: BaselineFile, before: Baseline, after: Baseline) -> BaselineChange:
    old = {entry.fingerprint for entry in before.entries}
    new = {entry.fingerprint for entry in after.entries}
    unchanged = file.baseline is not None and str(before) == str(after)
    return BaselineChange(
        path=file.path,
        text=None if unchanged else str(after),
        entries=len(new),
        added=len(new - old),
        removed=len(before.entries) - len(new & old) if file.use == "prune" else len(old - new),
    )


def _about_entries(
    path: str,
    stale: Iterable[Entry],
    project: Project,
    settings: Settings,
    rules: tuple[LoadedRule, ...],
    selected: Sequence[LoadedRule],
) -> Iterator[Finding]:
    shown = os.path.relpath(path, project.root).replace(os.sep, "/")
    loaded = next((loaded for loaded in rules if loaded.rule.name == _STALE), None)
    levels = read_levels(settings, rules)
    if loaded is None or loaded.rule.code not in rules_by_file([shown], settings, rules, selected, levels)[shown]:
        return
    severity = levels.of(loaded.rule.code, shown) or loaded.rule.severity
    known = {other.rule.code for other in rules}
    for entry in stale:
        finding = loaded.rule.finding(Place(shown, entry.line), _message(entry, known))
        yield replace(finding, severity=severity)


def _message(entry: Entry, known: Iterable[str]) -> str:
    if entry.code not in known:
        fault = f"`{entry.code}` names no rule, so the entry accepts nothing"
    else:
        fault = (
            f"the accepted {entry.code} of {entry.path} no longer occurs, so the entry would hide it if it came back"
        )
    return f"{fault}; `--prune-baseline` removes it"
