"""For programs: the JSON format of version 1, described in docs/output.md."""

from __future__ import annotations

import json

from veomni_opslint import __version__
from veomni_opslint.findings import Finding
from veomni_opslint.report import SEVERITIES, Report
from veomni_opslint.reporters.style import Presentation


def render(report: Report, presentation: Presentation) -> str:  # noqa: ARG001 - every format has this signature
    """The report as one JSON object; statistics and coverage are always in it."""
    coverage = report.coverage
    document = {
        "version": 1,
        "tool_version": __version__,
        "root": report.root,
        "findings": [finding_document(finding) for finding in report.findings],
        "summary": {
            **{f"{severity}s": report.count(severity) for severity in SEVERITIES},
            "files": report.files,
            "files_with_findings": report.files_with_findings(),
            "hidden": report.hidden,
            "suppressed": report.suppressed,
            "baselined": report.baselined,
            "not_new": report.not_new,
            "by_rule": report.by_rule(),
        },
        "coverage": {
            "files": coverage.files,
            "unreadable_files": coverage.unreadable_files,
            "kernel_specs": coverage.kernel_specs,
            "op_specs": coverage.op_specs,
            "op_slots": coverage.op_slots,
            "unresolved": [
                {"file": item.place.path, "line": item.place.line, "reason": item.reason}
                for item in coverage.unresolved
            ],
        },
    }
    return json.dumps(document, indent=2) + "\n"


def finding_document(finding: Finding) -> dict[str, object]:
    """A finding as JSON."""
    place = finding.place
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": str(finding.severity),
        "message": finding.message,
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line or place.line,
        "end_column": place.end_column or place.column,
        "related": [
            {"path": related.place.path, "line": related.place.line, "message": related.message}
            for related in finding.related
        ],
        "fix": None if finding.fix is None else {"safe": finding.fix.safe, "description": finding.fix.description},
        "fingerprint": finding.fingerprint,
    }
