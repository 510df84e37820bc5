"""Whatever is wrong with a tree or its settings, the gate is not green over it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command import opslint
from support.projects import write_base_tree, write_files

BROKEN = "def f(:\n"
UNUSED = "x = 1  # noqa: OPS001\n"
BASELINE = "# opslint baseline 1, of the package\n# end\n"
OWN = '[tool.opslint]\nrule-paths = ["own"]\n'
RAISES = (
    '"""It fails."""\nfrom veomni_opslint.rule_api import *\nrule = Rule.of(__name__)\n'
    "def check(model):\n    raise SystemExit(0)\n"
)
GATE = ("veomni", "--baseline", "b.txt")

CASES = [
    ({"veomni/a.py": BROKEN}, ("veomni", "--select", "OPS301"), 1, "veomni/a.py:1:7: error OPS001"),
    ({"veomni/a.py": BROKEN}, ("veomni", "-q", "--min-severity", "error"), 1, "veomni/a.py:1:7: error OPS001"),
    ({"veomni/a.py": BROKEN, "b.txt": BASELINE}, GATE, 1, "veomni/a.py:1:7: error OPS001"),
    ({"veomni/a.py": "# coding: utf-9\n"}, ("veomni", "--strict"), 1, "veomni/a.py:1:1: warning OPS003"),
    ({"veomni/a.py": f"{BROKEN}# noqa: OPS01\n"}, ("veomni",), 1, "veomni/a.py:1:7: error OPS001"),
    ({"veomni/a.py": "x = 1  # opslint: ignore[unregistred-slot] old\n"}, ("veomni", "--strict"), 1, "names no rule"),
    ({"veomni/a.py": UNUSED, "b.txt": BASELINE}, (*GATE, "--strict"), 1, "veomni/a.py:1:16: warning OPS002"),
    (
        {"b.txt": BASELINE.replace("# end", f"veomni/x.py: OPS001 broken [{'0' * 32}]\n# end")},
        (*GATE, "--strict"),
        1,
        "b.txt:2:1: warning OPS004",
    ),
    ({"veomni/a.py": BROKEN}, ("veomni/ops", "veomni/a.py"), 1, "veomni/a.py:1:7: error OPS001"),
    ({"veomni/a.py": BROKEN, "pyproject.toml": "[tool.opslint]\nselect = []\n"}, ("veomni",), 2, "no rule is selected"),
    ({"b.txt": ""}, GATE, 2, "b.txt: is no baseline of opslint"),
    ({"b.txt": f"<<<<<<< ours\n{BASELINE}"}, GATE, 2, "b.txt: is no baseline of opslint"),
    ({"b.txt": BASELINE.replace("# end", "=======\n# end")}, GATE, 2, "b.txt:2: is damaged: the line is no entry"),
    ({"b.txt": BASELINE.replace("baseline 1", "baseline 9")}, GATE, 2, "b.txt: is of version 9"),
    ({"pyproject.toml": '[tool.opslint]\nbaseline = "gone.txt"\n'}, ("veomni",), 2, "gone.txt: no such file"),
    ({"pyproject.toml": '[tool.opslint]\nexclude = ["veomni"]\n'}, ("veomni",), 2, "no Python file to check in veomni"),
    ({"pyproject.toml": '[tool.opslint]\npackage = "veomny"\n'}, ("veomni",), 2, "no such folder"),
    ({"pyproject.toml": '[tool.opslint]\nignores = ["OPS1"]\n'}, ("veomni",), 2, "did you mean `ignore`?"),
    ({"pyproject.toml": "[tool.opslint\n"}, ("veomni",), 2, "is not valid TOML"),
    (
        {"pyproject.toml": "[tool.opslint]\nper-file-ignores = { a = ['OPS77'] }\n"},
        ("veomni",),
        2,
        "`OPS77` names no rule",
    ),
    ({"pyproject.toml": "[tool.opslint.rules.syntax-error]\nlimit = 3\n"}, ("veomni",), 2, "has no option `limit`"),
    ({"pyproject.toml": "[tool.opslint.dialect]\nregistri = 'R'\n"}, ("veomni",), 2, "did you mean `registry`?"),
    ({"pyproject.toml": OWN}, ("veomni",), 2, "own: cannot be read: No such file or directory"),
    ({"pyproject.toml": OWN, "own/opsx101_x.py": "1 / 0\n"}, ("veomni",), 2, "own/opsx101_x.py cannot be imported"),
    ({"pyproject.toml": OWN, "own/opsx101_x.py": RAISES}, ("veomni",), 2, "rule OPSX101 x failed: SystemExit: 0"),
    ({"empty/a.txt": ""}, ("empty",), 2, "no Python file to check in empty"),
    ({"old/ops.py": ""}, ("--root", "old", "old"), 2, "no package to check in "),
    ({}, ("veomni", "--exit-zero", "--select", "OPS77"), 2, "`OPS77` names no rule"),
    ({}, ("veomni", "--exit-zero", "--new-from", "main"), 2, "git finds no repository"),
    ({}, ("veomni", "veomni/gone.py"), 2, "veomni/gone.py: no such file or folder"),
]


@pytest.mark.parametrize(("files", "arguments", "status", "said"), CASES)
def test_not_green(files: dict[str, str], arguments: tuple[str, ...], status: int, said: str, tmp_path: Path) -> None:
    """1 with the finding on standard output, or 2 with one line on standard error and nothing else."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"pyproject.toml": "", **files})
    outcome = opslint(*arguments, cwd=tmp_path)
    assert outcome.status == status
    assert said in (outcome.out if status == 1 else outcome.err)
    assert (outcome.out if status == 2 else outcome.err) == ""
    assert outcome.err.count("\n") == (1 if status == 2 else 0)


def test_base_is_green(tmp_path: Path) -> None:
    """The tree that the cases are laid over gives 0, so that each status is that of its case."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"pyproject.toml": "", "b.txt": BASELINE})
    assert opslint(*GATE, "--strict", cwd=tmp_path).status == 0
