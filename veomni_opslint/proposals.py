"""What a rule's ``fix`` answers: whether a finding can be fixed, how safely, and the edits that would do it.

A rule module may define ``fix(model, finding) -> Proposal | None``, a pure function, which may raise
``NotPossibleError`` to say why there is no fix. Only ``--fix``, ``--diff`` and the tests ask for the edits, so a rule
imports libcst in the function that makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from veomni_opslint.errors import RunError
from veomni_opslint.findings import Finding, Fix, Place
from veomni_opslint.rule_loader import LoadedRule

if TYPE_CHECKING:
    from veomni_opslint.model import OpsModel


class NotPossibleError(Exception):
    """There is no fix, or its edits cannot be made after all; the text says why."""


class Edit(NamedTuple):
    """New text for the characters from ``start`` to ``end`` of the file that the finding is in, or of another one."""

    start: int
    end: int
    text: str
    path: str = ""


class Proposal(NamedTuple):
    """A fix and, once they are asked for, its edits; there are none where it turns out not to be possible."""

    fix: Fix
    edits: Callable[[], Iterable[Edit]]


def propose(model: OpsModel, finding: Finding, rules: Iterable[LoadedRule]) -> Proposal | None:
    """The fix that the finding's rule has for it.

    Raises:
        RunError: the rule failed.
    """
    for loaded in rules:
        if loaded.rule.code == finding.code and loaded.fix is not None:
            try:
                return loaded.fix(model, finding)
            except NotPossibleError:
                return None
            except Exception as error:
                raise RunError(
                    f"the fix of {finding.code} {finding.name} failed at {finding.place}: {type(error).__name__}: "
                    f"{error}; this is a fault of opslint: `--ignore {finding.code}` runs without the rule"
                ) from error
    return None


def reason_against(model: OpsModel, finding: Finding, rules: Iterable[LoadedRule]) -> str:
    """Why the finding's rule, which fixes others, has no fix for this one; empty where it does not say."""
    for loaded in rules:
        if loaded.rule.code == finding.code and loaded.fix is not None:
            try:
                loaded.fix(model, finding)
            except NotPossibleError as error:
                return str(error)
    return ""


def with_fixes(findings: Iterable[Finding], model: OpsModel, rules: Iterable[LoadedRule]) -> tuple[Finding, ...]:
    """The findings, each with what would be done to fix it, if anything can be."""
    fixers = tuple(loaded for loaded in rules if loaded.fix is not None)
    proposals = ((finding, propose(model, finding, fixers)) for finding in findings)
    return tuple(finding if proposal is None else replace(finding, fix=proposal.fix) for finding, proposal in proposals)


def offset(text: str, line: int, column: int) -> int:
    """The index in *text* of a line (from 1) and column (from 0, in characters)."""
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    return start + column


def extent(text: str, place: Place) -> tuple[int, int]:
    """The indexes in *text* between which *place* is."""
    return offset(text, place.line, place.column - 1), offset(text, place.end_line, place.end_column - 1)


def line_around(text: str, index: int) -> tuple[int, int]:
    """Where the line that holds *index* begins and ends, without its line feed."""
    end = text.find("\n", index)
    return text.rfind("\n", 0, index) + 1, len(text) if end < 0 else end


def module_of(model: OpsModel, path: str) -> str:
    """The dotted name of the module that is the file *path*."""
    return next(name for name, facts in model.symbols.modules.items() if facts.path == path)


def is_generated(model: OpsModel, path: str) -> bool:
    """Whether a file is written by patchgen, so that it has to be changed in its config."""
    return f"/{model.dialect.generated_folder}/" in path


def is_patch(model: OpsModel, place: Place) -> bool:
    """Whether a patch config puts the code at *place* into a generated file."""
    return any(
        code.definition.path == place.path
        and code.definition.node.lineno <= place.line <= (code.definition.node.end_lineno or 0)
        for plan in model.patch_plans.values()
        for code in plan.code
        if code.definition is not None
    )
