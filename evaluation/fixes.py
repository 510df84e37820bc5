"""Fix faults planted in a copy of a tree: ``python -m evaluation.fixes --tree TREE``.

Each mutation of a rule that has a fix is applied alone and then fixed, unsafe fixes included. Every file that was
changed must be the mutated one and must parse, the findings that were fixed must be gone with no other in their place,
and a second run must change nothing. Ends with 0 when all hold, 1 when not, 2 when no run could be made.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from evaluation.mutations.__main__ import PACKAGE, RULES, all_mutations, chosen, copy_of, edited
from evaluation.mutations.draft import Draft, Mutation, PlantError
from evaluation.opslint_inside import keep_facts
from veomni_opslint.check import Request, check
from veomni_opslint.errors import RunError
from veomni_opslint.findings import Finding, Severity
from veomni_opslint.fixing.rounds import repair
from veomni_opslint.fixing.writing import write_files
from veomni_opslint.rule_loader import Selection, load_rules


@dataclass(frozen=True, slots=True)
class Outcome:
    """What fixing one mutation did: how many of its findings were new, and how many of these are gone."""

    id: str
    planted: int = 0
    fixed: int = 0
    problems: tuple[str, ...] = ()
    difference: str = ""


def run_one(mutation: Mutation, root: Path, request: Request, baseline: Counter[tuple[str, str]]) -> Outcome:
    """Plant, fix, and judge; the tree is as before when this returns."""
    draft = Draft(root)
    try:
        for edit in mutation.edits:
            edit(draft)
        files, _ = draft.finish()
        with edited(root, files):
            return _judged(mutation, root, request, baseline, files)
    except (PlantError, RunError, SyntaxError) as error:
        return Outcome(mutation.id, problems=(f"{type(error).__name__}: {error}",))


def _judged(
    mutation: Mutation,
    root: Path,
    request: Request,
    baseline: Counter[tuple[str, str]],
    files: dict[str, bytes | None],
) -> Outcome:
    before = check(request).findings
    planted = _counted(before) - baseline
    result = repair(request, unsafe=True)
    originals = {file.path: file.before for file in result.files}
    problems = [f"{problem.path}: {problem.reason}" for problem in write_files(str(root), result.files)]
    problems += [f"{finding.place}: refused: {reason}" for finding, reason in result.refused]
    left = _counted(result.checked.report.findings)
    problems += [f"came with it: {code} in {path}" for code, path in left - _counted(before)]
    problems += [f"{path}: changed, but nothing was planted there" for path in originals if path not in files]
    try:
        for file in result.files:
            ast.parse(file.after)
        if result.files and repair(request, unsafe=True).files:
            problems.append("a second run changes more")
    finally:
        for path, data in originals.items():
            (root / path).write_bytes(data)
    gone = planted - (left - baseline)
    difference = "".join(
        line
        for file in result.files
        for line in unified_diff(
            file.before.decode().splitlines(keepends=True), file.after.decode().splitlines(keepends=True), n=2
        )
    )
    return Outcome(mutation.id, planted.total(), gone.total(), tuple(problems), difference)


def _counted(findings: Sequence[Finding]) -> Counter[tuple[str, str]]:
    return Counter((finding.code, finding.place.path) for finding in findings)


def described(one: Outcome, *, show: bool) -> str:
    """The problems of one mutation in full or, on request, what was fixed and how."""
    if one.problems:
        return "\n".join((f"FAILED {one.id}", *(f"    {problem}" for problem in one.problems)))
    return f"{one.fixed} of {one.planted} fixed: {one.id}\n{one.difference}" if show else ""


def table(outcomes: Sequence[Outcome]) -> str:
    """How many mutations of each rule were planted, fixed altogether, and went wrong."""
    rows: dict[str, list[int]] = {}
    for one in outcomes:
        row = rows.setdefault(one.id.partition("/")[0], [0, 0, 0])
        row[0] += 1
        row[1] += bool(one.planted) and one.fixed == one.planted
        row[2] += bool(one.problems)
    lines = [f"{rule:<8} {count:>7} {fixed:>6} {bad:>7}" for rule, (count, fixed, bad) in sorted(rows.items())]
    return "\n".join(("rule     planted  fixed  failed", *lines))


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant, fix and print the report."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.fixes", description="Fix planted faults.")
    parser.add_argument("--tree", type=Path, required=True, help="a checkout of the project; it is not changed")
    parser.add_argument("--rules", default="", help="only mutations of these rules, separated by commas")
    parser.add_argument("--only", default="", help="only mutations with this text in their id")
    parser.add_argument("--show", action="store_true", help="show what each fix changed")
    options = parser.parse_args(arguments)
    if not (options.tree / PACKAGE).is_dir():
        print(f"skipped: no {PACKAGE} package in {options.tree}", file=sys.stderr)
        return 2
    fixable = ",".join(loaded.rule.code for loaded in load_rules() if loaded.fixable)
    mutations = [
        one for one in chosen(all_mutations(), options.rules or fixable, options.only) if "harmless" not in one.id
    ]
    if not mutations:
        parser.error("no such mutation")
    keep_facts()
    with tempfile.TemporaryDirectory() as scratch:
        root = copy_of(options.tree, Path(scratch, "tree"))
        request = Request(
            (str(root / PACKAGE),),
            root=str(root),
            selection=Selection(select=tuple(RULES.split(","))),
            min_severity=Severity.INFO,
        )
        baseline = _counted(check(request).findings)
        outcomes = []
        for mutation in mutations:
            outcomes.append(run_one(mutation, root, request, baseline))
            said = described(outcomes[-1], show=options.show)
            if said:
                print(said, flush=True)
    print(table(outcomes))
    return 1 if any(one.problems for one in outcomes) else 0


if __name__ == "__main__":
    raise SystemExit(main())
