"""One real tree as it is: ``python -m evaluation.head --tree TREE --cases DIR``.

Says which defects of ``head_findings.jsonl`` are reported, that nothing is reported at the places of
``head_silent.jsonl``, and how many findings each rule has. Ends with 1 when a silent place is broken, or a defect is
missed with ``--all``; with 2 when the inputs are missing.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.opslint_child import OpslintFailedError, Reported, add_command_option, check, command_from
from evaluation.revisions import MissingInputError, read_cases


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the tree and what is said of it in the cases."""

    path: str
    line: int
    note: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.note}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The findings of a tree beside what is known of it."""

    covered: tuple[tuple[Place, tuple[Reported, ...]], ...]
    missed: tuple[Place, ...]
    broken: tuple[tuple[Place, tuple[Reported, ...]], ...]
    counts: tuple[tuple[str, str, int], ...]


def places(cases: Sequence[Mapping[str, Any]], note: str) -> list[Place]:
    """The cases as places; *note* is the key of their text."""
    return [Place(case["file"], case["line"], case[note]) for case in cases]


def compare(findings: Sequence[Reported], wanted: Sequence[Place], silent: Sequence[Place]) -> Comparison:
    """Sort the places by whether something is reported there, and count the findings by rule."""

    def at(place: Place) -> tuple[Reported, ...]:
        return tuple(finding for finding in findings if (finding.path, finding.line) == (place.path, place.line))

    counts = Counter((finding.code, finding.severity) for finding in findings)
    return Comparison(
        covered=tuple((place, at(place)) for place in wanted if at(place)),
        missed=tuple(place for place in wanted if not at(place)),
        broken=tuple((place, at(place)) for place in silent if at(place)),
        counts=tuple((code, severity, count) for (code, severity), count in sorted(counts.items())),
    )


def report(comparison: Comparison) -> str:
    """The comparison as text."""
    lines = []
    for place, findings in comparison.covered:
        lines.append(f"covered  {place}")
        lines += [f"           {finding.code} {finding.message}" for finding in findings]
    lines += [f"missed   {place}" for place in comparison.missed]
    for place, findings in comparison.broken:
        lines.append(f"NOT SILENT  {place}")
        lines += [f"           {finding.code} {finding.message}" for finding in findings]
    lines.append("")
    lines += [f"{code} {severity:<8} {count:>5}" for code, severity, count in comparison.counts]
    total = len(comparison.covered) + len(comparison.missed)
    lines.append(f"{len(comparison.covered)} of {total} known defects covered, {len(comparison.broken)} false alarms")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the tree and print the comparison."""
    parser = argparse.ArgumentParser(description="Compare the findings in one tree with what is known of it.")
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--cases", type=Path, required=True, metavar="DIR")
    parser.add_argument("--path", action="append", default=[], help="a path in the tree to check; default: all of it")
    parser.add_argument("--all", action="store_true", help="a defect that is missed is a failure too")
    add_command_option(parser)
    options = parser.parse_args(arguments)
    try:
        wanted = places(read_cases(options.cases / "head_findings.jsonl"), "what")
        silent = places(read_cases(options.cases / "head_silent.jsonl"), "must_be_silent")
    except MissingInputError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 2
    try:
        findings = check(command_from(options), options.tree.resolve(), options.path)
    except OpslintFailedError as error:
        print(f"failed: {error}", file=sys.stderr)
        return 2
    comparison = compare(findings, wanted, silent)
    print(report(comparison))
    return 1 if comparison.broken or (options.all and comparison.missed) else 0


if __name__ == "__main__":
    raise SystemExit(main())
