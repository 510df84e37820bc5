"""The plugin with the real flake8."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.projects import write_base_tree, write_files

from veomni_opslint import __version__

pytestmark = pytest.mark.skipif(find_spec("flake8") is None, reason="flake8 is not installed")

MODEL = "veomni/models/transformers/llama/generated/patched_modeling_llama_gpu.py"
SLOT = 'from veomni.ops.dispatch import OpSlot\n\nveomni_swiglu_mlp = OpSlot("swiglu_mlp", "standrad")\n'
SAID = "OPS301 unregistered-slot: no kernel is registered for OpSlot("


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with one fault."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"pyproject.toml": "", MODEL: SLOT})
    return tmp_path


def flake8(folder: Path, *arguments: str, stdin: str = "") -> tuple[int, list[str], str]:
    """Status, lines and errors of flake8, with the codes of opslint only."""
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--isolated", "--select", "OPS", *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_it_is_installed() -> None:
    """flake8 finds it by its entry point."""
    done = subprocess.run([sys.executable, "-m", "flake8", "--version"], capture_output=True, text=True, check=True)
    assert f"veomni-opslint: {__version__}" in " ".join(done.stdout.split())


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_findings(tree: Path, jobs: str) -> None:
    """Each finding at its place, whatever the number of processes, and whatever file is named."""
    for path in ("veomni", ".", MODEL, f"{tree}/{MODEL}"):
        status, lines, errors = flake8(tree, "-j", jobs, path)
        assert (status, len(lines), errors) == (1, 1, "")
        assert f"{MODEL}:3:21: {SAID}" in lines[0]
    assert flake8(tree, "-j", jobs, "veomni/ops") == (0, [], "")


@pytest.mark.parametrize(
    ("options", "runs"),
    [
        ("--select OPS", 1),
        ("--select OPS301", 1),
        ("--select O", 1),
        ("", 1),
        ("--ignore OPS201", 1),
        ("--ignore OPS --extend-select OPS301", 1),
        ("--select E", 0),
        ("--ignore OPS", 0),
        ("--extend-ignore OPS", 0),
    ],
)
def test_project_is_checked_once(tree: Path, options: str, runs: int) -> None:
    """Not once for every file, and not at all where no finding would be shown."""
    program = (
        "import sys\n"
        "import veomni_opslint.check as module\n"
        "from flake8.main.cli import main\n"
        "runs, check = [], module.check\n"
        "module.check = lambda request: runs.append(request) or check(request)\n"
        f"main(['--isolated', '-j', '1', '-q', '.', *{options.split()}])\n"
        "print(len(runs))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tree, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str(runs)


def test_unsaved_content(tree: Path) -> None:
    """What an editor hands over counts, not what is on disk; also for a file that is not there yet."""
    status, lines, errors = flake8(tree, "--stdin-display-name", MODEL, "-", stdin=f"\n{SLOT}")
    assert (status, len(lines), errors) == (1, 1, "")
    assert lines[0].startswith(f"{MODEL}:4:21: {SAID}")
    assert flake8(tree, "--stdin-display-name", MODEL, "-", stdin=SLOT.replace("drad", "dard")) == (0, [], "")
    (status, (line,), errors) = flake8(tree, "--stdin-display-name", "veomni/models/new.py", "-", stdin=SLOT)
    assert (status, errors) == (1, "")
    assert line.startswith(f"veomni/models/new.py:3:21: {SAID}")


def test_standard_input_without_a_name(tree: Path) -> None:
    """Nobody can tell which file it is."""
    assert flake8(tree, "-", stdin=SLOT) == (0, [], "")


def test_suppressions_and_settings(tree: Path) -> None:
    """Comments of both kinds, the settings of the project and those of flake8 count."""
    write_files(tree, {MODEL: SLOT.replace("\n\nveomni", "\n\n# opslint: ignore[OPS301] new\nveomni")})
    assert flake8(tree, ".") == (0, [], "")
    write_files(tree, {MODEL: SLOT.rstrip() + "  # noqa: OPS301\n"})
    assert flake8(tree, ".") == (0, [], "")
    write_files(tree, {MODEL: SLOT, "pyproject.toml": '[tool.opslint]\nignore = ["OPS301"]\n'})
    assert flake8(tree, ".") == (0, [], "")
    write_files(tree, {"pyproject.toml": ""})
    assert flake8(tree, "--extend-ignore", "OPS3", ".") == (0, [], "")


def test_no_ops_package(tmp_path: Path) -> None:
    """Where there is none, flake8 goes on as without the plugin."""
    write_files(tmp_path, {"pyproject.toml": "", "package/__init__.py": SLOT})
    assert flake8(tmp_path, ".") == (0, [], "")


def test_wrong_settings(tree: Path) -> None:
    """They end the run with their message, never green."""
    write_files(tree, {"pyproject.toml": '[tool.opslint]\nselct = ["OPS301"]\n'})
    status, lines, errors = flake8(tree, "-j", "1", ".")
    assert (status, errors) == (1, "")
    assert "selct: unknown key; did you mean `select`?" in "".join(lines)


def test_line_ends_and_encodings_of_disk(tree: Path) -> None:
    """Files with a mark of UTF-8, with line ends of Windows or in Latin-1 are those on disk, not unsaved ones."""
    (tree / MODEL).write_bytes(b"\xef\xbb\xbf" + SLOT.replace("\n", "\r\n").encode())
    (tree / "veomni/latin.py").write_bytes(b"# coding: latin-1\nx = '\xe9'\n")
    program = (
        "import veomni_opslint.flake8_plugin as module\n"
        "from flake8.main.cli import main\n"
        "module._of_unsaved = None\n"
        "main(['--isolated', '--select', 'OPS', '-j', '1', '.'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tree, capture_output=True, text=True, check=False, env={**os.environ}
    )
    assert (done.stdout.count("\n"), done.stderr) == (1, "")
    assert f"{MODEL}:3:21: {SAID}" in done.stdout
