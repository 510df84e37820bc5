"""Adding suppressions for what is found now, so that a tree with old findings can be adopted."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from veomni_opslint.check import Checked, Request, checked
from veomni_opslint.errors import RunError
from veomni_opslint.findings import Finding
from veomni_opslint.fixing.line_ends import encoded
from veomni_opslint.fixing.originals import original_bytes
from veomni_opslint.fixing.writing import ChangedFile
from veomni_opslint.logical_lines import logical_lines

_OURS = re.compile(r"#\s*opslint\s*:\s*ignore\s*\[[^\]]*(?=\])")
_FIRST_LINES = re.compile(r"#!|[ \t\f]*#.*?coding[:=]")
_STRING_STARTS = {tokenize.STRING} | {getattr(tokenize, name) for name in ("FSTRING_START",) if hasattr(tokenize, name)}


@dataclass(frozen=True, slots=True)
class Silenced:
    """The last run, whose report says what is left, the files to write, and how many findings are silenced."""

    checked: Checked
    files: tuple[ChangedFile, ...]
    number: int


def add_ignores(request: Request, reason: str) -> Silenced:
    """Put a comment with *reason* at each finding of *request*; where none works there, one for the file.

    Raises:
        RunError: the reason cannot stand in a comment, or the run could not be made.
    """
    if not reason.strip() or "#" in reason or len(reason.splitlines()) > 1:
        raise RunError("--add-ignores: the reason is one line of text without `#`, so that it can stand in a comment")
    first = state = checked(request)
    before: dict[str, bytes] = {}
    for whole_file in (False, True):
        contents = dict(request.contents)
        for path, findings in _by_path(state.report.findings).items():
            facts = state.analysis.files.get(path)
            original = original_bytes(request, state, path) if facts is not None else None
            if facts is None or original is None or (facts.problem is not None and not whole_file):
                continue
            before.setdefault(path, original)
            text = (
                _with_file_comment(facts.text, findings, reason)
                if whole_file
                else _with_comments(facts.text, findings, reason)
            )
            try:
                contents[path] = encoded(before[path], text)
            except UnicodeError:
                raise RunError(f"--add-ignores: the encoding of {path} lacks a letter of the reason") from None
        request = replace(request, contents=contents)
        state = checked(request)
    files = tuple(ChangedFile(path, data, request.contents[path]) for path, data in sorted(before.items()))
    number = len(first.report.findings) - len(state.report.findings)
    return Silenced(state, tuple(file for file in files if file.before != file.after), number)


def _by_path(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.place.path, []).append(finding)
    return found


def _with_comments(text: str, findings: Sequence[Finding], reason: str) -> str:
    lines = text.split("\n")
    statements = logical_lines(text)
    closed = _lines_without_room(text)
    wanted: dict[int, dict[str, None]] = {}
    above: dict[int, dict[str, None]] = {}
    for finding in findings:
        first, last = statements.at(finding.place.line)
        near = sorted(range(first, last + 1), key=lambda line: (line < finding.place.line, line))
        room = [line for line in (finding.place.line, first, last, *near) if line not in closed]
        target = wanted if room else above
        target.setdefault(room[0] if room else first, {}).setdefault(finding.name)
    for line, names in wanted.items():
        lines[line - 1] = _with_comment(lines[line - 1], names, reason)
    for line, names in sorted(above.items(), reverse=True):
        code = lines[line - 1]
        lines.insert(line - 1, code[: len(code) - len(code.lstrip())] + _comment("ignore", names, reason))
    return "\n".join(lines)


def _with_comment(line: str, names: Iterable[str], reason: str) -> str:
    """The line with the comment, or with more words in the one that it has."""
    ours = _OURS.search(line)
    if ours is not None:
        return ", ".join((line[: ours.end()].rstrip(", "), *names)) + line[ours.end() :]
    return f"{line.rstrip()}  {_comment('ignore', names, reason)}"


def _with_file_comment(text: str, findings: Sequence[Finding], reason: str) -> str:
    """Above everything but what has to come first."""
    lines = text.split("\n")
    at = 0
    while at < min(2, len(lines)) and _FIRST_LINES.match(lines[at]):
        at += 1
    names = dict.fromkeys(finding.name for finding in findings)
    return "\n".join((*lines[:at], _comment("ignore-file", names, reason), *lines[at:]))


def _comment(kind: str, names: Iterable[str], reason: str) -> str:
    return f"# opslint: {kind}[{', '.join(names)}] {reason.strip()}"


def _lines_without_room(text: str) -> frozenset[int]:
    """Lines at whose end no comment can stand: a string goes on below, or a backslash joins the next line."""
    closed: set[int] = set()
    end = (0, 0)
    opened: list[int] = []
    lines = text.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.start[0] > end[0] > 0 and lines[end[0] - 1].rstrip().endswith("\\"):
                closed.update(range(end[0], token.start[0]))
            if token.type == tokenize.STRING:
                closed.update(range(token.start[0], token.end[0]))
            elif token.type in _STRING_STARTS:
                opened.append(token.start[0])
            elif opened and tokenize.tok_name[token.type] == "FSTRING_END":
                closed.update(range(opened.pop(), token.end[0]))
            end = token.end
    except (tokenize.TokenError, SyntaxError, RecursionError):
        closed.update(range(1, len(lines) + 1))
    return frozenset(closed)
