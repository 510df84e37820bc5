"""Writing small projects, and what opslint finds in them."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from veomni_opslint.check import Request, check
from veomni_opslint.findings import Severity
from veomni_opslint.fixing.rounds import repair
from veomni_opslint.fixing.writing import write_files as write_fixed
from veomni_opslint.report import Report
from veomni_opslint.rule_loader import Selection, load_rules
from veomni_opslint.runtime.command import examine
from veomni_opslint.runtime.request import RuntimeOptions

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
    """What the rule *code* says about the whole tree at *root*; a rule about a run runs it with this interpreter."""
    request = request_of(root, code)
    if any(loaded.runtime and loaded.rule.code == code for loaded in load_rules()):
        return examine(request, RuntimeOptions(timeout=2.0, memory=1 << 28)).report
    return check(request)


def request_of(root: Path, code: str) -> Request:
    """The request that runs the rule *code* on the whole tree at *root*."""
    return Request((str(root),), root=str(root), selection=Selection(select=(code,)), min_severity=Severity.INFO)


def read_tree(root: Path) -> dict[str, str]:
    """Every file below *root*."""
    files = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files}


def assert_fixed(root: Path, code: str, after: Mapping[str, str]) -> None:
    """Fixing what *code* finds at *root* makes *after* of the files named there, and changes no other.

    Every finding that said that it can be fixed is gone, no other one has come, and a second run changes nothing.
    """
    expected = {**read_tree(root), **after}
    found = run_rule(root, code)
    offered = Counter(finding.code for finding in found.findings if finding.fix is not None)
    result = repair(request_of(root, code), unsafe=True)
    assert write_fixed(str(root), result.files) == ()
    assert read_tree(root) == expected
    left = run_rule(root, code)
    assert [finding for finding in left.findings if finding.fix is not None] == []
    assert len(found.findings) - len(left.findings) >= offered.total() > 0
    assert [reason for _, reason in result.refused] == []
    assert repair(request_of(root, code), unsafe=True).files == ()


def listing(report: Report) -> str:
    """Place, code and message of every finding, for whoever reads why a test failed."""
    return "\n".join(f"{one.place.path}:{one.place.line} {one.code} {one.message}" for one in report.findings) or "none"


def places(report: Report) -> Counter[tuple[str, int, str]]:
    """Path, line and code of every finding."""
    return Counter((finding.place.path, finding.place.line, finding.code) for finding in report.findings)
