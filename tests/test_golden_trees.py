"""Whole small trees and all that a rule says about them.

A case is ``tests/rules/<stem of the rule>/<case>/``: a complete tree in ``before/``, or in ``overlay/`` files that are
laid over the base tree, and the expected output in ``findings.txt``. Where fixing is to be shown, ``after/`` holds the
files that it changes, as they are to be. ``make golden`` writes what opslint says and does now; commit that only after
reading the difference.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.projects import assert_fixed, read_tree, request_of, run_rule, write_base_tree

from veomni_opslint.fixing.rounds import repair
from veomni_opslint.reporters import FORMATS, Presentation
from veomni_opslint.rule_loader import load_rules

TREES = Path(__file__).parent / "rules"
CODES = {loaded.stem: loaded.rule.code for loaded in load_rules()}
CASES = sorted(case for stem in TREES.glob("*") for case in stem.glob("*") if case.is_dir())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.name}")
def test_golden_tree(case: Path, tmp_path: Path) -> None:
    """The rule says exactly what findings.txt holds."""
    _lay_out(case, tmp_path)
    said = FORMATS["concise"](run_rule(tmp_path, CODES[case.parent.name]), Presentation(quiet=True))
    if os.environ.get("OPSLINT_UPDATE_GOLDEN"):
        (case / "findings.txt").write_text(said, encoding="utf-8")
    assert said == (case / "findings.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "case", [case for case in CASES if (case / "after").is_dir()], ids=lambda case: f"{case.parent.name}-{case.name}"
)
def test_golden_fix(case: Path, tmp_path: Path) -> None:
    """Fixing makes exactly the files of after/, leaves nothing that it offered to fix, and is done after one run."""
    _lay_out(case, tmp_path)
    code = CODES[case.parent.name]
    if os.environ.get("OPSLINT_UPDATE_GOLDEN"):
        for file in repair(request_of(tmp_path, code), unsafe=True).files:
            target = case / "after" / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.after)
    assert_fixed(tmp_path, code, read_tree(case / "after"))


def _lay_out(case: Path, root: Path) -> None:
    if (case / "overlay").is_dir():
        write_base_tree(root)
        shutil.copytree(case / "overlay", root, dirs_exist_ok=True)
    else:
        shutil.copytree(case / "before", root, dirs_exist_ok=True)


def test_every_tree_belongs_to_a_rule() -> None:
    """A folder of cases and a file of tests are called like a rule, so that none is forgotten when one is renamed."""
    assert {entry.stem.removeprefix("test_") for entry in TREES.iterdir() if entry.name != "__pycache__"} - set(
        CODES
    ) == set()
