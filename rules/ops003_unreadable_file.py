"""A file or folder of the project cannot be read, so nothing in it was checked."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Place, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.rule import Rule
from veomni_opslint.source import SourceProblem

rule = Rule.of(__name__, Severity.WARNING)
ALWAYS_SELECTED = True

_WAY_OUT = {
    "permission": "give yourself the right to read it, or exclude it",
    "missing": "it is a link to nothing: remove it",
    "too-large": "exclude it, or move its data to another kind of file",
    "encoding": "save it as UTF-8, or declare its encoding in the first line",
    "not-a-file": "rename it, or exclude it",
    "io": "repair it, or exclude it",
}


def check(model: OpsModel) -> Iterator[Finding]:
    for source in model.problems:
        if source.problem is not None:
            yield rule.finding(Place(source.path or ".", source.problem.line), _message(source.problem))


def _message(problem: SourceProblem) -> str:
    return f"cannot be read, so nothing in it was checked: {problem.detail}; {_WAY_OUT[problem.kind]}"
