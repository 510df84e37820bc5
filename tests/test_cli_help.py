"""The command line from outside: start-up, help, and what it says of the rules."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.command import Outcome, opslint
from support.projects import write_base_tree, write_files

from veomni_opslint import __version__
from veomni_opslint.cli.check_options import REPORT_FORMATS, check_parser
from veomni_opslint.cli.parsers import COMMANDS, REGISTRY_FORMATS, parse
from veomni_opslint.registry_report import FORMATS as REGISTRY
from veomni_opslint.reporters import FORMATS
from veomni_opslint.rule_loader import load_rules


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small clean project."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"pyproject.toml": ""})
    return tmp_path


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(flag: str) -> None:
    """The version, and nothing else."""
    assert opslint(flag) == Outcome(0, f"opslint {__version__}\n", "")
    assert opslint("check", flag) == Outcome(0, f"opslint {__version__}\n", "")


@pytest.mark.parametrize(
    "statement", ["import veomni_opslint", "from veomni_opslint.__main__ import main; main(['--version'])"]
)
def test_light_start(statement: str) -> None:
    """Neither the import nor `--version` loads anything heavy."""
    program = f"import sys; before = set(sys.modules); {statement}; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.strip("'").partition(".")[0] for name in done.stdout.splitlines()[-1].strip("[]").split(", ")}
    assert loaded <= {"__future__", "gc", "sys", "veomni_opslint"}


def test_a_run_imports_nothing_heavy(tree: Path) -> None:
    """A whole run needs neither libcst, networkx, yaml nor rich."""
    program = (
        "import sys; from veomni_opslint.__main__ import main; main(['veomni', '-q']); "
        "print(sorted({'libcst', 'networkx', 'yaml', 'rich', 'torch', 'veomni'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tree, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help(command: str) -> None:
    """Every command explains itself."""
    outcome = opslint(command, "--help", COLUMNS="80")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("usage: opslint")
    assert [line for line in outcome.out.splitlines() if len(line) > 80] == []


def test_one_spelling() -> None:
    """What means the same is spelled the same in every command that has it, and the older spelling is taken, too."""
    for command in ("registry", "bind", "op", "runtime", "rules"):
        operands = ["rms_norm"] if command == "op" else []
        for option in ("--output-format", "--format"):
            assert parse(command, [*operands, option, "json"]).format == "json"
    for option in ("--output-format", "--format"):
        assert parse("check", [option, "json", "."]).reports == [("--output-format", "json")]
    for command in ("check", "registry", "op"):
        assert [parse(command, ["x", option, "f"]).config for option in ("--config", "--settings")] == ["f", "f"]
    for command in ("bind", "runtime"):
        options = parse(command, ["--settings", "f", "--config", "job.yaml"])
        assert (options.settings, options.config) == ("f", "job.yaml")


def test_formats_offered_are_formats_there_are() -> None:
    """The option and the reporters agree."""
    assert (tuple(FORMATS), tuple(REGISTRY)) == (REPORT_FORMATS, REGISTRY_FORMATS)
    assert "--output-format" in check_parser().option_names()


@pytest.mark.parametrize("command", ["", "registry", "bind", "op", "runtime", "rules", "explain"])
def test_help_says_how_it_ends(command: str) -> None:
    """Each command's help lists its exit statuses, 2 among them."""
    outcome = opslint(*[command] * bool(command), "--help")
    assert re.findall(r"^  (\d)  ", outcome.out.partition("exit status:\n  0")[2], re.MULTILINE)[-1:] == ["2"]


def test_rules() -> None:
    """One line a rule, JSON, or a table of a page."""
    outcome = opslint("rules")
    assert [line.split()[0] for line in outcome.out.splitlines()] == [loaded.rule.code for loaded in load_rules()]
    assert opslint("rules", "--format", "markdown").out.splitlines()[:3] == [
        "| code | name | severity | fix | what it reports |",
        "| --- | --- | --- | --- | --- |",
        "| OPS001 | syntax-error | error |  | A file of the project cannot be parsed, so nothing in it was checked. |",
    ]
    first = json.loads(opslint("rules", "--format", "json").out)[0]
    assert first == {
        "code": "OPS001",
        "name": "syntax-error",
        "severity": "error",
        "fixable": False,
        "summary": "A file of the project cannot be parsed, so nothing in it was checked.",
        "options": {},
    }


def test_explain() -> None:
    """Into a pipe the page as it is; coloured, without the marks of Markdown."""
    page = (Path(__file__).parent.parent / "rules/ops002_unused_suppression.md").read_text(encoding="utf-8")
    for word in ("OPS002", "ops002", "unused-suppression"):
        assert opslint("explain", word) == Outcome(0, page, "")
    shown = opslint("explain", "OPS002", "--color", "always").out
    assert shown.startswith(
        "\x1b[1mOPS002 unused-suppression\x1b[0m\n\x1b[2mwarning, with a fix (--fix)\x1b[0m\n\nA sup"
    )
    assert [line for line in shown.splitlines() if "```" in line or line.startswith("#")] == []
