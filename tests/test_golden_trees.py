"""Whole small trees and all that a rule says about them.

A case is ``tests/rules/<stem of the rule>/<case>/``: a complete tree in ``before/``, or in ``overlay/`` files that are
laid over the base tree, and the expected output in ``findings.txt``. ``make golden`` writes what opslint says now;
commit that only after reading the difference.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.projects import run_rule, write_base_tree

from veomni_opslint.reporters import FORMATS, Presentation
from veomni_opslint.rule_loader import load_rules

TREES = Path(__file__).parent / "rules"
CODES = {loaded.stem: loaded.rule.code for loaded in load_rules()}
CASES = sorted(case for stem in TREES.glob("*") for case in stem.glob("*") if case.is_dir())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.name}")
def test_golden_tree(case: Path, tmp_path: Path) -> None:
    """The rule says exactly what findings.txt holds."""
    if (case / "overlay").is_dir():
        write_base_tree(tmp_path)
        shutil.copytree(case / "overlay", tmp_path, dirs_exist_ok=True)
    else:
        shutil.copytree(case / "before", tmp_path, dirs_exist_ok=True)
    said = FORMATS["concise"](run_rule(tmp_path, CODES[case.parent.name]), Presentation(quiet=True))
    if os.environ.get("OPSLINT_UPDATE_GOLDEN"):
        (case / "findings.txt").write_text(said, encoding="utf-8")
    assert said == (case / "findings.txt").read_text(encoding="utf-8")


def test_every_tree_belongs_to_a_rule() -> None:
    """A folder of cases is called like a rule, so that none is forgotten when a rule is renamed."""
    assert [folder.name for folder in TREES.glob("*") if folder.name not in CODES] == []
