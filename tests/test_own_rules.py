"""Rules of a project and of installed packages: they are rules like opslint's, and a broken one is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.command import Outcome, opslint
from support.projects import write_base_tree, write_files

EXAMPLE = Path(__file__).parent / "own_rules"
SETTINGS = '[tool.opslint]\nrule-paths = ["tools/opslint_rules"]\n'
RULE = '"""It is wrong."""\nfrom veomni_opslint.rule_api import *\nrule = Rule.of(__name__)\n'
ONE = f'{RULE}def check(model):\n    yield rule.finding(Place("veomni/__init__.py", 1), "it is wrong")\n'
FILE = "tools/opslint_rules/opsx101_x.py"
CONCISE = ("veomni", "-q", "--output-format", "concise")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project that names a folder of rules, which is empty."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"pyproject.toml": SETTINGS, "tools/opslint_rules/_shared.py": "WORD = 'shared'\n"})
    return tmp_path


def test_example(tree: Path) -> None:
    """The typed example, with its helper, its option and its page."""
    shutil.rmtree(tree / "tools/opslint_rules")
    shutil.copytree(EXAMPLE, tree / "tools/opslint_rules", ignore=shutil.ignore_patterns("__pycache__"))
    rms_norm, swiglu = "veomni/ops/kernels/rms_norm/__init__.py", "veomni/ops/kernels/swiglu/__init__.py"
    shown = opslint(*CONCISE, "--select", "OPSX", cwd=tree).out.splitlines()
    assert [line.partition(" of ")[0] for line in shown] == [
        f"{rms_norm}:17:5: warning OPSX101 undescribed-kernel: `liger_kernel`",
        f"{rms_norm}:26:5: warning OPSX101 undescribed-kernel: `npu`",
        f"{swiglu}:11:5: warning OPSX101 undescribed-kernel: `triton`",
    ]
    write_files(tree, {"pyproject.toml": f'{SETTINGS}rules.undescribed-kernel.except-for = ["triton", "npu"]\n'})
    assert opslint(*CONCISE, "--select", "OPSX", cwd=tree).out.count("\n") == 1
    page = (EXAMPLE / "opsx101_undescribed_kernel.md").read_text(encoding="utf-8")
    assert opslint("explain", "OPSX101", cwd=tree) == Outcome(0, page, "")


def test_own_rule_is_like_any_other(tree: Path) -> None:
    """It is listed, selected by code, name and beginning, given a level, silenced and explained; no file is left."""
    write_files(tree, {FILE: ONE.replace("wrong", "wrong")})
    line = "veomni/__init__.py:1:1: error OPSX101 x: it is wrong\n"
    for arguments in ((), ("--select", "OPSX101"), ("--select", "x"), ("--select", "OPSX")):
        assert opslint(*CONCISE, *arguments, cwd=tree) == Outcome(1, line, "")
    assert opslint(*CONCISE, "--ignore", "OPSX", cwd=tree) == Outcome(0, "", "")
    assert "OPSX101  x " in opslint("rules", cwd=tree / "veomni").out
    assert opslint("explain", "opsx101", cwd=tree).out == "# OPSX101 x\n\nIt is wrong.\n"
    write_files(tree, {"pyproject.toml": f'{SETTINGS}severity = {{ x = "warning" }}\n'})
    assert opslint(*CONCISE, cwd=tree) == Outcome(0, line.replace("error", "warning"), "")
    init = tree / "veomni/__init__.py"
    init.write_text(f"import os  # noqa: OPSX101\n{init.read_text(encoding='utf-8')}", encoding="utf-8")
    assert opslint(*CONCISE, cwd=tree) == Outcome(0, "", "")
    assert list((tree / "tools").rglob("__pycache__")) == []


def test_rules_of_an_installed_package(tree: Path) -> None:
    """An entry point names a module with one rule, or a package of them."""
    site = tree / "site"
    points = "[veomni_opslint.rules]\none = our_rules.one.opsy101_y\nmany = our_rules.many\n"
    write_files(
        tree,
        {
            "pyproject.toml": "",
            "site/our_rules-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: our-rules\nVersion: 1\n",
            "site/our_rules-1.dist-info/entry_points.txt": points,
            "site/our_rules/one/opsy101_y.py": ONE,
            "site/our_rules/many/__init__.py": "",
            "site/our_rules/many/opsy102_z.py": ONE,
            "site/our_rules/many/_shared.py": "",
        },
    )
    outcome = opslint(*CONCISE, cwd=tree, PYTHONPATH=str(site))
    assert [line.split()[2] for line in outcome.out.splitlines()] == ["OPSY101", "OPSY102"]
    write_files(tree, {"site/our_rules/many/opsy102_z.py": "1 / 0\n"})
    broken = opslint(*CONCISE, cwd=tree, PYTHONPATH=str(site))
    assert (broken.status, broken.out) == (2, "")
    assert broken.err.startswith("opslint: error: our_rules.many.opsy102_z cannot be imported: ZeroDivisionError: ")
    write_files(tree, {"site/our_rules-1.dist-info/entry_points.txt": "[veomni_opslint.rules]\none = nowhere_at_all\n"})
    lost = opslint(*CONCISE, cwd=tree, PYTHONPATH=str(site))
    assert (lost.status, lost.out) == (2, "")
    assert lost.err.startswith(
        "opslint: error: the rules `nowhere_at_all` of the installed package our-rules cannot be imported: "
    )


BROKEN = [
    ("1 / 0\n", f"{FILE} cannot be imported: ZeroDivisionError: division by zero (opsx101_x.py:1)"),
    ("import sys\nsys.exit(0)\n", f"{FILE} cannot be imported: SystemExit: 0"),
    ("def f(:\n", f"{FILE} cannot be imported: SyntaxError: invalid syntax"),
    ('"""Doc."""\n', f"{FILE} binds no `rule = Rule.of(__name__)`"),
    (RULE, f"{FILE} defines no `check(model)`"),
    (ONE.replace("Rule.of(__name__)", "Rule.of('opsx102_y')"), f"{FILE} binds no `rule = Rule.of(__name__)`"),
    (
        f"{RULE}def check(model):\n    raise KeyError('slot')\n",
        "rule OPSX101 x failed: KeyError: 'slot' (opsx101_x.py:5)",
    ),
    (f"{RULE}def check(model):\n    raise SystemExit(0)\n", "rule OPSX101 x failed: SystemExit: 0 (opsx101_x.py:5)"),
    (f"{RULE}def check(model): ...\n", "rule OPSX101 x failed: TypeError: 'NoneType' object is not iterable"),
    (
        f"{RULE}def check(model):\n    yield 'wrong'\n",
        "rule OPSX101 x failed: TypeError: it yields 'wrong', which is no",
    ),
    (
        f"{RULE}def check(model):\n    yield Rule.of('ops101_y').finding(Place('a.py', 1), 'x')\n",
        "rule OPSX101 x failed: ValueError: it yields a finding of OPS101; `rule.finding(...)` makes one of its own",
    ),
]


@pytest.mark.parametrize(("source", "message"), BROKEN)
def test_broken_rule_is_named(source: str, message: str, tree: Path) -> None:
    """Status 2, nothing on standard output, the file or the rule and its fault in one line."""
    write_files(tree, {FILE: source})
    outcome = opslint("veomni", cwd=tree)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(f"opslint: error: {message}")
    assert outcome.err.count("\n") == 1
    if " failed: " in message:
        assert f"; this is a fault of {FILE}: `--ignore OPSX101` runs without the rule" in outcome.err
        assert opslint("veomni", "--ignore", "OPSX101", cwd=tree).status == 0


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "pyproject.toml: rule-paths: tools/opslint_rules: holds no rule; a rule is a file called ops<letters>"),
        (
            {"pyproject.toml": SETTINGS.replace("_rules", "_rulse")},
            "pyproject.toml: rule-paths: tools/opslint_rulse: cannot",
        ),
        (
            {"pyproject.toml": SETTINGS.replace('"]', '/_shared.py"]')},
            "pyproject.toml: rule-paths: tools/opslint_rules/_sha",
        ),
        (
            {"tools/opslint_rules/opsx_101.py": ONE},
            "tools/opslint_rules/opsx_101.py cannot be imported: ValueError: a rule module is called",
        ),
        (
            {"tools/opslint_rules/ops901_x.py": ONE},
            "tools/opslint_rules/ops901_x.py: OPS901 is a code that opslint keeps for itself; call the file",
        ),
        (
            {"tools/opslint_rules/opsx101_syntax_error.py": ONE},
            "tools/opslint_rules/opsx101_syntax_error.py: `syntax-error` is taken by a rule of opslint; call the rule",
        ),
        (
            {FILE: ONE, "tools/opslint_rules/opsx101_y.py": ONE},
            "tools/opslint_rules/opsx101_y.py: `OPSX101` is taken by tools/opslint_rules/opsx101_x.py; call the rule",
        ),
    ],
)
def test_rules_that_cannot_be_found_or_told_apart(files: dict[str, str], message: str, tree: Path) -> None:
    """A folder without rules, a misspelt one, and a code or name that is taken end the run."""
    write_files(tree, files)
    outcome = opslint("veomni", cwd=tree)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(f"opslint: error: {message}")
