"""One line a finding, for ``grep``, editors and golden files."""

from __future__ import annotations

from veomni_opslint.findings import Finding
from veomni_opslint.report import Report
from veomni_opslint.reporters.closing import closing_lines
from veomni_opslint.reporters.style import Presentation, printable


def render(report: Report, presentation: Presentation) -> str:
    """The report as lines ``path:line:column: severity code name: message``."""
    lines = [finding_line(finding, presentation) for finding in report.findings]
    lines.extend(closing_lines(report, presentation))
    return "".join(f"{line}\n" for line in lines)


def finding_line(finding: Finding, presentation: Presentation) -> str:
    """One finding."""
    place = presentation.bold(printable(str(finding.place)))
    kind = presentation.severe(f"{finding.severity} {finding.code}", finding.severity)
    return f"{place}: {kind} {finding.name}: {printable(finding.message)}"
