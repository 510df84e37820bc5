"""For a person: the finding, the line of code that it is about, and the other places that explain it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from textwrap import wrap

from veomni_opslint.findings import Finding, Place
from veomni_opslint.report import Report
from veomni_opslint.reporters.closing import closing_lines
from veomni_opslint.reporters.style import Presentation, printable

_COLUMNS = 112
_KEPT_BEFORE = 20
_TAB = "    "
_CUT = "…"
_MANY = 20


def render(report: Report, presentation: Presentation) -> str:
    """The report as paragraphs, one a finding."""
    lines: list[str] = []
    for finding in report.findings:
        lines.extend(_paragraph(finding, report, presentation))
        lines.append("")
    lines.extend(closing_lines(report, presentation))
    lines.extend(_advice(report, presentation))
    return "".join(f"{line}\n" for line in lines)


def _advice(report: Report, presentation: Presentation) -> Iterator[str]:
    """How to begin on a tree with many findings; only for a person who sees it in a terminal."""
    first_run = not report.baseline and report.new_from is None and len(report.findings) >= _MANY
    if first_run and presentation.columns is not None and not presentation.quiet:
        yield presentation.dim(
            "`--baseline opslint-baseline.txt --write-baseline` accepts what is old, for a gate on what is new"
        )


def _paragraph(finding: Finding, report: Report, presentation: Presentation) -> Iterator[str]:
    place = presentation.bold(printable(str(finding.place)))
    kind = presentation.severe(f"{finding.severity} {finding.code}", finding.severity)
    yield f"{place}: {kind} {presentation.bold(finding.name)}"
    yield from _wrapped(finding.message, "  ", "  ", presentation.columns or _COLUMNS)
    excerpt = report.excerpts.get((finding.place.path, finding.place.line))
    if excerpt is not None and excerpt.strip():
        yield from _excerpt(excerpt, finding, presentation)
    for related in finding.related:
        said = f"{related.place}: {related.message}"
        yield from _wrapped(said, "    ", "      ", presentation.columns or _COLUMNS)
    if finding.fix is not None:
        how = "--fix" if finding.fix.safe else "--fix --unsafe-fixes"
        said = f"{how}: {finding.fix.description}"
        yield from _wrapped(said, "    ", "      ", presentation.columns or _COLUMNS)


def _wrapped(text: str, first: str, further: str, columns: int) -> list[str]:
    """The lines of *text*; a word that is wider than a line, such as a path, stays whole, so that it can be copied."""
    return wrap(
        printable(text),
        columns,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _excerpt(line: str, finding: Finding, presentation: Presentation) -> Iterator[str]:
    place = finding.place
    start = min(place.column - 1, len(line))
    end = _end(line, place, start)
    number = str(place.line)
    margin = f"    {' ' * len(number)} | "
    room = (presentation.columns or _COLUMNS) - len(margin)
    offset = len(line) - len(line.lstrip())
    if end - offset > room or _width(line[offset:end]) > room:
        offset = max(offset, start - _KEPT_BEFORE)
        while _width(line[offset:start]) > _KEPT_BEFORE:
            offset += 1
    if line[:offset].strip():
        line = line[:offset] + _CUT + line[offset + 1 :]
    shown = _clipped(line[offset:].rstrip(), room)
    pad = " " * _width(line[offset:start])
    carets = "^" * max(_width(shown[start - offset : end - offset]), 1)
    yield presentation.dim(f"    {number} | ") + _displayed(shown)
    yield presentation.dim(margin) + pad + presentation.severe(carets, finding.severity)


def _clipped(text: str, room: int) -> str:
    """As much of *text* as *room* columns hold, and a mark where that is not all of it."""
    if _width(text) <= room:
        return text
    used = 0
    for index, character in enumerate(text):
        used += _width(character)
        if used >= room:
            return text[:index] + _CUT
    return text


def _end(line: str, place: Place, start: int) -> int:
    written = len(line.rstrip())
    if place.end_line > place.line:
        return max(written, start + 1)
    if place.end_line == place.line and place.end_column > place.column:
        return max(min(place.end_column - 1, written), start + 1)
    return start + 1


def _displayed(text: str) -> str:
    return "".join(_TAB if character == "\t" else character if character.isprintable() else "?" for character in text)


def _width(text: str) -> int:
    """How many columns of a terminal the displayed text takes."""
    shown = _displayed(text)
    if shown.isascii():
        return len(shown)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in shown
    )
