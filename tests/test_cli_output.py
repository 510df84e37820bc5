"""The command line from outside: where the output goes, and what becomes of it there."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support.command import opslint
from support.projects import write_base_tree, write_files

from veomni_opslint.cli import output

BROKEN = {"veomni/ops/broken.py": "def f(:\n"}
LINE = "veomni/ops/broken.py:1:7: error OPS001 syntax-error: the file cannot be parsed"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small clean project."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"pyproject.toml": ""})
    return tmp_path


def test_line_of_a_document(tree: Path) -> None:
    """The line that a finding is about is shown of documents and of YAML files, too."""
    table = "| Config field | Default |\n|---|---|\n| `swiglu_mlp_implementation` | `eager` |\n"
    write_files(tree, {"docs/kernels.md": table})
    assert opslint(".", cwd=tree).out.splitlines()[3:5] == [
        "    3 | | `swiglu_mlp_implementation` | `eager` |",
        "      |                                 ^^^^^^^",
    ]


def test_json_is_the_same_bytes_on_every_run(tree: Path) -> None:
    """Nothing in it depends on time, hashing or the order of the disk."""
    write_files(tree, {**BROKEN, "veomni/a.py": "x = 1  # noqa: OPS001\n"})
    runs = [opslint("veomni", "--output-format", "json", cwd=tree, PYTHONHASHSEED=seed) for seed in "12"]
    assert runs[0] == runs[1]
    document = json.loads(runs[0].out)
    assert [(finding["path"], finding["code"]) for finding in document["findings"]] == [
        ("veomni/a.py", "OPS002"),
        ("veomni/ops/broken.py", "OPS001"),
    ]
    assert document["root"] == str(tree)


def test_json_holds_what_is_shown(tree: Path) -> None:
    """The level applies to every format; what it hides is counted."""
    write_files(tree, {**BROKEN, "veomni/a.py": "x = 1  # noqa: OPS001\n"})
    summary = json.loads(opslint("veomni", "--output-format", "json", "--min-severity", "error", cwd=tree).out)[
        "summary"
    ]
    assert (summary["errors"], summary["warnings"], summary["hidden"]) == (1, 0, 1)


def test_output_file(tree: Path) -> None:
    """The report goes to the file, whole, with ordinary permissions, and standard output stays empty."""
    write_files(tree, BROKEN)
    outcome = opslint("veomni", "--output-format", "concise", "--color", "auto", "--output", "report.txt", cwd=tree)
    assert (outcome.status, outcome.out) == (1, "")
    assert (tree / "report.txt").read_text(encoding="utf-8").startswith(LINE)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tree / "report.txt").stat().st_mode) == 0o666 & ~mask
    assert [path.name for path in tree.iterdir() if path.name.startswith(".opslint")] == []


def test_output_file_is_replaced_or_written_to(tree: Path) -> None:
    """A link keeps being one, a device is written to and not replaced."""
    (tree / "real.txt").write_text("old", encoding="utf-8")
    (tree / "link.txt").symlink_to("real.txt")
    assert opslint("veomni", "--output", "link.txt", cwd=tree).status == 0
    assert (tree / "link.txt").is_symlink()
    assert (tree / "real.txt").read_text(encoding="utf-8").startswith("no findings in")
    assert opslint("veomni", "--output", "/dev/stdout", cwd=tree).out.startswith("no findings in")


@pytest.mark.parametrize("variable", [{}, {"NO_COLOR": "1"}])
def test_no_colour_into_a_pipe(variable: dict[str, str], tree: Path) -> None:
    """A pipe gets plain text unless colour is asked for."""
    write_files(tree, BROKEN)
    assert "\x1b" not in opslint("veomni", cwd=tree, **variable).out
    assert "\x1b" in opslint("veomni", "--color", "always", cwd=tree, **variable).out


@pytest.mark.parametrize(("columns", "laid_out_for"), [("40", 60), ("75", 75), ("150", 150)])
def test_columns_of_the_terminal(columns: str, laid_out_for: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text is laid out for the terminal that shows it, though never for fewer than 60 columns; not for a file."""
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    assert (output.terminal_columns(to_file=False), output.terminal_columns(to_file=True)) == (laid_out_for, None)
    monkeypatch.setattr(output, "is_terminal", lambda: False)
    assert output.terminal_columns(to_file=False) is None


def test_statistics_coverage_and_verbose(tree: Path) -> None:
    """The optional parts are there when they are asked for; what was done goes to standard error."""
    write_files(tree, BROKEN)
    outcome = opslint("veomni", "--statistics", "--show-coverage", "--verbose", cwd=tree)
    assert "     1  OPS001  error    syntax-error\n" in outcome.out
    assert "coverage: " in outcome.out
    assert outcome.err.startswith(f"root: {tree}\npackage under check: veomni\nsettings: the default settings\n")


def test_narrow_encoding(tree: Path) -> None:
    """A terminal that cannot show a character gets its escape instead of a crash."""
    write_files(tree, {"veomni/grün.py": "名 = (\n"})
    outcome = opslint("veomni", cwd=tree, PYTHONIOENCODING="ascii")
    assert (outcome.status, outcome.err) == (1, "")
    assert outcome.out.startswith(r"veomni/gr\xfcn.py:1:5: error OPS001")


def test_reader_that_goes_away(tree: Path) -> None:
    """`opslint … | head` ends without a complaint, and the status is that of the findings."""
    write_files(tree, BROKEN)
    command = [sys.executable, "-m", "veomni_opslint", "veomni"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, cwd=tree, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_full_disk(tree: Path) -> None:
    """What cannot be written is an error, not a clean run."""
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "veomni_opslint", "veomni"]
        done = subprocess.run(command, cwd=tree, stdout=full, stderr=subprocess.PIPE, check=False)
    message = b"opslint: error: standard output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_closed_standard_output(tree: Path) -> None:
    """Without a standard output the run says so."""
    command = f"{sys.executable} -m veomni_opslint veomni >&-"
    done = subprocess.run(["sh", "-c", command], cwd=tree, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, b"standard output is closed" in done.stderr) == (2, True)
