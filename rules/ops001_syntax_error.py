"""A file of the project cannot be parsed, so nothing in it was checked."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Place, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)
ALWAYS_SELECTED = True


def check(model: OpsModel) -> Iterator[Finding]:
    for path, facts in sorted(model.files.items()):
        problem = facts.problem
        if problem is not None:
            yield rule.finding(
                Place(path, problem.line, problem.column + 1),
                f"the file cannot be parsed, so importing it fails and nothing in it was checked: {problem.message}",
            )
        for block in facts.embedded:
            if block.problem is not None and block.known:
                yield rule.finding(
                    Place(path, block.problem.line, block.problem.column + 1),
                    f"this code goes into a generated file, which then cannot be imported: {block.problem.message}; "
                    "nothing of the block was checked",
                )
