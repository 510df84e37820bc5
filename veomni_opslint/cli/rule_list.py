"""The table of ``opslint rules``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from textwrap import wrap

from veomni_opslint.reporters.style import Presentation
from veomni_opslint.reporters.table import markdown_table
from veomni_opslint.rule_loader import LoadedRule

_NARROWEST = 30
_COLUMNS = ("code", "name", "severity", "fix", "what it reports")


def render_rules(rules: Sequence[LoadedRule], output_format: str, presentation: Presentation) -> str:
    """Every rule: one a line, as JSON, or as a table of a page."""
    if output_format == "json":
        return json.dumps([_document(loaded) for loaded in rules], indent=2) + "\n"
    if output_format == "markdown":
        return markdown_table(_COLUMNS, [_row(loaded) for loaded in rules])
    widest = max(len(loaded.rule.name) for loaded in rules)
    lines = []
    for loaded in rules:
        rule = loaded.rule
        severity = presentation.severe(f"{rule.severity:<7}", rule.severity)
        fix = "fix" if loaded.fixable else "   "
        start = f"{rule.code}  {rule.name:<{widest}}  {rule.severity:<7}  {fix}  "
        first, *further = _summary(loaded.summary, len(start), presentation)
        lines.append(f"{presentation.bold(rule.code)}  {rule.name:<{widest}}  {severity}  {fix}  {first}")
        lines += [" " * len(start) + line for line in further]
    return "".join(f"{line}\n" for line in lines)


def _summary(text: str, start: int, presentation: Presentation) -> list[str]:
    """The summary in the columns of the terminal from *start* on; whole where there is no terminal."""
    if presentation.columns is None:
        return [text]
    return wrap(text, max(presentation.columns - start, _NARROWEST), break_long_words=False, break_on_hyphens=False)


def _row(loaded: LoadedRule) -> tuple[str, ...]:
    rule = loaded.rule
    return rule.code, rule.name, str(rule.severity), "yes" if loaded.fixable else "", loaded.summary


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
