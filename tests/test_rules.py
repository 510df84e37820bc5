"""The rules themselves: names, pages and examples agree, and a new rule edits no existing file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from support.pages import read_page

from veomni_opslint.rule_loader import LoadedRule, load_rules, rule_page

RULES = Path(__file__).parent.parent / "rules"
SECTION_ORDER = ("Why", "Bad", "Good", "Silent near misses", "Fix", "Options", "When to suppress")
REQUIRED_SECTIONS = ("Why", "Bad", "Good", "When to suppress")

each_rule = pytest.mark.parametrize("loaded", load_rules(), ids=lambda loaded: loaded.stem)


def test_folder_holds_stems_only() -> None:
    """Every file of the folder is a rule or its page: no test, no helper that is shared by copying."""
    stray = [path.name for path in RULES.iterdir() if path.suffix not in (".py", ".md") and path.name != "__pycache__"]
    python = {path.stem for path in RULES.glob("*.py")} - {"__init__"}
    pages = {path.stem for path in RULES.glob("*.md")}
    assert (stray, python) == ([], pages)
    assert [stem for stem in python if not re.fullmatch(r"ops\d{3}_[a-z0-9_]+", stem)] == []


def test_codes_and_names_are_unique() -> None:
    """No two rules share a code or a name."""
    rules = [loaded.rule for loaded in load_rules()]
    assert len({rule.code for rule in rules}) == len({rule.name for rule in rules}) == len(rules)


def test_loader_finds_every_file() -> None:
    """What the loader loads is what the folder holds."""
    assert {loaded.stem for loaded in load_rules()} == {path.stem for path in RULES.glob("ops*.py")}


@each_rule
def test_page_agrees_with_the_rule(loaded: LoadedRule) -> None:
    """Title and first line of the page are code, name and docstring of the module."""
    page = read_page(rule_page(loaded))
    assert page.title == f"{loaded.rule.code} {loaded.rule.name}"
    assert page.summary == loaded.summary


@each_rule
def test_page_structure(loaded: LoadedRule) -> None:
    """The sections are the known ones in their order, and the required ones are there."""
    sections = read_page(rule_page(loaded)).sections
    assert [section for section in REQUIRED_SECTIONS if section not in sections] == []
    assert list(sections) == [section for section in SECTION_ORDER if section in sections]
    assert ("Fix" in sections) == loaded.fixable
    assert ("Options" in sections) == bool(loaded.options)


@each_rule
def test_examples_show_the_fault_and_its_absence(loaded: LoadedRule) -> None:
    """At least one bad example, at least one good one, and each marks what its kind promises."""
    examples = read_page(rule_page(loaded)).examples()
    kinds = {example.kind for example in examples}
    assert "bad" in kinds
    assert kinds & {"good", "silent"}
    for example in examples:
        codes = {code for _, _, code in example.expected}
        faulty = example.kind in ("bad", "before")
        assert codes == ({loaded.rule.code} if faulty else set()), f"line {example.line}"


@each_rule
def test_a_fix_is_shown_before_and_after(loaded: LoadedRule) -> None:
    """A rule with a fix shows what it does; every example of one has both halves, and no other rule has any."""
    page = read_page(rule_page(loaded))
    kinds = [example.kind for example in page.examples() if example.kind in ("before", "after")]
    assert kinds == ["before", "after"] * len(page.repairs())
    assert bool(kinds) == loaded.fixable


@each_rule
def test_python_examples_parse(loaded: LoadedRule) -> None:
    """Every Python example is Python, except where the page is about files that are none."""
    if loaded.always:
        return
    for fence in read_page(rule_page(loaded)).fences:
        if fence.language == "python":
            ast.parse(fence.content)


@each_rule
def test_summary_is_a_sentence(loaded: LoadedRule) -> None:
    """The line that `opslint rules` shows is one sentence that fits a terminal."""
    assert not loaded.summary[0].islower()
    assert loaded.summary.endswith(".")
    assert len(loaded.summary) <= 120


@each_rule
def test_options_are_documented(loaded: LoadedRule) -> None:
    """The page names every option of the rule."""
    page = rule_page(loaded)
    assert [option for option in loaded.options if f"`{option}`" not in page] == []


@each_rule
def test_rule_module_is_pure(loaded: LoadedRule) -> None:
    """A rule opens no file, prints nothing, and imports neither the CLI nor the reporters."""
    tree = ast.parse((RULES / f"{loaded.stem}.py").read_text(encoding="utf-8"))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert called & {"open", "print", "input", "exec", "eval"} == set()
    forbidden = ("veomni_opslint.cli", "veomni_opslint.reporters", "veomni_opslint.rules", "os", "pathlib", "io")
    assert [name for name in imported if name.startswith(forbidden[:3]) or name in forbidden] == []
