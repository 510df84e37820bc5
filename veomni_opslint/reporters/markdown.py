"""For the page of a CI job, or a comment: a table of the findings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from veomni_opslint.findings import Finding
from veomni_opslint.report import Report
from veomni_opslint.reporters.closing import counted, summary
from veomni_opslint.reporters.style import Presentation, printable

# The page of a GitHub job takes 1 MiB.
MOST_FINDINGS = 500
_CODE_SPAN = re.compile(r"(`[^`]+`)")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#~|&@])")


def render(report: Report, presentation: Presentation) -> str:
    """A heading with the summary, the findings, and how many each rule has where there are many."""
    return "".join(f"{line}\n" for line in _lines(report, presentation))


def _lines(report: Report, presentation: Presentation) -> Iterator[str]:
    yield "## opslint"
    yield ""
    yield escaped(summary(report))
    shown = report.findings[:MOST_FINDINGS]
    if shown:
        yield ""
        yield "| severity | rule | place | what is wrong |"
        yield "|---|---|---|---|"
        yield from (_row(finding, presentation) for finding in shown)
    if len(shown) < len(report.findings):
        yield ""
        yield f"The table holds the first {counted(len(shown), 'finding')} of {len(report.findings)}."
    if presentation.statistics or len(shown) < len(report.findings):
        names = {finding.code: finding.name for finding in report.findings}
        yield ""
        yield "| rule | findings |"
        yield "|---|---|"
        yield from (f"| {code} {escaped(names[code])} | {number} |" for code, number in report.by_rule().items())


def _row(finding: Finding, presentation: Presentation) -> str:
    place = f"{presentation.prefix}{finding.place.path}:{finding.place.line}"
    said = [finding.message, *(f"{presentation.prefix}{one.place}: {one.message}" for one in finding.related)]
    message = "<br>".join(map(escaped, said))
    return f"| {finding.severity} | {finding.code} {escaped(finding.name)} | {escaped(place)} | {message} |"


def escaped(text: str) -> str:
    """*text* as it reads, on one line of a table; what it has between backticks stays code."""
    parts = _CODE_SPAN.split(printable(text))
    return "".join(
        part.replace("|", "\\|") if _CODE_SPAN.fullmatch(part) else _SPECIAL.sub(r"\\\1", part) for part in parts
    )
