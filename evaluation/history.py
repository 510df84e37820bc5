"""Defects that really happened: ``python -m evaluation.history --repo GIT_DIR --cases DIR``.

For each line of ``history.jsonl`` in DIR, opslint must report something at one of the places given for ``bad_commit``
and must no longer report it at ``fix_commit``. A file with an empty list of lines counts wherever the finding is.
Ends with 0 when every case asked for is found and then silent, 1 when not, 2 when the inputs are missing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evaluation.opslint_child import OpslintFailedError, Reported, add_command_option, check, command_from
from evaluation.revisions import MissingInputError, need_git_dir, read_cases, tree_of


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one case: ``found`` at the bad commit, ``remaining`` of that at the fix."""

    id: str
    expected: str
    found: tuple[Reported, ...]
    remaining: tuple[Reported, ...]
    problem: str = ""

    @property
    def verdict(self) -> str:
        if self.problem:
            return "failed"
        if not self.found:
            return "missed"
        # A case is fixed at one place while its neighbours may wait for a later commit.
        return "still reported" if len(self.remaining) == len(self.found) else "ok"


def at_places(findings: Sequence[Reported], lines: Mapping[str, Sequence[int]]) -> tuple[Reported, ...]:
    """The findings at one of the places of a case."""
    return tuple(
        finding
        for finding in findings
        if finding.path in lines and (finding.line in lines[finding.path] or not lines[finding.path])
    )


def still_there(found: Sequence[Reported], later: Sequence[Reported]) -> tuple[Reported, ...]:
    """Those of *found* that *later* has too, wherever their lines have moved."""
    fingerprints = {finding.fingerprint for finding in later}
    said = {(finding.code, finding.path, finding.message) for finding in later}
    return tuple(
        finding
        for finding in found
        if finding.fingerprint in fingerprints or (finding.code, finding.path, finding.message) in said
    )


def chosen_cases(cases: Sequence[dict[str, Any]], ids: str) -> list[dict[str, Any]]:
    """The cases whose id starts with one of the comma-separated *ids*; all of them where *ids* is empty.

    Raises:
        MissingInputError: nothing is left to run.
    """
    prefixes = tuple(part for part in ids.split(",") if part)
    chosen = [case for case in cases if not prefixes or case["id"].startswith(prefixes)]
    if not chosen:
        raise MissingInputError("no case has such an id" if prefixes else "history.jsonl has no case")
    return chosen


def judge(case: Mapping[str, Any], bad: Sequence[Reported], fixed: Sequence[Reported]) -> Outcome:
    """Compare the findings at both commits with what the case demands."""
    lines = {path: case["lines"].get(path, ()) for path in case["files"]}
    found = at_places(bad, lines)
    return Outcome(case["id"], case["expected_finding"], found, still_there(found, fixed))


def run_case(case: Mapping[str, Any], command: Sequence[str], repository: Path, cache: Path, select: str) -> Outcome:
    """Check both trees of one case; a run that cannot be made is part of the outcome."""
    try:
        bad, fixed = (
            check(command, tree_of(repository, case[key], cache), select=select) for key in ("bad_commit", "fix_commit")
        )
    except OpslintFailedError as error:
        return Outcome(case["id"], case["expected_finding"], (), (), str(error))
    return judge(case, bad, fixed)


def report(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as text: one line a case, then what was found, or what should have been."""
    lines = []
    for outcome in outcomes:
        codes = " ".join(sorted({finding.code for finding in outcome.found}))
        lines.append(f"{outcome.verdict:<15} {outcome.id:<45} {codes}".rstrip())
        if outcome.problem:
            lines.append(f"    {outcome.problem}")
        elif outcome.verdict == "missed":
            lines.append(f"    expected: {outcome.expected}")
        lines += [f"    still: {finding}" for finding in outcome.remaining]
    good = sum(outcome.verdict == "ok" for outcome in outcomes)
    lines.append(f"{good} of {len(outcomes)} cases found and then silent")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases and print the outcomes."""
    parser = argparse.ArgumentParser(description="Check that opslint finds the defects of a project's history.")
    parser.add_argument("--repo", type=Path, required=True, metavar="GIT_DIR")
    parser.add_argument("--cases", type=Path, required=True, metavar="DIR", help="the folder that has history.jsonl")
    parser.add_argument("--ids", default="", help="only cases whose id starts with one of these, separated by commas")
    parser.add_argument("--select", default="", help="only these rules")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the unpacked trees here")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    add_command_option(parser)
    options = parser.parse_args(arguments)
    try:
        need_git_dir(options.repo)
        cases = read_cases(options.cases / "history.jsonl")
        chosen = chosen_cases(cases, options.ids)
        with tempfile.TemporaryDirectory() as scratch:
            cache = options.cache or Path(scratch)
            outcomes = [run_case(case, command_from(options), options.repo, cache, options.select) for case in chosen]
    except MissingInputError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps([{"verdict": outcome.verdict, **asdict(outcome)} for outcome in outcomes], indent=2))
    else:
        print(report(outcomes))
    return 0 if all(outcome.verdict == "ok" for outcome in outcomes) else 1


if __name__ == "__main__":
    raise SystemExit(main())
