"""Fixing as a user sees it: what is changed, what is left alone, and what is said."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from support.command import opslint
from support.projects import read_tree, request_of, write_base_tree, write_files

from veomni_opslint import check
from veomni_opslint.errors import RunError
from veomni_opslint.findings import Finding, Fix
from veomni_opslint.fixing import rounds
from veomni_opslint.model import OpsModel
from veomni_opslint.proposals import Edit, NotPossibleError, Proposal
from veomni_opslint.rule_loader import load_rules

FILE = "veomni/ops/kernels/swiglu/scale.py"
UNUSED = "SCALE = 1.0  # opslint: ignore[OPS001] was broken\n"
FIXED = "SCALE = 1.0\n"
DIFF = f"""\
--- a/{FILE}
+++ b/{FILE}
@@ -1 +1 @@
-SCALE = 1.0  # opslint: ignore[OPS001] was broken
+SCALE = 1.0
"""
SELECT = ("--select", "OPS002")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with one fault that has a safe fix."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {FILE: UNUSED})
    return tmp_path


def test_fix_changes_the_file_and_reports_what_is_left(tree: Path) -> None:
    """The file is fixed, standard error says so, the report is about the fixed tree."""
    outcome = opslint("veomni", "--fix", *SELECT, "--strict", cwd=tree)
    assert (outcome.status, outcome.out) == (0, "no findings in 26 files\n")
    assert outcome.err == "opslint: note: fixed 1 fault in 1 file\n"
    assert (tree / FILE).read_text(encoding="utf-8") == FIXED


def test_report_says_what_can_be_fixed(tree: Path) -> None:
    """A person reads it in the summary, a program in each finding."""
    assert (
        opslint("veomni", *SELECT, cwd=tree).out.splitlines()[-1] == "1 warning in 1 of 26 files (1 fixable with --fix)"
    )
    (finding,) = json.loads(opslint("veomni", *SELECT, "--output-format", "json", cwd=tree).out)["findings"]
    assert finding["fix"] == {"safe": True, "description": "remove the unused suppression"}


def test_second_run_changes_nothing(tree: Path) -> None:
    """What is fixed stays as it is, to the time of its last change."""
    opslint("veomni", "--fix", *SELECT, cwd=tree)
    before = (tree / FILE).stat().st_mtime_ns
    outcome = opslint("veomni", "--fix", *SELECT, cwd=tree)
    assert outcome.err == "opslint: note: fixed 0 faults in 0 files\n"
    assert (tree / FILE).stat().st_mtime_ns == before


@pytest.mark.parametrize("options", [("--diff",), ("--fix", "--diff")])
def test_diff_shows_and_changes_nothing(options: tuple[str, ...], tree: Path) -> None:
    """The difference goes to standard output; the status is that of the files as they are."""
    outcome = opslint("veomni", *options, *SELECT, "--strict", cwd=tree)
    assert (outcome.status, outcome.out) == (1, DIFF)
    assert outcome.err == "opslint: note: would fix 1 fault in 1 file\n"
    assert (tree / FILE).read_text(encoding="utf-8") == UNUSED


def test_diff_of_standard_input(tree: Path) -> None:
    """What an editor has not saved yet can be shown fixed."""
    outcome = opslint("--stdin-filename", FILE, "--diff", "-q", *SELECT, cwd=tree, stdin="import os\n" + UNUSED)
    assert outcome.out == (
        f"--- a/{FILE}\n+++ b/{FILE}\n@@ -1,2 +1,2 @@\n import os\n"
        "-SCALE = 1.0  # opslint: ignore[OPS001] was broken\n+SCALE = 1.0\n"
    )


def test_diff_is_one_for_git(tree: Path) -> None:
    """Git applies it, also where lines end in other ways and the last line does not end."""
    (tree / FILE).write_bytes(b"A = 1\r\n" + UNUSED.rstrip().encode())
    outcome = subprocess.run(
        ["git", "apply", "-"],
        cwd=tree,
        input=opslint("veomni", "--diff", "-q", *SELECT, cwd=tree).out.encode(),
        capture_output=True,
        check=False,
    )
    assert (outcome.returncode, outcome.stderr) == (0, b"")
    assert (tree / FILE).read_bytes() == b"A = 1\r\nSCALE = 1.0"


def fixer(edits: Callable[[str], Iterable[Edit]], *, safe: bool = True) -> Callable[[OpsModel, Finding], Proposal]:
    """A fix that makes *edits* of the text of the file."""

    def fix(model: OpsModel, finding: Finding) -> Proposal:
        return Proposal(Fix("try it", safe), lambda: edits(model.files[finding.place.path].text))

    return fix


def impossible(_: str) -> Iterable[Edit]:
    """Edits that cannot be made."""
    raise NotPossibleError("libcst cannot read the file: ParserSyntaxError")


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        (lambda _: (), "it could not be worked out"),
        (impossible, "libcst cannot read the file: ParserSyntaxError"),
        (lambda _: (Edit(0, 0, "# first\n"),), "it would not help"),
        (lambda text: (Edit(0, len(text), "SCALE = (\n"),), "the result would be no Python: '(' was never closed"),
        (
            lambda text: (Edit(0, len(text), "A = 1  # opslint: ignore[OPS001, OPS003] two\n"),),
            f"it would cause OPS002 in {FILE}",
        ),
    ],
)
def test_fix_that_does_no_good_is_not_kept(
    edits: Callable[[str], Iterable[Edit]], reason: str, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file stays as it is, and what was wrong is said."""
    with_fix(monkeypatch, fixer(edits))
    result = rounds.repair(request_of(tree, "OPS002"), unsafe=False)
    assert result.files == ()
    assert [said.partition(" (")[0] for _, said in result.refused] == [reason]


