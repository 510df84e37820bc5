"""The text of fixes for who shows them and does not apply them: what replaces which range of the file."""

from __future__ import annotations

import os
from collections.abc import Iterable

from veomni_opslint.analysis import Analysis
from veomni_opslint.errors import RunError
from veomni_opslint.findings import Finding, Place
from veomni_opslint.proposals import Edit, NotPossibleError, propose
from veomni_opslint.report import Replacement
from veomni_opslint.rule_loader import LoadedRule


def replacements_of(
    findings: Iterable[Finding], analysis: Analysis, rules: Iterable[LoadedRule]
) -> dict[str, tuple[Replacement, ...]]:
    """The replacements that fix each of the *findings*, by fingerprint; a fix that turns out impossible has none.

    Raises:
        RunError: the fix of a rule failed.
    """
    fixers = tuple(loaded for loaded in rules if loaded.fix is not None)
    result = {}
    for finding in findings:
        if finding.fix is not None and analysis.text(finding.place.path) is not None:
            edits = _edits(finding, analysis, fixers)
            result[finding.fingerprint] = tuple(_replacement(edit, finding.place.path, analysis) for edit in edits)
    return result


def _replacement(edit: Edit, path: str, analysis: Analysis) -> Replacement:
    path = edit.path or path
    line_end = _line_end(os.path.join(analysis.project.root, path))
    return Replacement(_place(edit, analysis.text(path) or "", path), edit.text.replace("\n", line_end))


def _edits(finding: Finding, analysis: Analysis, fixers: Iterable[LoadedRule]) -> tuple[Edit, ...]:
    from veomni_opslint.fixing.generated_copies import copies  # noqa: PLC0415 - only a finding needs it

    proposal = propose(analysis.model, finding, fixers)
    try:
        edits = tuple(proposal.edits()) if proposal is not None else ()
        return (*edits, *copies(analysis.model, finding.place.path, edits))
    except NotPossibleError:
        return ()
    except Exception as error:
        raise RunError(
            f"the fix of {finding.code} {finding.name} failed at {finding.place}: {type(error).__name__}: {error}; "
            f"this is a fault of opslint: `--ignore {finding.code}` runs without the rule"
        ) from error


def _place(edit: Edit, text: str, path: str) -> Place:
    return Place(path, *_position(text, edit.start), *_position(text, edit.end))


def _position(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _line_end(file: str) -> str:
    """Whoever applies the fix has the file as it is on disk, not with the plain line ends that it is read with."""
    try:
        with open(file, "rb") as lines:
            return "\r\n" if lines.readline().endswith(b"\r\n") else "\n"
    except OSError:
        return "\n"
