"""What opslint says around real fixes: ``python -m evaluation.fix_commits --repo GIT_DIR --number 40``.

Takes the most recent commits whose subject has the word ``fix``, merges left out, and checks the whole tree at the
parent of each and at the commit itself: which findings went away, which came, and how many each rule has. Whether
opslint could have known the defect is for a person to judge. With ``--distinct`` every finding of all these trees is
listed once, to be read for false alarms. Ends with 1 when a run fails, with 2 when the inputs are missing.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evaluation.history import still_there
from evaluation.opslint_child import OpslintFailedError, Reported, add_command_option, check, command_from
from evaluation.revisions import MissingInputError, need_git_dir, tree_of

FIX = re.compile(r"\bfix\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FixCommit:
    """A commit that says it is a fix, and the commit before it."""

    commit: str
    parent: str
    subject: str

    def __str__(self) -> str:
        return f"{self.commit[:8]} {self.subject}"


@dataclass(frozen=True, slots=True)
class Change:
    """The findings that one fix took away and brought, and how many each rule has before and after it."""

    fix: FixCommit
    gone: tuple[Reported, ...] = ()
    came: tuple[Reported, ...] = ()
    counts: tuple[tuple[str, int, int], ...] = ()
    problem: str = ""


def fixes_in(log: str, number: int) -> list[FixCommit]:
    """The first *number* fixes of a log whose lines are a commit, its parents and its subject, separated by tabs."""
    rows = (line.split("\t", 2) for line in log.splitlines())
    fixes = [
        FixCommit(commit, parents, subject)
        for commit, parents, subject in rows
        if len(parents.split()) == 1 and FIX.search(subject)
    ]
    return fixes[:number]


def fixes_of(repository: Path, revision: str, number: int) -> list[FixCommit]:
    """The *number* most recent fixes that *revision* contains.

    Raises:
        MissingInputError: there is no such revision, or it has no fix.
    """
    command = ["git", "--git-dir", str(repository), "log", "--no-merges", "--format=%H%x09%P%x09%s", revision, "--"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise MissingInputError(f"no log of {revision}: {done.stderr.strip() or 'git log failed'}")
    fixes = fixes_in(done.stdout, number)
    if not fixes:
        raise MissingInputError(f"{revision} has no commit whose subject says fix")
    return fixes


def change(fix: FixCommit, before: Sequence[Reported], after: Sequence[Reported]) -> Change:
    """Compare the findings at the parent with those at the commit."""
    counts = Counter(finding.code for finding in before), Counter(finding.code for finding in after)
    kept, kept_after = set(still_there(before, after)), set(still_there(after, before))
    return Change(
        fix,
        gone=tuple(finding for finding in before if finding not in kept),
        came=tuple(finding for finding in after if finding not in kept_after),
        counts=tuple((code, counts[0][code], counts[1][code]) for code in sorted({*counts[0], *counts[1]})),
    )


def distinct(trees: Mapping[str, Sequence[Reported]]) -> list[tuple[int, str, Reported]]:
    """Each finding once, by rule, path and message: in how many trees it is, and one of them."""
    where: dict[tuple[str, str, str], tuple[str, Reported]] = {}
    number: Counter[tuple[str, str, str]] = Counter()
    for commit, findings in trees.items():
        said = {(finding.code, finding.path, finding.message): finding for finding in findings}
        number.update(said.keys())
        for key, finding in said.items():
            where.setdefault(key, (commit, finding))
    return [(number[key], *where[key]) for key in sorted(where)]


def report(changes: Sequence[Change]) -> str:
    """The changes as text: a head line for each fix, then what went away and what came."""
    lines = []
    for entry in changes:
        lines.append(str(entry.fix))
        if entry.problem:
            lines.append(f"    failed: {entry.problem}")
        lines += [f"    gone  {finding}" for finding in entry.gone]
        lines += [f"    came  {finding}" for finding in entry.came]
        counts = [f"{code} {old}" if old == new else f"{code} {old}>{new}" for code, old, new in entry.counts]
        lines.append(f"    rules {', '.join(counts) or 'none'}")
    taken = sum(bool(entry.gone) for entry in changes)
    lines.append(f"{taken} of {len(changes)} fixes took findings away")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the trees around the fixes and print what changed."""
    parser = argparse.ArgumentParser(description="Say what opslint reports before and after real fixes.")
    parser.add_argument("--repo", type=Path, required=True, metavar="GIT_DIR")
    parser.add_argument("--number", type=int, default=40, help="how many fixes; default: 40")
    parser.add_argument("--revision", default="HEAD", help="the history to look at; default: HEAD")
    parser.add_argument("--select", default="", help="only these rules")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the unpacked trees here")
    parser.add_argument("--distinct", action="store_true", help="list every finding of all trees once instead")
    parser.add_argument("--json", action="store_true", help="print the changes as JSON")
    add_command_option(parser)
    options = parser.parse_args(arguments)
    trees: dict[str, list[Reported]] = {}
    changes: list[Change] = []
    try:
        need_git_dir(options.repo)
        fixes = fixes_of(options.repo, options.revision, options.number)
        with tempfile.TemporaryDirectory() as scratch:
            for fix in fixes:
                try:
                    for commit in (fix.parent, fix.commit):
                        if commit not in trees:
                            tree = tree_of(options.repo, commit, options.cache or Path(scratch))
                            trees[commit] = check(command_from(options), tree, select=options.select)
                    changes.append(change(fix, trees[fix.parent], trees[fix.commit]))
                except OpslintFailedError as error:
                    changes.append(Change(fix, problem=str(error)))
    except MissingInputError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 2
    failed = [entry for entry in changes if entry.problem]
    if options.json:
        print(json.dumps([asdict(entry) for entry in changes], indent=2))
    elif options.distinct:
        for number, commit, finding in distinct(trees):
            print(f"{number:>3} trees, {commit[:8]}: {finding.severity} {finding}")
        print("\n".join(f"failed: {entry.fix}: {entry.problem}" for entry in failed), end="\n" if failed else "")
    else:
        print(report(changes))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
