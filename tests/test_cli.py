"""The command line from outside: what is checked, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command import Outcome, opslint
from support.projects import write_base_tree, write_files

from veomni_opslint import check
from veomni_opslint.__main__ import main

BROKEN = {"veomni/ops/broken.py": "def f(:\n"}
LINE = "veomni/ops/broken.py:1:7: error OPS001 syntax-error: the file cannot be parsed"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small clean project."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"pyproject.toml": ""})
    return tmp_path


def test_clean_tree(tree: Path) -> None:
    """A clean run ends with 0 and says how much it checked."""
    outcome = opslint("veomni/", cwd=tree)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == f"no findings in {len(list(tree.rglob('*.py')))} files\n"


@pytest.mark.parametrize(
    "arguments", [["veomni/"], ["check", "veomni/"], ["veomni/ops/broken.py"], ["."], ["veomni", "veomni/ops"]]
)
def test_findings(arguments: list[str], tree: Path) -> None:
    """A finding ends the run with 1; `check` is the default command."""
    write_files(tree, BROKEN)
    outcome = opslint(*arguments, "--output-format", "concise", "--quiet", cwd=tree)
    assert (outcome.status, outcome.err) == (1, "")
    assert [line.startswith(LINE) for line in outcome.out.splitlines()] == [True]


def test_only_what_was_asked_for_is_reported(tree: Path) -> None:
    """A fault elsewhere in the project does not fail a run about another file."""
    write_files(tree, BROKEN)
    assert opslint("veomni/ops/dispatch.py", cwd=tree) == Outcome(0, "no findings in 1 file\n", "")


def test_options_between_and_after_paths(tree: Path) -> None:
    """Options may stand anywhere; everything after `--` is a path."""
    write_files(tree, {"-x/a.py": ""})
    assert opslint("veomni", "--select", "ALL", "-q", "--", "-x", cwd=tree) == Outcome(0, "", "")


def test_folder_called_like_a_command(tree: Path) -> None:
    """A command goes before a folder of that name; a path with a slash is a folder."""
    write_files(tree, {"registry/a.py": "def f(:\n"})
    assert opslint("./registry", cwd=tree).status == 1
    assert opslint("check", "registry", cwd=tree).status == 1
    assert opslint("registry", cwd=tree).out.startswith("Kernels by op and variant\n")


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ([], 0),
        (["--strict"], 1),
        (["--strict", "--exit-zero"], 0),
        (["--min-severity", "error"], 0),
        (["--min-severity", "info"], 0),
    ],
)
def test_exit_status_of_a_warning(options: list[str], status: int, tree: Path) -> None:
    """A warning fails a strict run only."""
    write_files(tree, {"veomni/a.py": "x = 1  # noqa: OPS001\n"})
    assert opslint("veomni", *options, cwd=tree).status == status


def test_files_read_and_reported_on(tree: Path) -> None:
    """All that a run is about is counted in both places; of a part of it, only what is reported on."""
    workflow = ".github/workflows/npu.yml"
    write_files(tree, {"docs/a.md": "x\n", "tasks/a.py": "", "veomni/broken.py": "(", workflow: "on: push\n"})
    for paths, files in (((".",), (29, 29, 1)), (("veomni",), (26, 26, 1)), (("veomni/broken.py",), (1, 26, 1))):
        document = json.loads(opslint(*paths, "--format", "json", cwd=tree).out)
        summary, coverage = document["summary"], document["coverage"]
        assert (summary["files"], coverage["files"], summary["files_with_findings"]) == files


def test_settings_of_the_project(tree: Path) -> None:
    """Severity, per-file ignores and exclusion come from the settings file."""
    write_files(tree, BROKEN)
    for text, status in (
        ("", 1),
        ('per-file-ignores = { "veomni/ops/*" = ["OPS001"] }', 0),
        ('severity = { OPS001 = "warning" }', 0),
        ('severity = { OPS001 = "off" }', 0),
        ('severity = { ALL = "off", OPS002 = "error" }', 1),
        ('per-file-severity = { "veomni/ops/*" = { ALL = "warning" } }', 0),
        ('per-file-severity = { "veomni/ops/*" = { ALL = "off" } }', 1),
        ('per-file-severity = { "veomni/ops/*" = { OPS001 = "off" } }', 0),
        ('per-file-severity = { "veomni/models" = { ALL = "off" } }', 1),
        ('severity = { OPS001 = "info" }\nper-file-severity = { "broken.py" = { OPS0 = "error" } }', 1),
        ('exclude = ["broken.py"]', 0),
        ('ignore = ["OPS001"]', 0),
        ('select = ["OPS002"]', 1),
    ):
        write_files(tree, {"opslint.toml": text})
        assert (text, opslint("veomni", cwd=tree).status) == (text, status)
    assert opslint("veomni", "--config", "pyproject.toml", cwd=tree).status == 1


WRONG_NAMES = 'dialect = { kernel_spec = "Spec", op_slot = "Slot", ops_config = "Config", eager = "plain" }'


@pytest.mark.parametrize("command", [["veomni", "-q"], ["registry", "veomni"]])
def test_dialect_that_fits_nothing_is_noted(command: list[str], tree: Path) -> None:
    """A run in which overridden names leave nothing to check says so beside its result and names the settings."""
    write_files(tree, {"opslint.toml": WRONG_NAMES})
    outcome = opslint(*command, cwd=tree)
    assert outcome.status == 0
    assert outcome.err == (
        "opslint: note: opslint.toml: dialect: with its `kernel_spec`, `op_slot`, `ops_config` there is no kernel "
        "spec, no slot and no ops config in veomni, so hardly any rule had something to check\n"
    )


@pytest.mark.parametrize(
    ("files", "settings"),
    [
        ({}, 'dialect = { kernel_spec = "Spec", op_slot = "Slot" }'),
        ({"old/ops/attention.py": "x = 1\n"}, 'package = "old"'),
        ({"old/ops/attention.py": "x = 1\n"}, 'package = "old"\ndialect = { eager = "plain" }'),
        ({"old/operators/attention.py": "x = 1\n"}, 'package = "old"\ndialect = { ops_package = "operators" }'),
    ],
)
def test_dialect_without_a_doubt(files: dict[str, str], settings: str, tree: Path) -> None:
    """Nothing is noted where something is found, nor about an older generation whose names are not overridden."""
    write_files(tree, {**files, "opslint.toml": settings})
    assert opslint(".", "--select", "OPS001", "-q", cwd=tree) == Outcome(0, "", "")


def test_standard_input(tree: Path) -> None:
    """An editor's buffer takes the place of the file on disk, which need not exist."""
    write_files(tree, BROKEN)
    path = "veomni/ops/broken.py"
    assert opslint("--stdin-filename", path, cwd=tree, stdin="x = 1\n") == Outcome(0, "no findings in 1 file\n", "")
    new = opslint("--stdin-filename", "veomni/ops/new.py", "-q", "--output-format", "concise", cwd=tree, stdin="(\n")
    assert (new.status, new.out.startswith("veomni/ops/new.py:1:1: error OPS001")) == (1, True)


def test_unreadable_file(tree: Path) -> None:
    """A file in another encoding than it says is a warning with its place, and the run goes on."""
    (tree / "veomni/latin.py").write_bytes(b"# caf\xe9\n")
    outcome = opslint("veomni", "--select", "OPS002", "-q", "--output-format", "concise", cwd=tree)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("veomni/latin.py:1:1: warning OPS003 unreadable-file: cannot be read, so nothing")


def test_interrupt(monkeypatch: pytest.MonkeyPatch, tree: Path) -> None:
    """Ctrl-C ends with 130 and no traceback."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "analyse", interrupted)
    assert main([str(tree / "veomni")]) == 130
