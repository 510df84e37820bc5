"""What a run found: the one product that every output format renders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from veomni_opslint.findings import Finding, Place, Severity
from veomni_opslint.registrations import Unresolved
from veomni_opslint.rule_loader import LoadedRule

BaselineUse: TypeAlias = Literal["apply", "write", "prune", "none"]
SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFO)


class Coverage(NamedTuple):
    """How much of the project opslint could know."""

    files: int
    unreadable_files: int
    kernel_specs: int
    op_specs: int
    op_slots: int
    unresolved: tuple[Unresolved, ...]


class Silenced(NamedTuple):
    """A finding that a comment in the code silences, and the reason that the comment gives."""

    finding: Finding
    reason: str


class Replacement(NamedTuple):
    """New text for a range of the file that a finding is in, as a part of its fix."""

    place: Place
    text: str


class BaselineChange(NamedTuple):
    """The baseline as it is to be written; ``text`` is None where it is so already."""

    path: str
    text: str | None
    entries: int
    added: int
    removed: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Report:
    """The findings to show, sorted, and what was counted on the way.

    ``settings`` says where they come from. ``files`` is the number of those that findings were asked for. ``excerpts``
    are the source lines of findings, by path and line.
    ``hidden`` is the number of findings below the level shown, old or new. Of the others, the baseline accepts
    ``baselined``, and the revision ``new_from`` has ``not_new``, too. ``baseline`` says that there is one.
    ``silenced`` and ``accepted`` are the findings of the level shown that comments silence and the baseline accepts.
    ``replacements`` are the fixes by the fingerprint of their finding, where they were asked for. ``rules`` are
    all that there are.
    ``timings`` are the seconds each rule took, ``stages`` those of the stages of the run. ``doubt`` is a reason to
    distrust the result, for standard error.
    """

    root: str
    package: str
    settings: str
    findings: tuple[Finding, ...]
    hidden: int
    suppressed: int
    files: int
    coverage: Coverage
    baselined: int = 0
    not_new: int = 0
    new_from: str | None = None
    baseline: bool = False
    baseline_change: BaselineChange | None = None
    silenced: tuple[Silenced, ...] = ()
    accepted: tuple[Finding, ...] = ()
    replacements: Mapping[str, tuple[Replacement, ...]] = field(default_factory=dict)
    rules: tuple[LoadedRule, ...] = ()
    excerpts: Mapping[tuple[str, int], str] = field(default_factory=dict)
    timings: tuple[tuple[str, float], ...] = ()
    stages: tuple[tuple[str, float], ...] = ()
    doubt: str | None = None

    def count(self, severity: Severity) -> int:
        """How many of the findings shown are of *severity*."""
        return sum(finding.severity is severity for finding in self.findings)

    def files_with_findings(self) -> int:
        """In how many files the findings shown are."""
        return len({finding.place.path for finding in self.findings})

    def by_rule(self) -> dict[str, int]:
        """The number of findings shown by code, sorted by code."""
        codes = sorted(finding.code for finding in self.findings)
        return {code: codes.count(code) for code in dict.fromkeys(codes)}

    def exit_status(self, *, strict: bool, exit_zero: bool) -> int:
        """1 when a finding has to fail the run, else 0."""
        failing = self.count(Severity.ERROR) + (self.count(Severity.WARNING) if strict else 0)
        return 1 if failing and not exit_zero else 0


def at_least(findings: Iterable[Finding], minimum: Severity) -> tuple[Finding, ...]:
    """The findings of *minimum* severity or worse."""
    shown = SEVERITIES[: SEVERITIES.index(minimum) + 1]
    return tuple(finding for finding in findings if finding.severity in shown)
