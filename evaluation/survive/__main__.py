"""Try to break opslint: ``python -m evaluation.survive --tree TREE``.

Ends with 0 when everything was survived, 1 when not, 2 when there is no such tree. Cases that need what this machine
does not have are skipped, with the reason.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluation.opslint_child import add_command_option, command_from
from evaluation.survive import contents, filesystems, hostile, truncation
from evaluation.survive.case import PACKAGE, Outcome, run_case


def outcomes(tree: Path | None, command: Sequence[str], seed: int, only: str) -> Iterator[Outcome]:
    """Run the cases whose name has *only* in it; the damage to *tree* comes last."""
    for case in (*contents.cases(seed), *filesystems.cases(), *hostile.cases()):
        if only in case.name:
            yield run_case(case, command)
    if tree is not None and only in "every file":
        yield from truncation.outcomes(tree, command, seed, limit=60)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases, print what was not survived, and say how many were."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.survive", description="Try to break opslint.")
    parser.add_argument("--tree", type=Path, help="a checkout whose files are damaged one by one; it is not changed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only cases with this text in their name")
    parser.add_argument("--verbose", action="store_true", help="print every case and its time")
    add_command_option(parser)
    options = parser.parse_args(arguments)
    if options.tree is not None and not (options.tree / PACKAGE).is_dir():
        print(f"skipped: no {PACKAGE} package in {options.tree}", file=sys.stderr)
        return 2
    survived = skipped = failed = 0
    for outcome in outcomes(options.tree, command_from(options), options.seed, options.only):
        if outcome.skipped:
            skipped += 1
            print(f"skipped  {outcome.name}: {outcome.skipped}")
        elif outcome.problems:
            failed += 1
            print(f"FAILED   {outcome.name} ({outcome.seconds:.1f} s)")
            for problem in outcome.problems:
                print(f"         {problem}")
        else:
            survived += 1
            if options.verbose:
                print(f"ok       {outcome.name} ({outcome.seconds:.1f} s)")
    if survived + failed == 0:
        parser.error("no such case")
    print(f"{survived} survived, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
