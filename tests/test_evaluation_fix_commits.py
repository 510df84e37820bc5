"""Evaluation around real fixes: which commits are taken, and how their findings are compared."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation import fix_commits
from evaluation.fix_commits import Change, FixCommit
from evaluation.opslint_child import Reported
from evaluation.revisions import MissingInputError

FIX = FixCommit("b" * 40, "a" * 40, "[ops] fix: right variant")
STUB = """
import json, pathlib, sys
root = pathlib.Path(sys.argv[sys.argv.index("--root") + 1]) if "--root" in sys.argv else None
text = (root / "pkg.py").read_text() if root else ""
if "crash" in text:
    sys.stderr.write("opslint: it crashed\\n")
    sys.exit(2)
finding = {"path": "pkg.py", "line": 1, "code": "OPS301", "message": text, "severity": "error", "fingerprint": text}
print(json.dumps({"findings": [finding] if "wrong" in text else []}))
"""


def finding(code: str = "OPS301", path: str = "a.py", line: int = 3, message: str = "m", mark: str = "f") -> Reported:
    """One finding."""
    return Reported(path, line, code, message, "error", mark)


def repository_with(tmp_path: Path, *commits: tuple[str, str]) -> Path:
    """A git directory with a commit for each subject and text of its one file."""
    source = tmp_path / "source"
    source.mkdir()
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(source), "init", "-q"], check=True)
    for subject, text in commits:
        (source / "pkg.py").write_text(text)
        subprocess.run(["git", "-C", str(source), "add", "pkg.py"], check=True)
        subprocess.run(["git", "-C", str(source), *identity, "commit", "-q", "-m", subject], check=True)
    return source / ".git"


def stub_in(tmp_path: Path) -> str:
    """A command that answers as opslint does, after the text of the one file."""
    script = tmp_path / "stub.py"
    script.write_text(STUB)
    return f"{sys.executable} {script}"


def test_only_commits_with_the_word_and_one_parent_are_fixes() -> None:
    """A prefix, a merge and the first commit of all are none."""
    rows = [
        "a\tp\t[ops] fix: one",
        "b\tp\tadd a prefix",
        "c\tp q\tfix: a merge",
        "d\t\tfix: the first",
        "e\tp\tFix two\tx",
    ]
    log = "\n".join(rows)
    assert fix_commits.fixes_in(log, 9) == [FixCommit("a", "p", "[ops] fix: one"), FixCommit("e", "p", "Fix two\tx")]
    assert fix_commits.fixes_in(log, 1) == [FixCommit("a", "p", "[ops] fix: one")]


def test_findings_that_only_moved_neither_went_nor_came() -> None:
    """What went away and what came is told apart by fingerprint or message."""
    before = [finding(), finding("OPS201", mark="g"), finding("OPS202", message="old", mark="h")]
    after = [finding(line=30), finding("OPS203", message="new", mark="i")]
    assert fix_commits.change(FIX, before, after) == Change(
        FIX,
        gone=(before[1], before[2]),
        came=(after[1],),
        counts=(("OPS201", 1, 0), ("OPS202", 1, 0), ("OPS203", 0, 1), ("OPS301", 1, 1)),
    )


def test_a_finding_of_many_trees_is_listed_once() -> None:
    """With the number of its trees and the first of them."""
    moved, other = finding(line=30), finding("OPS101")
    trees = {"t1": [finding(), finding(line=5)], "t2": [moved, other]}
    assert fix_commits.distinct(trees) == [(1, "t2", other), (2, "t1", finding(line=5))]


def test_the_report_has_a_part_for_each_fix() -> None:
    """What went, what came, the counts, and the run that failed."""
    changes = [
        Change(FIX, (finding(),), (finding("OPS203"),), (("OPS203", 0, 1), ("OPS301", 2, 1), ("OPS601", 4, 4))),
        Change(FixCommit("c" * 40, "b" * 40, "fix it"), problem="exit status 2"),
    ]
    assert fix_commits.report(changes).splitlines() == [
        "bbbbbbbb [ops] fix: right variant",
        "    gone  a.py:3: OPS301 m",
        "    came  a.py:3: OPS203 m",
        "    rules OPS203 0>1, OPS301 2>1, OPS601 4",
        "cccccccc fix it",
        "    failed: exit status 2",
        "    rules none",
        "1 of 2 fixes took findings away",
    ]


def test_a_missing_repository_is_skipped_with_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Status 2 and a line that says what is missing."""
    assert fix_commits.main(["--repo", str(tmp_path / "gone")]) == 2
    assert capsys.readouterr().err == f"skipped: no git directory: {tmp_path / 'gone'}\n"


def test_a_history_without_fixes_is_skipped_with_a_message(tmp_path: Path) -> None:
    """A run that would do nothing is refused."""
    repository = repository_with(tmp_path, ("first", "a"), ("add a prefix", "b"))
    with pytest.raises(MissingInputError, match=r"^HEAD has no commit whose subject says fix$"):
        fix_commits.fixes_of(repository, "HEAD", 40)
    with pytest.raises(MissingInputError, match=r"^no log of nowhere: "):
        fix_commits.fixes_of(repository, "nowhere", 40)


def test_both_trees_of_a_fix_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The finding of the parent is gone at the fix."""
    repository = repository_with(tmp_path, ("first", "wrong"), ("[ops] fix: it", "right"), ("docs", "right too"))
    arguments = ["--repo", str(repository), "--opslint", stub_in(tmp_path)]
    assert fix_commits.main(arguments) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "    gone  pkg.py:1: OPS301 wrong",
        "    rules OPS301 1>0",
        "1 of 1 fixes took findings away",
    ]
    assert fix_commits.main([*arguments, "--distinct"]) == 0
    assert capsys.readouterr().out.split(": ", 1)[1] == "error pkg.py:1: OPS301 wrong\n"
    assert fix_commits.main([*arguments, "--json"]) == 0
    assert [entry["counts"] for entry in json.loads(capsys.readouterr().out)] == [[["OPS301", 1, 0]]]


def test_a_run_that_fails_is_said_and_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The other fixes are still judged."""
    repository = repository_with(tmp_path, ("first", "wrong"), ("fix: a", "crash"), ("b", "wrong"), ("fix: c", "right"))
    assert fix_commits.main(["--repo", str(repository), "--opslint", stub_in(tmp_path)]) == 1
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith(" ")] == [
        "    gone  pkg.py:1: OPS301 wrong",
        "    rules OPS301 1>0",
        "    failed: exit status 2: opslint: it crashed",
        "    rules none",
    ]
