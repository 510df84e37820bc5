"""Fixing until nothing changes any more: each round applies what does not overlap, and the result is linted again.

A fix is kept only if its findings are gone afterwards and no other one has come. Nothing is written here: the changed
files are handed to the next run as contents.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from veomni_opslint.check import Checked, Request, checked
from veomni_opslint.errors import RunError
from veomni_opslint.findings import Finding
from veomni_opslint.fixing.applied_edits import apply_edits, overlap
from veomni_opslint.fixing.generated_copies import copies
from veomni_opslint.fixing.line_ends import encoded
from veomni_opslint.fixing.originals import original_bytes
from veomni_opslint.fixing.writing import ChangedFile
from veomni_opslint.own_rules import project_rules
from veomni_opslint.proposals import Edit, NotPossibleError, propose, reason_against
from veomni_opslint.rule_loader import LoadedRule

MAX_ROUNDS = 50
STALE = "stale-generated-file"

_Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Repaired:
    """The last run, whose report says what is left; the files to write; what was fixed and what could not be.

    ``fixed`` counts the findings that are gone, by code and path: a fix may be that of several. ``stale`` are generated
    files that were not before.
    """

    checked: Checked
    files: tuple[ChangedFile, ...]
    fixed: Counter[tuple[str, str]]
    refused: tuple[tuple[Finding, str], ...]
    stale: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Change:
    finding: Finding
    key: _Key
    edits: Mapping[str, Sequence[Edit]]


@dataclass(slots=True)
class _Work:
    """What has been done so far."""

    request: Request
    state: Checked
    before: dict[str, bytes] = field(default_factory=dict)
    refused: dict[_Key, tuple[Finding, str]] = field(default_factory=dict)


def repair(request: Request, *, unsafe: bool, first: Checked | None = None) -> Repaired:
    """Apply the safe fixes of what *request* finds and, if *unsafe*, the others; *first* is its run, if there was one.

    Raises:
        RunError: the run could not be made.
    """
    first = first or checked(request)
    every = project_rules(first.analysis.project.root, first.analysis.settings)
    rules = tuple(loaded for loaded in every if loaded.fix is not None)
    work = _Work(request, first)
    for _ in range(MAX_ROUNDS):
        changes = _chosen(work, rules, unsafe=unsafe)
        if not changes:
            break
        if not _try(work, changes):
            for change in changes if len(changes) > 1 else ():
                # Places have moved, so each is looked up again.
                for again in _chosen(work, rules, unsafe=unsafe, only=change.key):
                    _try(work, (again,))
    contents = work.request.contents
    files = tuple(
        ChangedFile(path, before, contents[path]) for path, before in sorted(work.before.items()) if path in contents
    )
    return Repaired(
        work.state,
        tuple(file for file in files if file.before != file.after),
        _counted(first.report.findings) - _counted(work.state.report.findings),
        tuple(work.refused.values()),
        tuple(sorted(_stale(work.state) - _stale(first))),
    )


def left_alone(result: Repaired) -> Iterator[tuple[Finding, str]]:
    """What is left without a fix though its rule fixes others, and the reason that the rule gives."""
    analysis = result.checked.analysis
    rules = project_rules(analysis.project.root, analysis.settings)
    for finding in result.checked.report.findings:
        reason = reason_against(analysis.model, finding, rules) if finding.fix is None else ""
        if reason:
            yield finding, reason


def _chosen(work: _Work, rules: Sequence[LoadedRule], *, unsafe: bool, only: _Key | None = None) -> tuple[_Change, ...]:
    """The changes of one round: of those that overlap the first one.

    What a patch config says goes into a generated file only when nothing is left to be put right in the config.
    """
    taken: dict[str, list[Edit]] = {}
    changes: list[_Change] = []
    for finding in sorted(work.state.report.findings, key=lambda finding: finding.name == STALE):
        key = _key(work.state, finding)
        if finding.name == STALE and any(change.finding.name != STALE for change in changes):
            break
        if finding.fix is None or not (finding.fix.safe or unsafe) or key in work.refused or only not in (None, key):
            continue
        edits = _edits(work, finding, rules)
        if edits and not any(overlap(ours, taken.get(path, ())) for path, ours in edits.items()):
            for path, ours in edits.items():
                taken.setdefault(path, []).extend(ours)
            changes.append(_Change(finding, key, edits))
            if only is not None:
                break
    return tuple(changes)


def _edits(work: _Work, finding: Finding, rules: Sequence[LoadedRule]) -> dict[str, list[Edit]]:
    """The edits by path; what goes into a patch config goes into the files that were generated from it, too."""
    model = work.state.analysis.model
    proposal = propose(model, finding, rules)
    by_path: dict[str, list[Edit]] = {}
    try:
        edits = tuple(proposal.edits()) if proposal is not None else ()
        for edit in (*edits, *copies(model, finding.place.path, edits)):
            by_path.setdefault(edit.path or finding.place.path, []).append(edit)
    except NotPossibleError as error:
        work.refused[_key(work.state, finding)] = (finding, str(error))
        return {}
    except Exception as error:
        raise RunError(
            f"the fix of {finding.code} {finding.name} failed at {finding.place}: {type(error).__name__}: {error}; "
            f"this is a fault of opslint: `--ignore {finding.code}` fixes the rest"
        ) from error
    if not by_path:
        work.refused[_key(work.state, finding)] = (finding, "it could not be worked out")
    return by_path


def _try(work: _Work, changes: Sequence[_Change]) -> bool:
    """Apply *changes* if the result is as it should be; a single one that does harm is refused for good."""
    by_path: dict[str, list[Edit]] = {}
    for change in changes:
        for path, edits in change.edits.items():
            by_path.setdefault(path, []).extend(edits)
    contents = dict(work.request.contents)
    for path, ours in by_path.items():
        text = apply_edits(work.state.analysis.files[path].text, ours)
        problem = _encode(work, path, text, contents)
        if problem:
            return _refuse(work, changes, problem)
    request = replace(work.request, contents=contents)
    state = checked(request)
    before, after = _counted(work.state.report.findings), _counted(state.report.findings)
    harm = sorted((after - before).keys() - _to_be_generated(work, changes, state))
    if harm:
        code, path = harm[0]
        return _refuse(work, changes, f"it would cause {code} in {path}")
    helpless = _counted(change.finding for change in changes) - (before - after)
    if helpless - _counted(change.finding for change in changes if _goes_on(work.state, state, change.finding)):
        return _refuse(work, changes, "it would not help")
    work.request, work.state = request, state
    return True


def _to_be_generated(work: _Work, changes: Sequence[_Change], state: Checked) -> set[tuple[str, str]]:
    """Generated files that are stale once their patch config is fixed: fixing the config is right all the same."""
    suffix = work.state.analysis.model.dialect.patch_config_suffix
    if not any(change.finding.place.path.removesuffix(".py").endswith(suffix) for change in changes):
        return set()
    return {(one.code, one.place.path) for one in state.report.findings if one.name == STALE}


def _stale(state: Checked) -> set[str]:
    return {one.place.path for one in state.report.findings if one.name == STALE}


def _encode(work: _Work, path: str, text: str, contents: dict[str, bytes]) -> str:
    """Put the new bytes of a file into *contents*, or say why there are none."""
    if path not in work.before:
        data = original_bytes(work.request, work.state, path)
        if data is None:
            return "the file was changed while opslint ran; run it again"
        work.before[path] = data
    try:
        ast.parse(text)
        contents[path] = encoded(work.before[path], text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"the result would be no Python: {error}"
    return ""


def _refuse(work: _Work, changes: Sequence[_Change], reason: str) -> bool:
    if len(changes) == 1:
        work.refused[changes[0].key] = (changes[0].finding, reason)
    return False


def _goes_on(before: Checked, after: Checked, finding: Finding) -> bool:
    """Whether a rule that reports one fault of a line now reports one in what stood behind *finding*."""
    place = finding.place
    behind = _line(before, place.path, place.end_line)[place.end_column - 1 :]
    rests = (
        Counter(
            _line(state, one.place.path, one.place.line)[one.place.column - 1 :]
            for one in state.report.findings
            if (one.code, one.place.path) == (finding.code, place.path)
        )
        for state in (after, before)
    )
    return any(rest and behind.endswith(rest) for rest in next(rests) - next(rests))


def _key(state: Checked, finding: Finding) -> _Key:
    return finding.code, finding.place.path, finding.message, _line(state, finding.place.path, finding.place.line)


def _line(state: Checked, path: str, line: int) -> str:
    source = state.analysis.files.get(path)
    lines = source.text.split("\n") if source is not None else []
    return lines[line - 1] if line <= len(lines) else ""


def _counted(findings: Iterable[Finding]) -> Counter[tuple[str, str]]:
    # What a message says may change with the cause of another finding.
    return Counter((finding.code, finding.place.path) for finding in findings)
