"""Fixing as a user sees it: what is changed, what is left alone, and what is said."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import tempfile
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
from veomni_opslint.fixing.applied_edits import apply_edits, overlap
from veomni_opslint.fixing.line_ends import encoded
from veomni_opslint.fixing.writing import ChangedFile, NotWritten
from veomni_opslint.fixing.writing import write_files as write_changed
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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbf" + UNUSED.encode(), b"\xef\xbb\xbf" + FIXED.encode()),
        (b"A = 1\r\n" + UNUSED.encode()[:-1] + b"\r\n", b"A = 1\r\n" + FIXED.encode()[:-1] + b"\r\n"),
        (b"A = 1\rB = 2\r\n" + UNUSED.encode(), b"A = 1\rB = 2\r\nSCALE = 1.0\n"),
        (
            b"# coding: latin-1\nA = '\xe9'\n" + UNUSED.encode(),
            b"# coding: latin-1\nA = '\xe9'\n" + FIXED.encode(),
        ),
    ],
    ids=["byte order mark", "carriage returns", "mixed", "latin-1"],
)
def test_bytes_around_a_fix_stay(before: bytes, after: bytes, tree: Path) -> None:
    """Encoding, byte order mark and line ends are not touched."""
    (tree / FILE).write_bytes(before)
    opslint("veomni", "--fix", *SELECT, cwd=tree)
    assert (tree / FILE).read_bytes() == after


def test_mode_and_link_stay(tree: Path) -> None:
    """The file keeps its mode, and a link to it stays a link."""
    real = tree / "real.py"
    (tree / FILE).rename(real)
    real.chmod(0o750)
    (tree / FILE).symlink_to(real)
    opslint("veomni", "--fix", *SELECT, cwd=tree)
    assert (tree / FILE).is_symlink()
    assert (real.read_text(encoding="utf-8"), real.stat().st_mode & 0o777) == (FIXED, 0o750)


def test_read_only_file_is_named_and_the_others_are_fixed(tree: Path) -> None:
    """Status 2, the file, and its finding is still there."""
    other = FILE.replace("scale", "other")
    write_files(tree, {other: UNUSED})
    (tree / FILE).chmod(0o444)
    outcome = opslint("veomni", "--fix", *SELECT, "--output-format", "concise", "-q", cwd=tree)
    assert outcome.status == 2
    assert outcome.err == f"opslint: error: {FILE}: not changed: the file is read-only\n"
    assert outcome.out.startswith(f"{FILE}:1:32: warning OPS002 unused-suppression: ")
    assert (tree / other).read_text(encoding="utf-8") == FIXED
    assert (tree / FILE).read_text(encoding="utf-8") == UNUSED


def test_read_only_folder_is_named(tree: Path) -> None:
    """A file that cannot be replaced is left as it is, and no temporary file stays behind."""
    folder = (tree / FILE).parent
    folder.chmod(0o555)
    outcome = opslint("veomni", "--fix", *SELECT, "-q", cwd=tree)
    folder.chmod(0o755)
    assert outcome.status == 2
    assert outcome.err == (f"opslint: error: {FILE}: not changed: the folder veomni/ops/kernels/swiglu is read-only\n")
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_file_system_that_takes_no_file(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the bits allow writing and the system does not, for root as well, the reason is given."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    result = rounds.repair(request_of(tree, "OPS002"), unsafe=False)
    assert write_changed(str(tree), result.files) == (NotWritten(FILE, "Read-only file system"),)
    assert (tree / FILE).read_text(encoding="utf-8") == UNUSED


def test_file_that_cannot_be_replaced(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure of the last step leaves the file as it was and no temporary file behind."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "replace", refuse)
    result = rounds.repair(request_of(tree, "OPS002"), unsafe=False)
    assert write_changed(str(tree), result.files) == (NotWritten(FILE, "Operation not permitted"),)
    assert (tree / FILE).read_text(encoding="utf-8") == UNUSED
    assert [path.name for path in (tree / FILE).parent.iterdir() if path.name.startswith(".")] == []


def test_changed_meanwhile_is_not_touched(tree: Path) -> None:
    """What somebody saved while opslint ran is not overwritten."""
    result = rounds.repair(request_of(tree, "OPS002"), unsafe=False)
    write_files(tree, {FILE: "SCALE = 2.0\n"})
    assert write_changed(str(tree), result.files) == (
        NotWritten(FILE, "it was changed while opslint ran; run it again", changed_meanwhile=True),
    )
    assert (tree / FILE).read_text(encoding="utf-8") == "SCALE = 2.0\n"


def test_removed_meanwhile_is_named(tree: Path) -> None:
    """A file that is gone is not made again."""
    problems = write_changed(str(tree), [ChangedFile("gone.py", b"a", b"b")])
    assert problems == (NotWritten("gone.py", "it was removed while opslint ran", changed_meanwhile=True),)
    assert not (tree / "gone.py").exists()


def test_edits_of_one_text() -> None:
    """Edits are applied in the order of the text, whatever order they come in."""
    assert apply_edits("abcdef", [Edit(4, 5, "E"), Edit(0, 1, ""), Edit(2, 2, "-")]) == "b-cdEf"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Edit(0, 2, ""), Edit(2, 4, ""), True),
        (Edit(1, 1, "a"), Edit(1, 1, "b"), True),
        (Edit(0, 1, ""), Edit(2, 4, ""), False),
        (Edit(5, 9, ""), Edit(2, 4, ""), False),
    ],
)
def test_edits_that_touch_overlap(one: Edit, other: Edit, expected: bool) -> None:
    """Of two edits at one place only one can be right."""
    assert overlap([one], [other]) is expected
    assert overlap([other], [one]) is expected


def test_a_character_that_the_encoding_lacks_is_an_error() -> None:
    """A file is never written in another encoding than it declares."""
    with pytest.raises(UnicodeError):
        encoded(b"# coding: latin-1\n", "# coding: latin-1\nA = '\u20ac'\n")


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