def test_one_bad_fix_does_not_hold_up_the_others(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round that fails is taken apart."""
    other = FILE.replace("scale", "other")
    write_files(tree, {other: UNUSED})

    def edits(model: OpsModel, finding: Finding) -> Proposal:
        new = "SCALE = 1.0\n" if finding.place.path == other else "SCALE = (\n"
        text = model.files[finding.place.path].text
        return Proposal(Fix("try it", safe=True), lambda: (Edit(0, len(text), new),))

    with_fix(monkeypatch, edits)
    result = rounds.repair(request_of(tree, "OPS002"), unsafe=False)
    assert [file.path for file in result.files] == [other]
    assert [finding.place.path for finding, _ in result.refused] == [FILE]


@pytest.mark.parametrize("unsafe", [False, True])
def test_unsafe_fixes_are_asked_for(unsafe: bool, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --unsafe-fixes they are only counted."""
    with_fix(monkeypatch, fixer(lambda text: (Edit(0, len(text), FIXED),), safe=False))
    result = rounds.repair(request_of(tree, "OPS002"), unsafe=unsafe)
    assert [file.after for file in result.files] == [FIXED.encode()] * unsafe


def test_how_to_see_unsafe_fixes(tree: Path) -> None:
    """--fix names the option that shows them, --diff the one that it lacks for that."""
    write_files(tree, {FILE: "SCALE = 1.0  # noqa: OPS999\n"})
    said = "opslint: note: 1 more fault can be fixed with --unsafe-fixes;"
    fixing, showing = (opslint("veomni", how, *SELECT, cwd=tree).err.splitlines() for how in ("--fix", "--diff"))
    assert fixing == ["opslint: note: fixed 0 faults in 0 files", f"{said} --diff shows how"]
    assert showing == ["opslint: note: would fix 0 faults in 0 files", f"{said} --diff --unsafe-fixes shows how"]


def test_verbose_says_why_there_is_no_fix(tree: Path) -> None:
    """For a finding of a rule that fixes others; without --verbose only the finding is shown."""
    write_files(tree, {FILE: "SCALE = 1.0  # opslint: ignore everything\n"})
    assert opslint("veomni", "--fix", *SELECT, cwd=tree).err == "opslint: note: fixed 0 faults in 0 files\n"
    lines = opslint("veomni", "--fix", "--verbose", *SELECT, cwd=tree).err.splitlines()
    reason = "it names no rule, or is no kind of suppression: what it was to silence only its author knows"
    assert [line for line in lines if "no fix" in line] == [f"opslint: note: {FILE}:1:14: OPS002 has no fix: {reason}"]


def test_text_of_a_fix_of_several_files(tree: Path) -> None:
    """Who shows fixes and makes none gets the replacements in all the files that a fix changes."""
    case = Path(__file__).parent / "rules" / "ops305_unguarded_slot_call" / "copies_of_a_patch"
    shutil.copytree(case / "overlay", tree, dirs_exist_ok=True)
    report = check.check(replace(request_of(tree, "OPS305"), replacements=True))
    assert [{one.place.path for one in report.replacements.get(each.fingerprint, ())} for each in report.findings] == [
        set(),
        set(),
        set(read_tree(case / "after")),
    ]


def test_fix_that_fails_names_its_rule(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of a fix is one of opslint: the run ends, and the message says how to do without."""
    with_fix(monkeypatch, fixer(lambda text: (Edit(0, 1, text[10_000]),)))
    with pytest.raises(RunError, match=f"the fix of OPS002 unused-suppression failed at {FILE}:1:32: IndexError"):
        rounds.repair(request_of(tree, "OPS002"), unsafe=False)


def with_fix(monkeypatch: pytest.MonkeyPatch, fix: Callable[[OpsModel, Finding], Proposal]) -> None:
    """Give OPS002 another fix."""
    changed = tuple(one._replace(fix=fix) if one.rule.code == "OPS002" else one for one in load_rules())
    for module in (rounds, check):
        monkeypatch.setattr(module, "project_rules", lambda *_: changed)
