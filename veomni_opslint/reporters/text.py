"""For a person: the finding, the line of code that it is about, and the other places that explain it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from textwrap import wrap

from veomni_opslint.findings import Finding, Place
from veomni_opslint.report import Report
from veomni_opslint.reporters.closing import closing_lines
from veomni_opslint.reporters.style import Presentation, printable

_WIDEST = 140
_WRAP = 110
_TAB = "    "


def render(report: Report, presentation: Presentation) -> str:
    """The report as paragraphs, one a finding."""
    lines: list[str] = []
    for finding in report.findings:
        lines.extend(_paragraph(finding, report, presentation))
        lines.append("")
    lines.extend(closing_lines(report, presentation))
    return "".join(f"{line}\n" for line in lines)


def _paragraph(finding: Finding, report: Report, presentation: Presentation) -> Iterator[str]:
    place = presentation.bold(printable(str(finding.place)))
    kind = presentation.severe(f"{finding.severity} {finding.code}", finding.severity)
    yield f"{place}: {kind} {presentation.bold(finding.name)}"
    for line in wrap(printable(finding.message), _WRAP, break_long_words=False, break_on_hyphens=False):
        yield f"  {line}"
    excerpt = report.excerpts.get((finding.place.path, finding.place.line))
    if excerpt is not None and excerpt.strip():
        yield from _excerpt(excerpt, finding, presentation)
    for related in finding.related:
        yield f"    {printable(str(related.place))}: {printable(related.message)}"


def _excerpt(line: str, finding: Finding, presentation: Presentation) -> Iterator[str]:
    place = finding.place
    start = min(place.column - 1, len(line))
    end = _end(line, place, start)
    offset = len(line) - len(line.lstrip())
    if end - offset > _WIDEST:
        offset = max(offset, start - 20)
    shown = line[offset : offset + _WIDEST].rstrip()
    number = str(place.line)
    pad = " " * _width(line[offset:start])
    carets = "^" * max(_width(line[start : min(end, offset + _WIDEST)]), 1)
    yield presentation.dim(f"    {number} | ") + _displayed(shown)
    yield presentation.dim(f"    {' ' * len(number)} | ") + pad + presentation.severe(carets, finding.severity)


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
