"""Loading and selecting rules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.fake_rules import fake_rule

from veomni_opslint import rule_loader
from veomni_opslint.errors import RunError
from veomni_opslint.findings import Severity
from veomni_opslint.rule import Rule
from veomni_opslint.rule_levels import Levels
from veomni_opslint.rule_loader import Selection, find_rule, load_rules, matches, rule_page, select_rules
from veomni_opslint.rule_settings import rule_options, rules_by_file
from veomni_opslint.settings import Settings

RULES = (
    fake_rule("ops001_broken", always=True),
    fake_rule("ops101_eager_import"),
    fake_rule("ops102_lazy_factory"),
    fake_rule("ops301_lost_slot", limit=3, allowed=("wan",)),
)


@pytest.fixture
def fake_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A rules package of our own, empty."""
    folder = tmp_path / "fake_rules"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(rule_loader, "_PACKAGE", "fake_rules")
    load_rules.cache_clear()
    yield folder
    load_rules.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "fake_rules"]:
        del sys.modules[name]


HEADER = "from veomni_opslint.rule import Rule\nrule = Rule.of(__name__)\n"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import nowhere_at_all", "rules/ops901_x.py cannot be imported: ModuleNotFoundError: No module named"),
        ("1 / 0", "rules/ops901_x.py cannot be imported: ZeroDivisionError: division by zero"),
        ('"""Doc."""\ndef check(model): ...', "rules/ops901_x.py binds no `rule = Rule.of(__name__)`"),
        (f'"""Doc."""\n{HEADER}', "rules/ops901_x.py defines no `check(model)`, and no `judge(run)`"),
        (f"{HEADER}def check(model): ...", "rules/ops901_x.py has no docstring that says what it catches"),
        (
            f'"""Doc."""\n{HEADER}OPTIONS = 3\ndef check(model): ...',
            "rules/ops901_x.py has an OPTIONS that is no mapping",
        ),
    ],
)
def test_broken_rule_is_named(source: str, message: str, fake_package: Path) -> None:
    """A rule that is none ends the run with its file and what it lacks."""
    (fake_package / "ops901_x.py").write_text(source, encoding="utf-8")
    with pytest.raises(RunError) as error:
        load_rules()
    assert str(error.value).startswith(message)


def test_rule_is_read_from_its_module(fake_package: Path) -> None:
    """Code and name come from the stem; summary, options, fix from the module; the page stands beside it."""
    source = (
        f'"""It fails.\n\nMore."""\n{HEADER}OPTIONS = {{"limit": 3}}\ndef check(model): ...\ndef fix(finding): ...\n'
    )
    (fake_package / "ops901_some_name.py").write_text(source, encoding="utf-8")
    (fake_package / "ops900_other.py").write_text(f'"""Other."""\n{HEADER}def check(model): ...', encoding="utf-8")
    other, loaded = load_rules()
    assert (other.rule, other.fixable, other.options) == (Rule("OPS900", "other", Severity.ERROR), False, {})
    assert (loaded.rule, loaded.summary) == (Rule("OPS901", "some-name", Severity.ERROR), "It fails.")
    assert (loaded.fixable, loaded.options, loaded.always) == (True, {"limit": 3}, False)


def test_missing_page_is_named(fake_package: Path) -> None:
    """An installation without pages says so."""
    (fake_package / "ops901_x.py").write_text(f'"""Doc."""\n{HEADER}def check(model): ...', encoding="utf-8")
    with pytest.raises(RunError, match=r"rules/ops901_x.md: the page of OPS901 is missing in this installation"):
        rule_page(load_rules()[0])


@pytest.mark.parametrize("word", ["OPS001", "ops001", "syntax-error", "ops001_syntax_error"])
def test_find_rule(word: str) -> None:
    """A rule is found by code, name or stem."""
    assert find_rule(word, load_rules()).rule.name == "syntax-error"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("syntax-eror", "`syntax-eror` is no rule; did you mean `syntax-error`?"),
        ("x", "`x` is no rule; `opslint rules` lists them"),
    ],
)
def test_find_rule_that_does_not_exist(word: str, message: str) -> None:
    """An unknown rule gets the nearest one, or the way to the list."""
    with pytest.raises(RunError) as error:
        find_rule(word, load_rules())
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("selector", "strength"),
    [
        ("OPS101", 100),
        ("ops101", 100),
        ("eager-import", 100),
        ("OPS10", 5),
        ("OPS", 3),
        ("ALL", 1),
        ("OPS2", 0),
        ("eager", 0),
    ],
)
def test_matches(selector: str, strength: int) -> None:
    """The nearer a selector names the rule the stronger it is; part of a name is no selector."""
    assert matches(selector, Rule.of("ops101_eager_import")) == strength


