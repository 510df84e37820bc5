"""For GitHub Actions: workflow commands that annotate the lines of a pull request."""

from __future__ import annotations

from veomni_opslint.findings import Finding, Severity
from veomni_opslint.report import Report
from veomni_opslint.reporters.closing import closing_lines
from veomni_opslint.reporters.style import Presentation, printable

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, presentation: Presentation) -> str:
    """One command a finding, and below them the summary for the log."""
    lines = [_command(finding, presentation) for finding in report.findings]
    lines.extend(closing_lines(report, presentation))
    return "".join(f"{line}\n" for line in lines)


def _command(finding: Finding, presentation: Presentation) -> str:
    place = finding.place
    properties: dict[str, object] = {"file": presentation.prefix + place.path, "line": place.line}
    if place.end_line > place.line:
        # With columns, GitHub takes an annotation for one of a single line.
        properties["endLine"] = place.end_line
    else:
        properties["col"] = place.column
        if place.end_column > place.column:
            properties["endColumn"] = place.end_column
    properties["title"] = f"{finding.code} {finding.name}"
    said = [
        finding.message,
        *(f"{presentation.prefix}{related.place}: {related.message}" for related in finding.related),
    ]
    written = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {written}::{'%0A'.join(map(_data, said))}"


def _data(text: str) -> str:
    """The escapes of a message; line ends in it are printable ones already."""
    return printable(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
