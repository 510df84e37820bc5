"""Severity by rule and by file: which level wins, and what is off."""

from __future__ import annotations

import pytest
from support.fake_rules import fake_rule

from veomni_opslint.errors import RunError
from veomni_opslint.findings import Severity
from veomni_opslint.rule_levels import Levels, read_levels
from veomni_opslint.settings import Settings

RULES = (
    fake_rule("ops001_broken", always=True),
    fake_rule("ops101_eager_import"),
    fake_rule("ops102_lazy_factory"),
    fake_rule("ops301_lost_slot"),
)
ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


def levels_of(levels: Levels, path: str) -> list[Severity | None]:
    """The severities of the rules in a file."""
    return [levels.of(loaded.rule.code, path) for loaded in RULES]


def test_nearest_selector_wins() -> None:
    """A code decides over the beginning of one, wherever the two stand."""
    levels = read_levels(Settings(severity=(("OPS101", INFO), ("OPS1", WARNING))), RULES)
    assert levels_of(levels, "a.py") == [None, INFO, WARNING, None]


def test_files_go_first() -> None:
    """In the files of a pattern its table decides; of two patterns the nearer selector, then the last pattern."""
    settings = Settings(
        severity=(("OPS101", INFO),),
        per_file_severity=(
            ("tests", (("OPS1", ERROR), ("OPS301", WARNING))),
            ("tests/slow", (("ALL", INFO), ("OPS102", WARNING))),
            ("b.py", (("OPS102", INFO),)),
        ),
    )
    levels = read_levels(settings, RULES)
    assert levels_of(levels, "a.py") == [None, INFO, None, None]
    assert levels_of(levels, "tests/a.py") == [None, ERROR, ERROR, WARNING]
    assert levels_of(levels, "tests/slow/a.py") == [INFO, ERROR, WARNING, WARNING]
    assert levels_of(levels, "tests/slow/b.py") == [INFO, ERROR, INFO, WARNING]


def test_off() -> None:
    """A rule that is off everywhere is told apart from one that is off in some files."""
    settings = Settings(
        severity=(("OPS1", "off"), ("OPS102", WARNING)), per_file_severity=(("tests", (("lost-slot", "off"),)),)
    )
    levels = read_levels(settings, RULES)
    assert levels.off == ("OPS101",)
    assert (levels.off_in("tests/a.py"), levels.off_in("a.py")) == ({"OPS301"}, frozenset())
    assert levels_of(levels, "tests/a.py") == [None, None, WARNING, None]


def test_broken_files_are_off_by_their_own_code_only() -> None:
    """`ALL` or the beginning of a code does not hide that a file could not be checked."""
    assert read_levels(Settings(severity=(("ALL", "off"),)), RULES).off == ("OPS101", "OPS102", "OPS301")
    assert read_levels(Settings(severity=(("OPS001", "off"),)), RULES).off == ("OPS001",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(severity=(("OPS7", INFO),)), "the default settings: severity: `OPS7` names no rule"),
        (
            Settings(per_file_severity=(("a", (("x", "off"),)),)),
            "the default settings: per-file-severity 'a': `x` names",
        ),
    ],
)
def test_unknown_rule(settings: Settings, message: str) -> None:
    """A selector that names no rule ends the run."""
    with pytest.raises(RunError) as error:
        read_levels(settings, RULES)
    assert str(error.value).startswith(message)
