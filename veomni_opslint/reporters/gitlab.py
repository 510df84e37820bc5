"""For GitLab: the report of the code quality of a merge request."""

from __future__ import annotations

import json

from veomni_opslint.findings import Finding, Severity
from veomni_opslint.report import Report
from veomni_opslint.reporters.style import Presentation

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report, presentation: Presentation) -> str:
    """The findings as a list of issues."""
    return json.dumps([_issue(finding, presentation) for finding in report.findings], indent=2) + "\n"


def _issue(finding: Finding, presentation: Presentation) -> dict[str, object]:
    place = finding.place
    return {
        "type": "issue",
        "check_name": f"{finding.code} {finding.name}",
        "description": f"{finding.code} {finding.message}",
        "categories": ["Bug Risk"],
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": finding.fingerprint,
        "location": {
            "path": presentation.prefix + place.path,
            "lines": {"begin": place.line, "end": max(place.end_line, place.line)},
        },
    }
