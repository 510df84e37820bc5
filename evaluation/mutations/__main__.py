"""Plant faults in a copy of a tree and see what is reported: ``python -m evaluation.mutations --tree TREE``.

TREE is a checkout of the project. Each mutation is applied alone; its findings must be the expected ones at their
lines, and nothing else may appear or disappear. Some rules compare two places that a person keeps in step, such as a
patch config and its generated file: they speak, and should, at nearly every edit of one side. What such a rule says of
another rule's fault is a consequence, counted apart (``--consequences`` lists them). Ends with 0 when all hold, 1 when
not, 2 when no run could be made.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

import evaluation.mutations as catalogue
from evaluation.mutations.draft import Draft, Mutation, PlantError
from evaluation.mutations.verdict import Verdict, describe, judge
from evaluation.mutations.wrapper_tree import COMPOUND, COMPOUND_TEXT, WRAPPERS, WRAPPERS_TEXT
from evaluation.opslint_child import OpslintFailedError, Reported, add_command_option, check, command_from
from evaluation.opslint_inside import checker
from veomni_opslint.rule_loader import load_rules

PACKAGE = "veomni"
ABOUT_THE_RUN = ("OPS004", "OPS9")
RULES = ",".join(one.rule.code for one in load_rules() if not one.rule.code.startswith(ABOUT_THE_RUN))
KEEPS_IN_STEP = ("OPS304", "OPS311", "OPS601", "OPS603", "OPS701", "OPS702", "OPS704", "OPS801", "OPS802", "OPS803")
OUTSIDE_THE_PACKAGE = ("OPS6", "OPS8")


def all_mutations() -> list[Mutation]:
    """The mutations of every module of this package that has some, in order of module and then of the list."""
    found: list[Mutation] = []
    for module in sorted(info.name for info in pkgutil.iter_modules(catalogue.__path__) if info.name != "__main__"):
        found += getattr(importlib.import_module(f"{catalogue.__name__}.{module}"), "MUTATIONS", ())
    repeated = [name for name, count in Counter(mutation.id for mutation in found).items() if count > 1]
    if repeated:
        raise PlantError(f"two mutations are called {repeated[0]}")
    return found


def chosen(mutations: Sequence[Mutation], rules: str, only: str) -> list[Mutation]:
    """The mutations of the given rules whose id has *only* in it."""
    wanted = tuple(part for part in rules.split(",") if part)
    return [one for one in mutations if (not wanted or one.rule.startswith(wanted)) and only in one.id]


def copy_of(tree: Path, place: Path) -> Path:
    """A copy of *tree* without its git folder, with the async Ulysses wrappers added where it has none."""
    shutil.copytree(tree, place, ignore=shutil.ignore_patterns(".git", "__pycache__", "*.diff"))
    for path, text in ((WRAPPERS, WRAPPERS_TEXT), (COMPOUND, COMPOUND_TEXT)):
        if not (place / path).exists():
            (place / path).write_text(text, encoding="utf-8")
    return place


@contextmanager
def edited(root: Path, files: dict[str, bytes | None]) -> Iterator[None]:
    """The tree at *root* with *files* written or, where None, removed; put back afterwards."""
    before = {path: (root / path).read_bytes() if (root / path).exists() else None for path in files}
    folders = [folder for path in files for folder in (root / path).parents if not folder.exists()]
    try:
        _write(root, files)
        yield
    finally:
        _write(root, before)
        for folder in sorted(folders, key=lambda folder: -len(folder.parts)):
            if folder.exists():
                folder.rmdir()


def run_one(
    mutation: Mutation, root: Path, baseline: Sequence[Reported], findings_of: Callable[[Path], list[Reported]]
) -> Verdict:
    """Apply one mutation, check the tree, and judge; the tree is as before when this returns."""
    draft = Draft(root)
    try:
        for edit in mutation.edits:
            edit(draft)
        files, expected = draft.finish()
        with edited(root, files):
            findings = findings_of(root)
    except (PlantError, OpslintFailedError, SyntaxError) as error:
        return Verdict(mutation.id, problem=f"{type(error).__name__}: {error}")
    apart = frozenset(KEEPS_IN_STEP) - {mutation.rule}
    return judge(mutation.id, baseline, findings, expected, frozenset(draft.gone), apart)


def path_of(mutation: Mutation) -> str:
    """What is checked: the package, or for rules about configurations, documents and tests the whole repository."""
    return "." if mutation.rule.startswith(OUTSIDE_THE_PACKAGE) else PACKAGE


def report(verdicts: Sequence[Verdict], *, consequences: bool = False) -> str:
    """The failures in full, a table of how many mutations of each rule hold, and how often rules spoke of others."""
    lines = [line for verdict in verdicts for line in describe(verdict, consequences=consequences)]
    total = Counter(verdict.id.partition("/")[0] for verdict in verdicts)
    good = Counter(verdict.id.partition("/")[0] for verdict in verdicts if verdict.good)
    lines.append("")
    lines += [f"{rule}  {good[rule]:>3} of {count:>3}" for rule, count in sorted(total.items())]
    lines.append(f"all     {good.total():>3} of {total.total():>3}")
    apart = Counter(finding.code for verdict in verdicts for finding in verdict.consequences)
    if apart:
        lines.append("consequences: " + ", ".join(f"{code} {count}" for code, count in sorted(apart.items())))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the mutations and print the report."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.mutations", description="Plant faults and look.")
    parser.add_argument("--tree", type=Path, required=True, help="a checkout of the project; it is not changed")
    parser.add_argument("--rules", default="", help="only mutations of these rules or prefixes, separated by commas")
    parser.add_argument("--only", default="", help="only mutations with this text in their id")
    parser.add_argument("--select", default=RULES, help="the rules whose findings are compared")
    parser.add_argument("--jobs", type=int, default=1, help="copies of the tree that are checked at the same time")
    parser.add_argument("--inside", action="store_true", help="check in this process: faster, and only this opslint")
    parser.add_argument("--consequences", action="store_true", help="show what other rules said, and truly, of a fault")
    parser.add_argument("--dry-run", action="store_true", help="only see that every edit fits the tree")
    add_command_option(parser)
    options = parser.parse_args(arguments)
    command = command_from(options)

    def check_of(path: str) -> Callable[[Path], list[Reported]]:
        if options.dry_run:
            return lambda _: []
        if options.inside:
            return checker(path, options.select)
        return lambda root: check(command, root, (path,), options.select)

    mutations = chosen(all_mutations(), options.rules, options.only)
    if options.inside and options.jobs > 1:
        parser.error("--inside has one job")
    if not mutations:
        parser.error("no such mutation")
    if not (options.tree / PACKAGE).is_dir():
        print(f"skipped: no {PACKAGE} package in {options.tree}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        copies: SimpleQueue[Path] = SimpleQueue()
        roots = [copy_of(options.tree, Path(scratch, str(number))) for number in range(max(1, options.jobs))]
        for root in roots:
            copies.put(root)
        checks = {path: check_of(path) for path in sorted({path_of(mutation) for mutation in mutations})}
        try:
            baselines = {path: findings_of(roots[0]) for path, findings_of in checks.items()}
        except OpslintFailedError as error:
            print(f"failed: {error}", file=sys.stderr)
            return 2

        def run(mutation: Mutation) -> Verdict:
            root = copies.get()
            try:
                path = path_of(mutation)
                return run_one(mutation, root, baselines[path], checks[path])
            finally:
                copies.put(root)

        with ThreadPoolExecutor(len(roots)) as pool:
            verdicts = list(pool.map(run, mutations))
    if options.dry_run:
        verdicts = [Verdict(verdict.id, problem=verdict.problem) for verdict in verdicts]
    false_alarms = [
        finding for baseline in baselines.values() for finding in baseline if finding.path in (WRAPPERS, COMPOUND)
    ]
    for finding in false_alarms:
        print(f"false alarm in an unmutated file: {finding}")
    print(report(verdicts, consequences=options.consequences))
    return 0 if not false_alarms and all(verdict.good for verdict in verdicts) else 1


def _write(root: Path, files: dict[str, bytes | None]) -> None:
    for path, data in files.items():
        if data is None:
            (root / path).unlink(missing_ok=True)
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)


if __name__ == "__main__":
    raise SystemExit(main())