@pytest.mark.parametrize(
    ("configured", "asked", "codes"),
    [
        (Selection(("ALL",)), Selection(), ["OPS001", "OPS101", "OPS102", "OPS301"]),
        (Selection(("OPS1",)), Selection(), ["OPS001", "OPS101", "OPS102"]),
        (Selection(("ALL",), ignore=("OPS1",)), Selection(), ["OPS001", "OPS301"]),
        (Selection(("OPS101",), ignore=("OPS1",)), Selection(), ["OPS001", "OPS101"]),
        (Selection(("ALL",), ignore=("OPS1",), extend_select=("OPS102",)), Selection(), ["OPS001", "OPS102", "OPS301"]),
        (Selection(("OPS101",), ignore=("OPS101",)), Selection(("ALL",)), ["OPS001", "OPS101", "OPS102", "OPS301"]),
        (Selection(("ALL",)), Selection(("lost-slot",)), ["OPS001", "OPS301"]),
        (Selection(("ALL",)), Selection(ignore=("OPS1",)), ["OPS001", "OPS301"]),
        (Selection(("OPS3",)), Selection(extend_select=("OPS101",)), ["OPS001", "OPS101", "OPS301"]),
        (
            Selection(("ALL",), ignore=("OPS1",)),
            Selection(extend_select=("OPS1",)),
            ["OPS001", "OPS101", "OPS102", "OPS301"],
        ),
        (Selection(("ALL",)), Selection(("OPS1",), ignore=("OPS101",)), ["OPS001", "OPS102"]),
        (Selection(("ALL",)), Selection(("OPS101",), ignore=("OPS1",)), ["OPS001", "OPS101"]),
        (Selection(("ALL",)), Selection(ignore=("OPS001",)), ["OPS101", "OPS102", "OPS301"]),
        (Selection(("ALL",)), Selection(("OPS001",)), ["OPS001"]),
        (Selection(("ALL",)), Selection(("OPS301",), ignore=("OPS0",)), ["OPS001", "OPS301"]),
    ],
)
def test_selection(configured: Selection, asked: Selection, codes: list[str]) -> None:
    """The command line goes before the settings, the nearer selector before the farther; broken files always show."""
    assert [loaded.rule.code for loaded in select_rules(RULES, configured, asked, "x.toml")] == codes


@pytest.mark.parametrize(
    ("configured", "asked", "message"),
    [
        (Selection(("ALL",)), Selection(("OPS999",)), "--select: `OPS999` names no rule"),
        (Selection(("ALL",)), Selection(ignore=("OPS4",)), "--ignore: `OPS4` names no rule"),
        (Selection(("ALL",)), Selection(extend_select=("lost",)), "--extend-select: `lost` names no rule"),
        (Selection(("eager",)), Selection(), "x.toml: select: `eager` names no rule"),
        (Selection(("ALL",)), Selection(ignore=("ALL",)), "no rule is selected, so nothing would be checked"),
        (Selection(()), Selection(), "no rule is selected, so nothing would be checked"),
    ],
)
def test_selection_of_nothing(configured: Selection, asked: Selection, message: str) -> None:
    """A selector that names no rule, and a selection that leaves none, end the run."""
    with pytest.raises(RunError) as error:
        select_rules(RULES, configured, asked, "x.toml")
    assert str(error.value).startswith(message)


def test_rules_by_file() -> None:
    """Per-file ignores take rules from the files that a pattern matches."""
    rules = load_rules()
    settings = Settings(per_file_ignores=(("tests", ("OPS001",)), ("a.py", ("ALL",))))
    found = rules_by_file(["tests/b.py", "x/a.py", "b.py"], settings, rules, rules, Levels({}))
    everything = frozenset(loaded.rule.code for loaded in rules)
    assert found == {"tests/b.py": everything - {"OPS001"}, "x/a.py": frozenset(), "b.py": everything}
    with pytest.raises(RunError, match="per-file-ignores 'tests': `OPS999` names no rule"):
        rules_by_file([], Settings(per_file_ignores=(("tests", ("OPS999",)),)), rules, rules, Levels({}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lost-slott": {}}, "x.toml: rules.lost-slott: `lost-slott` names no rule"),
        (
            {"lost-slot": {"limits": 3}},
            "x.toml: rules.lost-slot: lost-slot has no option `limits`; did you mean `limit`?",
        ),
        (
            {"lost-slot": {"backend": 3}},
            "x.toml: rules.lost-slot: lost-slot has no option `backend`; it has `limit`, `allowed`",
        ),
        ({"OPS101": {"limit": 3}}, "x.toml: rules.OPS101: eager-import has no option `limit`; it has no options"),
        ({"OPS301": {"limit": "3"}}, "x.toml: rules.OPS301.limit: has to be an integer, not a string ('3')"),
        ({"OPS301": {"limit": True}}, "x.toml: rules.OPS301.limit: has to be an integer, not a boolean (True)"),
        ({"OPS301": {"allowed": "wan"}}, "x.toml: rules.OPS301.allowed: has to be a list, not a string ('wan')"),
    ],
)
def test_wrong_rule_options(options: dict[str, dict[str, object]], message: str) -> None:
    """An option that a rule does not have, or of another type, ends the run."""
    with pytest.raises(RunError) as error:
        rule_options(Settings(file="x.toml", rules=options), RULES)
    assert str(error.value).startswith(message)


def test_rule_options() -> None:
    """Options are the rule's defaults, but for what the settings say."""
    settings = Settings(rules={"OPS301": {"allowed": ["wan", "mine"]}})
    assert rule_options(settings, RULES)["lost-slot"] == {"limit": 3, "allowed": ("wan", "mine")}
