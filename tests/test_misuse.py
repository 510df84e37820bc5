"""Whatever is asked wrongly ends with status 2 and one line that says what is wrong and what to do."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from support.command import opslint
from support.projects import read_tree, write_base_tree, write_files

from veomni_opslint.__main__ import main

MISUSES = [
    ([], "no path was given; `opslint .` checks the project in this folder (see `opslint --help`)"),
    (["check"], "no path was given; `opslint .` checks the project in this folder (see `opslint --help`)"),
    (["veomi"], "veomi: no such file or folder; did you mean `veomni`?"),
    (["veomni", "nowhere"], "nowhere: no such file or folder"),
    (["registri"], "registri: no such file or folder; did you mean the command `registry`?"),
    ([""], "an empty path was given"),
    (["veomni", "--selekt", "OPS1"], "unknown option --selekt; did you mean `--select`? (see `opslint --help`)"),
    (["veomni", "--fixx"], "unknown option --fixx; did you mean `--fix`? (see `opslint --help`)"),
    (["veomni", "--unsafe-fixes"], "--unsafe-fixes says which fixes to apply: give --fix or --diff with it"),
    (
        ["veomni", "--fix", "--stdin-filename", "veomni/new.py"],
        "--fix cannot change standard input; --diff shows what it would change",
    ),
    (["veomni", "--baseline=x"], "--baseline x: no such file; `--write-baseline` makes it from what is found now"),
    (["veomni", "--baseline", "veomni"], "baseline veomni: cannot be read: it is no file"),
    (["veomni", "--baseline", "broken.toml"], "baseline broken.toml: is no baseline of opslint: its first line is"),
    (["veomni", "--baseline", "cut.txt"], "baseline cut.txt: is damaged: the last line, `# end`, is missing; restore"),
    (["veomni", "--baseline", "cut.txt", "--write-baseline"], "baseline cut.txt: is damaged: the last line"),
    (["veomni", "--baseline", "wild.txt"], "baseline wild.txt:2: is damaged: the line is no entry; restore it from"),
    (["veomni", "--baseline"], "argument --baseline: expected one argument (see `opslint --help`)"),
    (["veomni", "--baseline", ""], "argument --baseline: names no file (see `opslint --help`)"),
    (
        ["veomni", "--no-baseline", "--baseline", "x"],
        "--baseline names what --no-baseline leaves aside: give one of the",
    ),
    (
        ["veomni", "--no-baseline", "--write-baseline"],
        "argument --write-baseline: not allowed with argument --no-baseline",
    ),
    (["veomni", "--write-baseline"], "--write-baseline: which file? give it with `--baseline FILE`, or set `baseline`"),
    (["veomni", "--prune-baseline"], "--prune-baseline: which file? give it with `--baseline FILE`, or set `baseline`"),
    (
        ["veomni", "--prune-baseline", "--baseline", "x"],
        "--baseline x: no such file; `--write-baseline` makes it from what is found now",
    ),
    (
        ["veomni", "--baseline", "x", "--prune-baseline", "--write-baseline"],
        "argument --write-baseline: not allowed with argument --prune-baseline",
    ),
    (
        ["--stdin-filename", "veomni/a.py", "--baseline", "x", "--write-baseline"],
        "--write-baseline is about files on disk, so --stdin-filename does not go with it",
    ),
    (
        ["veomni", "--config", "nobaseline.toml"],
        "nobaseline.toml: baseline lost.txt: no such file; `--write-baseline` makes it from what is found now",
    ),
    (["veomni", "--config", "basline.toml"], "basline.toml:1: basline: unknown key; did you mean `baseline`?"),
    (["veomni", "--new-from", "HEAD"], "--new-from HEAD: git finds no repository for "),
    (["veomni", "--new-from", ""], "--new-from: `` is no revision; give a commit, a branch or a tag"),
    (["veomni", "--new-from"], "argument --new-from: expected one argument (see `opslint --help`)"),
    (
        ["veomni", "--new-from", "HEAD", "--baseline", "x", "--write-baseline"],
        "--write-baseline accepts all that is found, --new-from leaves the old out: give one of the two",
    ),
    (
        ["veomni", "--config", "alloff.toml"],
        "no rule is selected, so nothing would be checked; `opslint rules` lists them",
    ),
    (
        ["veomni", "--config", "level.toml"],
        "level.toml:1: [severity] OPS301: has to be one of error, warning, info, off",
    ),
    (
        ["veomni", "--config", "norulelevel.toml"],
        "norulelevel.toml: severity: `lost-slot` names no rule; `opslint rules",
    ),
    (
        ["veomni", "--config", "nofilelevel.toml"],
        "nofilelevel.toml: per-file-severity 'tests': `OPS999` names no rule; `opslint rules` lists them",
    ),
    (
        ["veomni", "--fix", "--write-baseline", "--baseline", "x"],
        "--write-baseline accepts what --fix would repair: fix first, then accept what is left",
    ),
    (
        ["veomni", "--diff", "--prune-baseline", "--baseline", "x"],
        "--diff changes nothing, so no baseline is written with it: leave one of the two out",
    ),
    (["--show-files"], "no path was given; `opslint .` checks the project in this folder (see `opslint --help`)"),
    (["nowhere", "--show-settings"], "nowhere: no such file or folder"),
    (
        ["veomni", "--show-files", "--show-settings"],
        "argument --show-settings: not allowed with argument --show-files (see `opslint --help`)",
    ),
    (["--", "--exit-zero"], "--exit-zero: no such file or folder"),
    (["veomni", "-x"], "unrecognized arguments: -x (see `opslint --help`)"),
    (["veomni", "--select"], "argument --select: expected one argument (see `opslint --help`)"),
    (["veomni", "--select", ","], "argument --select: names no rule (see `opslint --help`)"),
    (["veomni", "--select", "OPS999"], "--select: `OPS999` names no rule; `opslint rules` lists them"),
    (["veomni", "--select", "syntax-eror"], "--select: `syntax-eror` names no rule; did you mean `syntax-error`?"),
    (["veomni", "--ignore", "E501"], "--ignore: `E501` names no rule"),
    (["veomni", "--ignore", "ALL"], "no rule is selected, so nothing would be checked; `opslint rules` lists them"),
    (
        ["veomni", "--output-format", "jsn"],
        "argument --output-format: `jsn` is none of text, concise, json, jsonl, sarif, github, gitlab, junit, markdown",
    ),
    (["veomni", "--output-format", "html"], "argument --output-format: `html` is none of text, concise, json, jsonl, "),
    (["veomni", "--output", ""], "argument --output: names no file (see `opslint --help`)"),
    (
        ["veomni", "--output-format", "json", "--output-format", "github"],
        "json and github would both go to standard output: give one of them an --output",
    ),
    (
        ["veomni", "--output", "a", "--output", "b"],
        "--output a: which format? of several reports, give each file after its --output-format",
    ),
    (
        ["veomni", "--output", "a", "--output-format", "json", "--output-format", "text"],
        "--output a: which format? of several reports, give each file after its --output-format",
    ),
    (
        ["veomni", "--output-format", "json", "--output", "a", "--output", "b"],
        "--output b: json goes to a; give a --output-format before it",
    ),
    (
        ["veomni", "--output-format", "json", "--output", "a", "--output-format", "text", "--output", "./a"],
        "--output ./a: is given for json and for text",
    ),
    (
        ["veomni", "--output-format", "json", "--output", "a", "--output-format", "text", "--diff"],
        "--diff shows one text instead of a report: give --output at most once, and no --output-format",
    ),
    (
        ["veomni", "--output-format", "json", "--output", "a", "--output-format", "text", "--show-settings"],
        "--show-settings shows one text instead of a report: give --output at most once, and no --output-format",
    ),
    (
        ["veomni", "--output", "wild.txt", "--baseline", "./wild.txt"],
        "--output wild.txt: is the baseline, which the report would replace: give another file",
    ),
    (
        ["veomni", "--output-format", "text", "--output-format", "sarif", "--output", "nowhere/a.sarif"],
        "--output nowhere/a.sarif: cannot be written: No such file",
    ),
    (["veomni", "--min-severity", "warn"], "argument --min-severity: `warn` is none of error, warning, info; did you"),
    (["veomni", "--color", "yes"], "argument --color: `yes` is none of auto, always, never"),
    (["veomni", "-q", "-v"], "argument -v/--verbose: not allowed with argument -q/--quiet"),
    (
        ["veomni", "--strict", "--min-severity", "error"],
        "--strict fails the run on warnings, which --min-severity error",
    ),
    (["veomni", "--config", ""], "argument --config: names no file (see `opslint --help`)"),
    (["veomni", "--settings", ""], "argument --settings: names no file (see `opslint --help`)"),
    (["veomni", "--root", ""], "argument --root: names no folder (see `opslint --help`)"),
    (["veomni", "--stdin-filename", ""], "argument --stdin-filename: names no file (see `opslint --help`)"),
    (["veomni", "--config", "nowhere.toml"], "nowhere.toml: no such configuration file"),
    (["veomni", "--config", "broken.toml"], "broken.toml: is not valid TOML: "),
    (["veomni", "--config", "wrong.toml"], "wrong.toml:1: selct: unknown key; did you mean `select`?"),
    (["veomni", "--config", "norule.toml"], "norule.toml: select: `OPS999` names no rule"),
    (["veomni", "--root", "nowhere"], "--root nowhere: no such folder"),
    (["veomni", "--output", "nowhere/report.txt"], "--output nowhere/report.txt: cannot be written: No such file"),
    (["veomni", "--output", "veomni"], "--output veomni: cannot be written: Is a directory"),
    (
        ["--stdin-filename", "notes/a.txt"],
        "--stdin-filename notes/a.txt: is not the name of a Python file: it does not end in `.py`",
    ),
    (
        ["veomni", "--stdin-filename", "veomni/ops/new"],
        "--stdin-filename veomni/ops/new: is not the name of a Python file: it does not end in `.py`",
    ),
    (
        ["--stdin-filename", "veomni/ops"],
        "--stdin-filename veomni/ops: is a folder; give the name of the Python file",
    ),
    (
        ["--stdin-filename", "veomni/opps/new.py"],
        "--stdin-filename veomni/opps/new.py: there is no folder veomni/opps; the file itself need not exist, its",
    ),
    (["notes"], "no Python file to check in notes"),
    (["notes/a.txt"], "no Python file to check in notes/a.txt"),
    (["registry", ""], "an empty path was given"),
    (["registry", "veomni", "--output", ""], "argument --output: names no file (see `opslint registry --help`)"),
    (["registry", "notes/a.txt"], "notes/a.txt: is no Python file; PATH is the package or its repository"),
    (["registry", "jobs/job.yaml"], "jobs/job.yaml: is no Python file; PATH is the package or its repository"),
    (["op", "rms_norm", "jobs/job.yaml"], "jobs/job.yaml: is no Python file; PATH is the package or its repository"),
    (["bind", "jobs/job.yaml"], "jobs/job.yaml: is the file of a job: give it as `--config jobs/job.yaml`"),
    (["bind", "notes/a.txt"], "notes/a.txt: is no Python file; PATH is the package or its repository"),
    (["bind", "veomni", "--settings", ""], "argument --settings: names no file (see `opslint bind --help`)"),
    (["bind", "veomni", "--model", ""], "argument --model: names no model (see `opslint bind --help`)"),
    (["runtime", ""], "an empty path was given"),
    (["runtime", "jobs/job.yaml"], "jobs/job.yaml: is the file of a job: give it as `--config jobs/job.yaml`"),
    (["runtime", "--python", ""], "argument --python: names no file (see `opslint runtime --help`)"),
    (["runtime", "--package", ""], "argument --package: names no package (see `opslint runtime --help`)"),
    (["runtime", "--config", ""], "argument --config: names no file (see `opslint runtime --help`)"),
    (["registry", "nowhere"], "nowhere: no such file or folder"),
    (["registry", "--format", "html"], "argument --format: `html` is none of text, json, markdown"),
    (["registry", "veomni", "veomni"], "unrecognized arguments: veomni (see `opslint registry --help`)"),
    (["rules", "x"], "unrecognized arguments: x (see `opslint rules --help`)"),
    (["explain"], "the following arguments are required: RULE (see `opslint explain --help`)"),
    (["explain", "OPS999"], "`OPS999` is no rule; `opslint rules` lists them"),
    (["explain", "unused-supression"], "`unused-supression` is no rule; did you mean `unused-suppression`?"),
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project, with wrong settings files that nothing uses by itself."""
    root = tmp_path_factory.mktemp("project")
    write_base_tree(root)
    files = {
        "broken.toml": "[",
        "wrong.toml": "selct = []",
        "norule.toml": 'select = ["OPS999"]',
        "nobaseline.toml": 'baseline = "lost.txt"',
        "basline.toml": 'basline = "lost.txt"',
        "alloff.toml": 'severity = { ALL = "off" }',
        "level.toml": 'severity.OPS301 = "fatal"',
        "norulelevel.toml": 'severity = { lost-slot = "off" }',
        "nofilelevel.toml": 'per-file-severity = { tests = { OPS999 = "off" } }',
        "cut.txt": "# opslint baseline 1, of the package\n",
        "wild.txt": "# opslint baseline 1, of the package\nveomni/*: OPS301\n# end\n",
        "notes/a.txt": "",
        "jobs/job.yaml": "",
    }
    write_files(root, {**files, "pyproject.toml": ""})
    return root


