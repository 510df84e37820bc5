"""The table of ``opslint rules``."""

from __future__ import annotations

import json
from collections.abc import Sequence

from veomni_opslint.reporters.style import Presentation
from veomni_opslint.rule_loader import LoadedRule


def render_rules(rules: Sequence[LoadedRule], output_format: str, presentation: Presentation) -> str:
    """Every rule, one a line or as JSON."""
    if output_format == "json":
        return json.dumps([_document(loaded) for loaded in rules], indent=2) + "\n"
    widest = max(len(loaded.rule.name) for loaded in rules)
    lines = []
    for loaded in rules:
        rule = loaded.rule
        severity = presentation.severe(f"{rule.severity:<7}", rule.severity)
        fix = "fix" if loaded.fixable else "   "
        lines.append(f"{presentation.bold(rule.code)}  {rule.name:<{widest}}  {severity}  {fix}  {loaded.summary}")
    return "".join(f"{line}\n" for line in lines)


def _document(loaded: LoadedRule) -> dict[str, object]:
    rule = loaded.rule
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": str(rule.severity),
        "fixable": loaded.fixable,
        "summary": loaded.summary,
        "options": dict(loaded.options),
    }
