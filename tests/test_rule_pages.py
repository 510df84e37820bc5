"""The examples of every rule's page, run as they stand there."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.pages import Example, read_page
from support.projects import assert_fixed, listing, places, run_rule, write_base_tree, write_files

from veomni_opslint.rule_loader import load_rules, rule_page

RULES = Path(__file__).parent.parent / "rules"
EXAMPLES = [
    pytest.param(loaded.rule.code, example, id=f"{loaded.rule.code}-line{example.line}-{example.name or example.kind}")
    for loaded in load_rules()
    # test_rules.py reports a page that is missing.
    if (RULES / f"{loaded.stem}.md").exists()
    for example in read_page(rule_page(loaded)).examples()
]


REPAIRS = [
    pytest.param(loaded.rule.code, *repair, id=f"{loaded.rule.code}-line{repair[0].line}")
    for loaded in load_rules()
    if loaded.fixable
    for repair in read_page(rule_page(loaded)).repairs()
]


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_example(code: str, example: Example, tmp_path: Path) -> None:
    """The rule reports exactly what the example marks, on the marked lines."""
    write_base_tree(tmp_path)
    write_files(tmp_path, example.files)
    report = run_rule(tmp_path, code)
    assert places(report) == example.expected, f"found:\n{listing(report)}"


@pytest.mark.parametrize(("code", "before", "after"), REPAIRS)
def test_fix(code: str, before: Example, after: Example, tmp_path: Path) -> None:
    """Fixing makes of one example the other, leaves no finding that it offered to fix, and is done after one run."""
    write_base_tree(tmp_path)
    write_files(tmp_path, before.files)
    assert_fixed(tmp_path, code, after.files)


def test_base_tree_is_clean(tmp_path: Path) -> None:
    """The tree that examples are laid over gives no finding of any rule, so an example shows only its own."""
    write_base_tree(tmp_path)
    report = run_rule(tmp_path, "ALL")
    assert places(report) == {}, f"found:\n{listing(report)}"
