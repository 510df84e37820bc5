"""For programs that read line by line: each finding as one JSON object, with the keys of the JSON format."""

from __future__ import annotations

import json

from veomni_opslint.report import Report
from veomni_opslint.reporters.json_report import finding_document
from veomni_opslint.reporters.style import Presentation


def render(report: Report, presentation: Presentation) -> str:  # noqa: ARG001 - every format has this signature
    """The findings, one a line; nothing where there are none."""
    return "".join(f"{json.dumps(finding_document(finding))}\n" for finding in report.findings)
