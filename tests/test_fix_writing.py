"""Writing what a fix changes: the bytes around it, modes and links, files that cannot or must not be written."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest
from support.command import opslint
from support.projects import request_of, write_base_tree, write_files

from veomni_opslint.fixing import rounds
from veomni_opslint.fixing.applied_edits import apply_edits, overlap
from veomni_opslint.fixing.line_ends import encoded
from veomni_opslint.fixing.writing import ChangedFile, NotWritten
from veomni_opslint.fixing.writing import write_files as write_changed
from veomni_opslint.proposals import Edit

FILE = "veomni/ops/kernels/swiglu/scale.py"
UNUSED = "SCALE = 1.0  # opslint: ignore[OPS001] was broken\n"
FIXED = "SCALE = 1.0\n"
SELECT = ("--select", "OPS002")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with one fault that has a safe fix."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {FILE: UNUSED})
    return tmp_path


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
