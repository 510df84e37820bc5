"""Applying the rules to a model, and what the settings and the comments in the code leave of their findings."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from veomni_opslint.analysis import Analysis
from veomni_opslint.errors import InternalError, RunError, cause_of
from veomni_opslint.findings import Finding
from veomni_opslint.fingerprints import with_fingerprints
from veomni_opslint.model import OpsModel
from veomni_opslint.report import Silenced
from veomni_opslint.rule_levels import read_levels
from veomni_opslint.rule_loader import LoadedRule
from veomni_opslint.rule_settings import rules_by_file
from veomni_opslint.settings import shown_path
from veomni_opslint.suppress import suppress


class Outcome(NamedTuple):
    """The findings that count, those that comments silence, and the codes of the rules that count by path."""

    findings: tuple[Finding, ...]
    silenced: tuple[Silenced, ...]
    ran: Mapping[str, frozenset[str]]


def apply_rules(
    selected: Iterable[LoadedRule], model: OpsModel
) -> tuple[tuple[Finding, ...], tuple[tuple[str, float], ...]]:
    """All findings of the *selected* rules, and the seconds each of them took.

    Raises:
        InternalError: a rule failed.
        RunError: an option of a rule has a value that it cannot use.
    """
    found: list[Finding] = []
    timings = []
    for loaded in selected:
        started = time.perf_counter()
        try:
            found.extend(_own_findings(loaded, model) if loaded.file else loaded.check(model))
        except RunError:
            # The settings of the rule are wrong, which is no fault of the rule.
            raise
        except (Exception, SystemExit) as error:
            code, name = loaded.rule.code, loaded.rule.name
            whose = shown_path(loaded.file) if loaded.file else "opslint"
            raise InternalError(
                f"rule {code} {name} failed: {cause_of(error)}; this is a fault of {whose}: "
                f"`--ignore {code}` runs without the rule, `--verbose` shows the traceback"
            ) from error
        timings.append((loaded.rule.code, time.perf_counter() - started))
    return tuple(found), tuple(timings)


def _own_findings(loaded: LoadedRule, model: OpsModel) -> Iterator[Finding]:
    """What a rule of somebody else gives has to be what is said of it, or it would be dropped in silence."""
    for finding in loaded.check(model):
        if not isinstance(finding, Finding):
            raise TypeError(f"it yields {finding!r}, which is no Finding")
        if finding.code != loaded.rule.code:
            raise ValueError(f"it yields a finding of {finding.code}; `rule.finding(...)` makes one of its own")
        yield finding


def filter_findings(
    found: Iterable[Finding],
    analysis: Analysis,
    rules: tuple[LoadedRule, ...],
    selected: Sequence[LoadedRule],
    further_paths: Iterable[str] = (),
) -> Outcome:
    """Apply what the settings and the comments in the code say. *further_paths* are asked about, whatever was found."""
    levels = read_levels(analysis.settings, rules)
    project = analysis.project
    findings = with_fingerprints(found)
    paths = {*project.files, *(finding.place.path for finding in findings), *further_paths}
    ran = rules_by_file(filter(project.reports, paths), analysis.settings, rules, selected, levels)
    relevant = tuple(finding for finding in findings if finding.code in ran.get(finding.place.path, ()))
    result = suppress(relevant, analysis.files, rules, ran, require_reason=analysis.settings.require_reason)

    def levelled(finding: Finding) -> Finding:
        return replace(finding, severity=levels.of(finding.code, finding.place.path) or finding.severity)

    silenced = tuple(one._replace(finding=levelled(one.finding)) for one in result.silenced)
    return Outcome(with_fingerprints(map(levelled, result.kept)), silenced, ran)
