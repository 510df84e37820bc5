"""Compare the findings before and after an edit with what the edit must cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evaluation.mutations.draft import Expected
from evaluation.opslint_child import Reported

Key: TypeAlias = Callable[[Reported], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was wrong with one mutation's run; nothing when ``good``.

    ``consequences`` are findings that the fault caused or took away and that are not counted.
    """

    id: str
    missing: tuple[Expected, ...] = ()
    elsewhere: tuple[tuple[Expected, Reported], ...] = ()
    unexpected: tuple[Reported, ...] = ()
    vanished: tuple[Reported, ...] = ()
    problem: str = ""
    consequences: tuple[Reported, ...] = ()

    @property
    def good(self) -> bool:
        return not (self.missing or self.elsewhere or self.unexpected or self.vanished or self.problem)


def judge(
    name: str,
    before: Sequence[Reported],
    after: Sequence[Reported],
    expected: Sequence[Expected],
    gone: frozenset[tuple[str, str]] = frozenset(),
    apart: frozenset[str] = frozenset(),
) -> Verdict:
    """Demand every expected finding, and that no other one appears or disappears but of the rules set *apart*."""
    added, removed = changes(before, after)
    unexpected = [finding for finding in added if not any(_fits(one, finding) for one in expected)]
    missing, elsewhere = [], []
    for one in _demanded(expected, added):
        near = next((finding for finding in unexpected if (finding.code, finding.path) == (one.code, one.path)), None)
        if near is None:
            missing.append(one)
        else:
            elsewhere.append((one, near))
            unexpected.remove(near)
    vanished = [finding for finding in removed if (finding.code, finding.path) not in gone]
    return Verdict(
        name,
        tuple(missing),
        tuple(elsewhere),
        tuple(finding for finding in unexpected if finding.code not in apart),
        tuple(finding for finding in vanished if finding.code not in apart),
        consequences=tuple(finding for finding in (*unexpected, *vanished) if finding.code in apart),
    )


def changes(before: Sequence[Reported], after: Sequence[Reported]) -> tuple[list[Reported], list[Reported]]:
    """The findings that are new and those that are no more, whatever lines moved."""
    added = _without(after, before, _said)
    removed = _without(before, after, _said)
    same = Counter(finding.fingerprint for finding in added if finding.fingerprint) & Counter(
        finding.fingerprint for finding in removed if finding.fingerprint
    )
    return _drop(added, same), _drop(removed, same)


def describe(verdict: Verdict, *, consequences: bool = False) -> list[str]:
    """The lines of a report about one mutation."""
    apart = [f"    consequence:  {finding}" for finding in verdict.consequences] if consequences else []
    if verdict.good:
        return [f"held {verdict.id}", *apart] if apart else []
    lines = [f"FAILED {verdict.id}"]
    if verdict.problem:
        lines.append(f"    {verdict.problem}")
    lines += [f"    not reported: {one.code} at {_shown(one)}" for one in verdict.missing]
    lines += [f"    wrong line:   {one.code} at {_shown(one)}, but got {got}" for one, got in verdict.elsewhere]
    lines += [f"    unexpected:   {finding}" for finding in verdict.unexpected]
    lines += [f"    vanished:     {finding}" for finding in verdict.vanished]
    return lines + apart


def _demanded(expected: Sequence[Expected], added: Sequence[Reported]) -> list[Expected]:
    """The expected findings that are not there; one for each label of which none is."""
    unmet = []
    for one in expected:
        alternatives = [one] if not one.label else [other for other in expected if other.label == one.label]
        if one.optional or one is not alternatives[0]:
            continue
        if not any(_fits(other, finding) for other in alternatives for finding in added):
            unmet.append(one)
    return unmet


def _fits(one: Expected, finding: Reported) -> bool:
    return one.code == finding.code and one.path == finding.path and one.first <= finding.line <= one.last


def _shown(one: Expected) -> str:
    return f"{one.path}:{one.first}" + (f"-{one.last}" if one.last != one.first else "")


def _said(finding: Reported) -> tuple[str, ...]:
    return (finding.code, finding.path, finding.message)


def _without(these: Sequence[Reported], those: Sequence[Reported], key: Key) -> list[Reported]:
    left = Counter(key(finding) for finding in those)
    result = []
    for finding in these:
        if left[key(finding)]:
            left[key(finding)] -= 1
        else:
            result.append(finding)
    return result


def _drop(findings: list[Reported], fingerprints: Counter[str]) -> list[Reported]:
    left = Counter(fingerprints)
    result = []
    for finding in findings:
        if left[finding.fingerprint]:
            left[finding.fingerprint] -= 1
        else:
            result.append(finding)
    return result