@pytest.mark.parametrize(
    ("arguments", "message"), MISUSES, ids=lambda value: "_".join(value) if isinstance(value, list) else ""
)
def test_misuse(
    arguments: list[str],
    message: str,
    tree: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing on standard output, one line on standard error, status 2."""
    monkeypatch.chdir(tree)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    status = main(arguments)
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert err.startswith(f"opslint: error: {message}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--fix"], ["--fix", "--unsafe-fixes"], ["--add-ignores", "for now"]])
def test_read_only_tree(arguments: list[str], tmp_path: Path) -> None:
    """Nothing is written and the status is 2, for root as well, whom the permission bits do not hold back."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"pyproject.toml": "", "veomni/a.py": "x = 1  # noqa: OPS201\n"})
    before = read_tree(tmp_path)
    folders = [path for path in (tmp_path, *tmp_path.rglob("*")) if path.is_dir()]
    for path in tmp_path.rglob("*.py"):
        path.chmod(0o444)
    for path in folders:
        path.chmod(0o555)
    outcome = opslint("veomni", "-q", *arguments, cwd=tmp_path)
    for path in folders:
        path.chmod(0o755)
    assert outcome.status == 2
    assert outcome.err == "opslint: error: veomni/a.py: not changed: the file is read-only\n"
    assert "veomni/a.py:1:16: warning OPS002" in outcome.out
    assert read_tree(tmp_path) == before


@pytest.mark.parametrize("arguments", [["."], ["a.py"], ["registry"]])
def test_no_package_to_check(arguments: list[str], tmp_path: Path) -> None:
    """Python without an ops package is nothing that opslint could check."""
    write_files(tmp_path, {"a.py": "", "pyproject.toml": ""})
    outcome = opslint(*arguments, cwd=tmp_path)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == (
        f"opslint: error: no package to check in {tmp_path}: looked for a Python package with a folder `ops/` in it; "
        "give its folder as PATH, or set `package` in [tool.opslint]\n"
    )


@pytest.mark.parametrize("verbose", [False, True])
def test_rule_that_fails_is_named(verbose: bool, tree: Path) -> None:
    """A fault of a rule is a fault of opslint: status 2, the rule and its cause; the traceback only when asked for."""
    program = f"""
import sys
from veomni_opslint import rule_loader
from veomni_opslint.__main__ import main
from veomni_opslint.rule import Rule
from veomni_opslint.rule_loader import LoadedRule
def check(model):
    raise KeyError("slot")
faulty = LoadedRule(Rule.of("ops999_faulty_rule"), "ops999_faulty_rule", "x", check, {{}}, False, False)
rules = (*rule_loader.load_rules(), faulty)
import veomni_opslint.check
veomni_opslint.check.project_rules = lambda *_: rules
sys.exit(main(["veomni"{', "--verbose"' if verbose else ""}]))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tree, capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 2
    assert last.startswith("opslint: error: rule OPS999 faulty-rule failed: KeyError: 'slot' (<string>:")
    assert last.endswith("`--ignore OPS999` runs without the rule, `--verbose` shows the traceback")
    assert ("Traceback" in done.stderr) == verbose
