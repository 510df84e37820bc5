"""Fix faults planted in a copy of a tree: ``python -m evaluation.fixes --tree TREE``.

Each mutation of a rule that has a fix is applied alone and then fixed, unsafe fixes included. Every file that was
changed must be a mutated one, or the patch config or generated file that belongs to it, and must parse; the findings
that were fixed must be gone with no other in their place, and a second run must change nothing. A finding without a fix
must have a reason, which the rule gives. Ends with 0 when all hold, 1 when not, 2 when no run could be made.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from evaluation.mutations.__main__ import PACKAGE, RULES, all_mutations, chosen, copy_of, edited
from evaluation.mutations.draft import Draft, Mutation, PlantError
from evaluation.opslint_inside import keep_facts
from veomni_opslint.check import Checked, Request, check, checked
from veomni_opslint.errors import RunError
from veomni_opslint.findings import Finding, Severity
from veomni_opslint.fixing.rounds import repair
from veomni_opslint.fixing.writing import write_files
from veomni_opslint.proposals import reason_against
from veomni_opslint.rule_loader import Selection, load_rules

RULES_WITH_FIX = tuple(loaded for loaded in load_rules() if loaded.fixable)
_REVEALS = "it would cause "


@dataclass(frozen=True, slots=True)
class Outcome:
    """What fixing one mutation did: how many findings were new, how many of these are gone, why others are not."""

    id: str
    planted: int = 0
    fixed: int = 0
    declined: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    difference: str = ""


def run_one(mutation: Mutation, root: Path, request: Request, baseline: frozenset[str]) -> Outcome:
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
    baseline: frozenset[str],
    files: dict[str, bytes | None],
) -> Outcome:
    first = checked(request)
    new = [one for one in first.report.findings if one.fingerprint not in baseline]
    # What another rule says of the fault is its consequence, and not what this mutation is about.
    planted = _counted(one for one in new if one.code == mutation.rule)
    declined = {one: reason_against(first.analysis.model, one, RULES_WITH_FIX) for one in new if one.fix is None}
    if all(one.fix is None for one in new):
        return Outcome(mutation.id, planted.total(), 0, *_reasons(mutation, declined))
    result = repair(request, unsafe=True, first=first)
    originals = {file.path: file.before for file in result.files}
    problems = [f"{problem.path}: {problem.reason}" for problem in write_files(str(root), result.files)]
    # A fix that is right by itself and lets another rule see a fault behind it is taken back, and the user is told.
    held_back = tuple(f"taken back: {reason}" for _, reason in result.refused if reason.startswith(_REVEALS))
    problems += [f"{one.place}: refused: {reason}" for one, reason in result.refused if not reason.startswith(_REVEALS)]
    left = _counted(result.checked.report.findings)
    problems += [f"came with it: {code} in {path}" for code, path in left - _counted(first.report.findings)]
    related = {place for path in files for place in _belonging_to(first, path)}
    problems += [f"{path}: changed, but nothing was planted there" for path in originals if path not in related]
    try:
        for file in result.files:
            ast.parse(file.after)
        if result.files and repair(request, unsafe=True).files:
            problems.append("a second run changes more")
    finally:
        for path, data in originals.items():
            (root / path).write_bytes(data)
    still = [one for one in result.checked.report.findings if one.fingerprint not in baseline]
    gone = planted - _counted(still)
    reasons, unexplained = _reasons(mutation, {one: declined[one] for one in still if one in declined})
    difference = "".join(
        line
        for file in result.files
        for line in unified_diff(
            file.before.decode().splitlines(keepends=True), file.after.decode().splitlines(keepends=True), n=2
        )
    )
    return Outcome(
        mutation.id, planted.total(), gone.total(), (*reasons, *held_back), (*problems, *unexplained), difference
    )


def _reasons(mutation: Mutation, declined: dict[Finding, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The reasons, and as problems the findings of the mutation's rule that have none."""
    ours = {one: reason for one, reason in declined.items() if one.code == mutation.rule}
    missing = tuple(f"{one.place}: no fix, and no reason why" for one, reason in ours.items() if not reason)
    return tuple(filter(None, ours.values())), missing


def _belonging_to(state: Checked, path: str) -> set[str]:
    """The file, its patch config, and the files that are generated from it."""
    model = state.analysis.model
    found = {path}
    for generated, plan in model.patch_plans.items():
        facts = model.symbols.modules.get(generated)
        pair = {facts.path, *(code.definition.path for code in plan.code if code.definition)} if facts else set()
        if path in pair:
            found |= pair
    return found


def _counted(findings: Iterable[Finding]) -> Counter[tuple[str, str]]:
    return Counter((finding.code, finding.place.path) for finding in findings)


def described(one: Outcome, *, show: bool) -> str:
    """The problems of one mutation in full or, on request, what was fixed and how."""
    if one.problems:
        return "\n".join((f"FAILED {one.id}", *(f"    {problem}" for problem in one.problems)))
    if not show:
        return ""
    reasons = "".join(f"    no fix is offered: {reason}\n" for reason in one.declined)
    return f"{one.fixed} of {one.planted} fixed: {one.id}\n{reasons}{one.difference}"


def table(outcomes: Sequence[Outcome]) -> str:
    """How many mutations of each rule were planted, fixed altogether, left for a reason, and failed; the reasons."""
    rows: dict[str, list[int]] = {}
    for one in outcomes:
        row = rows.setdefault(one.id.partition("/")[0], [0, 0, 0, 0])
        row[0] += 1
        row[1] += one.fixed == one.planted
        row[2] += one.fixed < one.planted and bool(one.declined)
        row[3] += bool(one.problems)
    lines = [
        f"{rule:<8} {count:>7} {fixed:>6} {left:>9} {bad:>7}"
        for rule, (count, fixed, left, bad) in sorted(rows.items())
    ]
    reasons = Counter((one.id.partition("/")[0], reason) for one in outcomes for reason in dict.fromkeys(one.declined))
    why = [f"{rule:<8} {count:>7} {reason}" for (rule, reason), count in sorted(reasons.items())]
    return "\n".join(
        ("rule     planted  fixed  declined  failed", *lines, *(("", "declined because", *why) if why else ()))
    )


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
    fixable = ",".join(loaded.rule.code for loaded in RULES_WITH_FIX)
    mutations = [
        one for one in chosen(all_mutations(), options.rules or fixable, options.only) if "harmless" not in one.id
    ]
    if not mutations:
        parser.error("no such mutation")
    forget_others = keep_facts()
    with tempfile.TemporaryDirectory() as scratch:
        root = copy_of(options.tree, Path(scratch, "tree"))
        request = Request(
            (str(root / PACKAGE),),
            root=str(root),
            selection=Selection(select=tuple(RULES.split(","))),
            min_severity=Severity.INFO,
        )
        baseline = frozenset(one.fingerprint for one in check(request).findings)
        outcomes = []
        for mutation in mutations:
            outcomes.append(run_one(mutation, root, request, baseline))
            forget_others()
            said = described(outcomes[-1], show=options.show)
            if said:
                print(said, flush=True)
    print(table(outcomes))
    return 1 if any(one.problems for one in outcomes) else 0


if __name__ == "__main__":
    raise SystemExit(main())
