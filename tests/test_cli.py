"""The command line from outside: what is printed where, and how it ends."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support.command import Outcome, opslint
from support.projects import write_base_tree, write_files

from veomni_opslint import __version__, check
from veomni_opslint.__main__ import main
from veomni_opslint.cli import output
from veomni_opslint.cli.check_options import REPORT_FORMATS, check_parser
from veomni_opslint.cli.parsers import COMMANDS, REGISTRY_FORMATS, parse
from veomni_opslint.registry_report import FORMATS as REGISTRY
from veomni_opslint.reporters import FORMATS
from veomni_opslint.rule_loader import load_rules

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


def test_line_of_a_document(tree: Path) -> None:
    """The line that a finding is about is shown of documents and of YAML files, too."""
    table = "| Config field | Default |\n|---|---|\n| `swiglu_mlp_implementation` | `eager` |\n"
    write_files(tree, {"docs/kernels.md": table})
    assert opslint(".", cwd=tree).out.splitlines()[3:5] == [
        "    3 | | `swiglu_mlp_implementation` | `eager` |",
        "      |                                 ^^^^^^^",
    ]


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


def test_interrupt(monkeypatch: pytest.MonkeyPatch, tree: Path) -> None:
    """Ctrl-C ends with 130 and no traceback."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "analyse", interrupted)
    assert main([str(tree / "veomni")]) == 130


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
