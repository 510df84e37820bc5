"""A suppression comment suppresses nothing, or names no rule.

Whether a suppression is used is known only once every other rule has run, so ``veomni_opslint/suppress.py`` makes
these findings, with this ``rule``; ``check`` has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from veomni_opslint.facts import FileFacts, Span, Suppression
from veomni_opslint.findings import Finding, Fix, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.proposals import Edit, NotPossibleError, Proposal, extent, line_around
from veomni_opslint.rule import Rule

_OTHER_TOOL = re.compile(r"[a-z][\w-]*:")

rule = Rule.of(__name__, Severity.WARNING)


def check(model: OpsModel) -> Iterator[Finding]:  # noqa: ARG001 - see above
    yield from ()


def fix(model: OpsModel, finding: Finding) -> Proposal | None:
    from veomni_opslint.rule_loader import load_rules, matches  # noqa: PLC0415 - the loader imports the rules
    from veomni_opslint.suppress import written_in  # noqa: PLC0415 - as above

    facts = model.files[finding.place.path]
    for written in written_in(facts):
        for index, (word, span) in enumerate(written.rules):
            if model.place(facts.path, span) == finding.place:
                if any(matches(word, loaded.rule) for loaded in load_rules()):
                    described = Fix("remove the unused suppression", safe=True)
                else:
                    described = Fix("remove the suppression, which names no rule", safe=False)
                return Proposal(described, lambda: (_without(model, facts, written, index),))  # noqa: B023 - returned
    raise NotPossibleError(
        "it names no rule, or is no kind of suppression: what it was to silence only its author knows"
    )


def _without(model: OpsModel, facts: FileFacts, written: Suppression, index: int) -> Edit:
    """The comment without one of its words, or nothing of it where that is its only one."""
    text = facts.text
    words = [_extent(model, facts, span) for _, span in written.rules]
    if len(words) > 1:
        if index + 1 < len(words):
            return Edit(words[index][0], words[index + 1][0], "")
        return Edit(words[index - 1][1], words[index][1], "")
    start, end = _extent(model, facts, written.span)
    first, last = line_around(text, start)
    if written.kind == "noqa":
        behind = text.find("#", end, last)
        reason = end + len(text[end:last]) - len(text[end:last].lstrip())
        if _OTHER_TOOL.match(text, reason):
            return Edit(start, reason, "# ")
        end = last if behind < 0 else behind
    code, rest = text[first:start].rstrip(), text[end:last].lstrip()
    if rest:
        return Edit(start, last - len(rest), "")
    if code:
        return Edit(first + len(code), last, "")
    return Edit(first, min(last + 1, len(text)), "")


def _extent(model: OpsModel, facts: FileFacts, span: Span) -> tuple[int, int]:
    return extent(facts.text, model.place(facts.path, span))
