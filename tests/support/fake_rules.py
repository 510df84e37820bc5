"""Rules that find nothing, for tests about everything around rules."""

from __future__ import annotations

from veomni_opslint.findings import Severity
from veomni_opslint.rule import Rule
from veomni_opslint.rule_loader import LoadedRule


def fake_rule(stem: str, severity: Severity = Severity.ERROR, *, always: bool = False, **options: object) -> LoadedRule:
    """A rule that finds nothing."""
    return LoadedRule(Rule.of(stem, severity), stem, "Nothing.", lambda _: (), options, fixable=False, always=always)


UNUSED = fake_rule("ops002_unused_suppression", Severity.WARNING)
SHOWN = fake_rule("ops201_shown_fault")
OTHER = fake_rule("ops301_other_fault")
RULES = (UNUSED, SHOWN, OTHER)
