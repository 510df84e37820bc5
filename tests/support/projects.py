"""Writing small projects, and what opslint finds in them."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from veomni_opslint.check import Request, check
from veomni_opslint.findings import Severity
from veomni_opslint.report import Report
from veomni_opslint.rule_loader import Selection

BASE_TREE = Path(__file__).parent / "base_tree"


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Write *files* (path relative to *root*: content); a file already there is replaced."""
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")


def write_base_tree(root: Path) -> None:
    """Put the small ops package that examples are laid over into *root*."""
    shutil.copytree(BASE_TREE, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))


def run_rule(root: Path, code: str) -> Report:
    """What the rule *code* says about the whole tree at *root*."""
    selection = Selection(select=(code,))
    return check(Request((str(root),), root=str(root), selection=selection, min_severity=Severity.INFO))


def places(report: Report) -> Counter[tuple[str, int, str]]:
    """Path, line and code of every finding."""
    return Counter((finding.place.path, finding.place.line, finding.code) for finding in report.findings)
