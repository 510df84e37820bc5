"""Findings that a comment in the code silences, and the comments that silence nothing (OPS002)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from veomni_opslint.errors import did_you_mean
from veomni_opslint.extract.comments import statement_lines, suppressions
from veomni_opslint.facts import FileFacts, Span, Suppression, text_of
from veomni_opslint.findings import Finding
from veomni_opslint.logical_lines import LogicalLines, logical_lines
from veomni_opslint.places import place_of
from veomni_opslint.report import Silenced
from veomni_opslint.rule import Rule
from veomni_opslint.rule_loader import LoadedRule, matches, rule_hint

_OUR_CODE = re.compile(r"OPS[A-Z]{0,8}\d+", re.IGNORECASE)
_KINDS = ("ignore", "ignore-file")
_UNUSED = "unused-suppression"


class Suppressed(NamedTuple):
    """The findings that are left, and those that comments silence."""

    kept: tuple[Finding, ...]
    silenced: tuple[Silenced, ...]


class _Comment(NamedTuple):
    """A suppression and the lines that it is about."""

    written: Suppression
    first: int
    last: int

    def covers(self, finding: Finding) -> bool:
        """Whether the finding is in the lines of the comment, whatever its rule."""
        return self.written.kind == "ignore-file" or self.first <= finding.place.line <= self.last

    def words_for(self, rule_code: str, rules: Mapping[str, Rule]) -> tuple[str, ...] | None:
        """The words of the comment that name the rule; empty for a bare ``noqa``; None when it is not meant."""
        if not self.written.rules:
            return () if self.written.kind == "noqa" else None
        rule = rules[rule_code]
        return tuple(word for word, _ in self.written.rules if matches(word, rule)) or None


def suppress(
    findings: tuple[Finding, ...],
    files: Mapping[str, FileFacts],
    rules: Iterable[LoadedRule],
    selected: Mapping[str, Collection[str]],
    *,
    require_reason: bool = False,
) -> Suppressed:
    """Drop what the comments in *files* silence and add a finding for each comment that silenced nothing.

    With *require_reason*, a comment without a reason silences nothing.

    *selected* gives for each file to report on the codes of the rules that ran for it: a comment about a rule that
    did not run is not unused.
    """
    catalogue = {loaded.rule.code: loaded.rule for loaded in rules}
    written = {path: tuple(_comments(facts)) for path, facts in files.items() if _has_any(facts)}
    comments = written
    if require_reason:
        comments = {path: tuple(one for one in found if _may_count(one)) for path, found in written.items()}
    used: set[tuple[str, Span, str]] = set()
    kept: list[Finding] = []
    silenced: list[Silenced] = []
    for finding in findings:
        reason = _reason(finding, comments, catalogue, used)
        if reason is None:
            kept.append(finding)
        else:
            silenced.append(Silenced(finding, reason))
    unused = next((rule for rule in catalogue.values() if rule.name == _UNUSED), None)
    if unused is not None:
        found: dict[str, list[Finding]] = {}
        for finding in findings:
            found.setdefault(finding.place.path, []).append(finding)
        for path in sorted(comments):
            if unused.code in selected.get(path, ()) and files[path].problem is None:
                kept += _without_reason(unused, files[path], written[path]) if require_reason else ()
                near = found.get(path, ())
                for finding in _unused(unused, files[path], comments[path], catalogue, selected[path], used, near):
                    reason = _reason(finding, comments, catalogue, set())
                    if reason is None:
                        kept.append(finding)
                    else:
                        silenced.append(Silenced(finding, reason))
    return Suppressed(tuple(kept), tuple(silenced))


def written_in(facts: FileFacts) -> Iterator[Suppression]:
    """Every suppression of a file, also those in embedded code."""
    return (comment.written for comment in _comments(facts))


def _has_any(facts: FileFacts) -> bool:
    return bool(facts.suppressions or facts.embedded)


def _comments(facts: FileFacts) -> Iterator[_Comment]:
    written = facts.lines
    lines = _lines_around(facts) if facts.suppressions else LogicalLines(())
    for suppression in facts.suppressions:
        yield _Comment(suppression, *_range(suppression, lines, written))
    seen = {suppression.line for suppression in facts.suppressions}
    for block in facts.embedded:
        for line in range(block.call[0], block.call[2] + 1):
            if line not in seen:
                yield from (_Comment(found, line, line) for found in _in_embedded_line(line, written[line - 1]))


def _lines_around(facts: FileFacts) -> LogicalLines:
    """The logical lines of the smallest statements and functions around suppressions; of all where it has no tree."""
    if facts.tree is None:
        return logical_lines(facts.text)
    statements = statement_lines(facts.tree, ())
    functions = [(one.span[0], one.span[2]) for one in facts.scopes if one.kind == "function"]
    pieces: dict[tuple[int, int], int] = {}
    for suppression in facts.suppressions:
        line = suppression.line
        around = [one for one in (*statements, *functions) if one[0] <= line <= one[1]]
        # Between statements it is about the next one.
        below = next((one for one in statements if one[0] > line), None) if not around else None
        piece = min(around, key=lambda one: one[1] - one[0]) if around else below
        if piece is not None:
            pieces[piece] = max(line, pieces.get(piece, 0))
    written = facts.lines
    ranges = {
        one
        for (first, end), line in pieces.items()
        for one in logical_lines("\n".join(written[first - 1 : end]), first, line).ranges
    }
    return LogicalLines(tuple(sorted(ranges)))


def _in_embedded_line(line: int, text: str) -> Iterator[Suppression]:
    """Comments of embedded code, which to the file are text in a string; they are about their own line."""
    code = text.lstrip()
    margin = len(text[: len(text) - len(code)].encode())
    for found in suppressions(code):
        rules = tuple((word, _moved(span, line, margin)) for word, span in found.rules)
        yield found._replace(line=line, span=_moved(found.span, line, margin), rules=rules)


def _moved(span: Span, line: int, margin: int) -> Span:
    return line, span[1] + margin, line, span[3] + margin


def _range(suppression: Suppression, lines: LogicalLines, written: list[str]) -> tuple[int, int]:
    """The statement that the comment ends, or the one below when an ``ignore`` stands on a line of its own."""
    first, last = lines.at(suppression.line)
    alone = first == last and written[suppression.line - 1].lstrip().startswith("#")
    return lines.after(suppression.line) if alone and suppression.kind == "ignore" else (first, last)


def _reason(
    finding: Finding,
    comments: Mapping[str, tuple[_Comment, ...]],
    catalogue: Mapping[str, Rule],
    used: set[tuple[str, Span, str]],
) -> str | None:
    """The reason of the comment that silences the finding; empty where it gives none, None without such a comment."""
    reason = None
    for comment in comments.get(finding.place.path, ()):
        words = comment.words_for(finding.code, catalogue) if comment.covers(finding) else None
        if words is not None:
            reason = reason or comment.written.reason
            used.update((finding.place.path, comment.written.span, word) for word in words)
    return reason


def _may_count(comment: _Comment) -> bool:
    """Whether a comment has a reason, or suppresses nothing anyhow."""
    written = comment.written
    return bool(written.reason) or written.kind == "unknown" or (written.kind in _KINDS and not written.rules)


def _without_reason(rule: Rule, facts: FileFacts, comments: tuple[_Comment, ...]) -> Iterator[Finding]:
    for comment in comments:
        words = [word for word, _ in comment.written.rules]
        ours = comment.written.kind in _KINDS or any(_OUR_CODE.fullmatch(word) for word in words)
        if words and ours and not comment.written.reason:
            yield rule.finding(
                place_of(facts.path, facts.text, comment.written.span),
                f"the suppression of {', '.join(words)} gives no reason, so it suppresses nothing: `require-reason` is "
                "set; say why the finding is right to stay",
            )


def _unused(
    rule: Rule,
    facts: FileFacts,
    comments: tuple[_Comment, ...],
    catalogue: Mapping[str, Rule],
    selected: Collection[str],
    used: Collection[tuple[str, Span, str]],
    findings: Sequence[Finding],
) -> Iterator[Finding]:
    for comment in comments:
        suppression = comment.written
        if suppression.kind == "unknown":
            word = text_of(facts, suppression.span)
            hint = did_you_mean(word, _KINDS) or "; write `opslint: ignore[RULE] reason`"
            yield rule.finding(
                place_of(facts.path, facts.text, suppression.span),
                f"`opslint: {word}` is not understood, so it suppresses nothing{hint}",
            )
        elif not suppression.rules and suppression.kind != "noqa":
            yield rule.finding(
                place_of(facts.path, facts.text, suppression.span),
                f"`opslint: {suppression.kind}` names no rule, so it suppresses nothing; "
                f"write `opslint: {suppression.kind}[RULE] reason`",
            )
        for word, span in suppression.rules:
            message = _fault(word, comment, catalogue, selected, findings)
            if message is not None and (facts.path, suppression.span, word) not in used:
                yield rule.finding(place_of(facts.path, facts.text, span), message)


def _fault(
    word: str,
    comment: _Comment,
    catalogue: Mapping[str, Rule],
    selected: Collection[str],
    findings: Iterable[Finding],
) -> str | None:
    """What is wrong with the word; where it names no rule, it was meant for one that reports on these lines, if any."""
    suppression = comment.written
    meant = [rule for rule in catalogue.values() if matches(word, rule)]
    if not meant:
        if suppression.kind == "noqa" and not _OUR_CODE.fullmatch(word):
            return None
        covered = [finding for finding in findings if comment.covers(finding)]
        here = dict.fromkeys(name for finding in covered for name in (finding.code, finding.name))
        hint = did_you_mean(word, here) or rule_hint(word, catalogue.values())
        return f"`{word}` names no rule, so it suppresses nothing{hint}"
    if any(rule.code not in selected or rule.name == _UNUSED for rule in meant):
        return None
    where = "in this file" if suppression.kind == "ignore-file" else "here"
    described = meant[0].name if len(meant) == 1 and word != meant[0].name else word
    return f"`{word}` suppresses nothing {where}: there is no finding of {described}; remove it"
