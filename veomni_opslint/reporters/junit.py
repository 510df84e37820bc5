"""For whatever shows test results: each finding is a test, which fails if the finding fails the run."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree as ET

from veomni_opslint.findings import Finding, Severity
from veomni_opslint.report import Report
from veomni_opslint.reporters.closing import summary
from veomni_opslint.reporters.style import Presentation, printable


def render(report: Report, presentation: Presentation) -> str:
    """One suite a file; a run without findings is one test that passed."""
    tests = {"tests": len(report.findings) or 1, "failures": _failures(report.findings, presentation)}
    suites = ET.Element("testsuites", _attributes(name="opslint", **tests, errors=0))
    for path, group in groupby(report.findings, key=lambda finding: finding.place.path):
        findings = tuple(group)
        counts = {"tests": len(findings), "failures": _failures(findings, presentation)}
        suite = ET.SubElement(
            suites, "testsuite", _attributes(name=presentation.prefix + path, **counts, errors=0, skipped=0)
        )
        for finding in findings:
            _add_case(suite, finding, presentation)
    if not report.findings:
        passed = _attributes(name="opslint", tests=1, failures=0, errors=0, skipped=0)
        suite = ET.SubElement(suites, "testsuite", passed)
        case = ET.SubElement(suite, "testcase", _attributes(classname="opslint", name="opslint"))
        ET.SubElement(case, "system-out").text = summary(report)
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _add_case(suite: ET.Element, finding: Finding, presentation: Presentation) -> None:
    path, line = presentation.prefix + finding.place.path, finding.place.line
    name = f"{finding.code} {finding.name}, line {line}, column {finding.place.column}"
    case = ET.SubElement(suite, "testcase", _attributes(classname=path, name=name, file=path, line=line))
    said = [
        f"{presentation.prefix}{finding.place}: {finding.severity} {finding.code} {finding.name}: {finding.message}",
        *(f"  {presentation.prefix}{related.place}: {related.message}" for related in finding.related),
    ]
    text = "\n".join(map(printable, said))
    if _fails(finding, presentation):
        attributes = _attributes(type=str(finding.severity), message=finding.message)
        ET.SubElement(case, "failure", attributes).text = text
    else:
        ET.SubElement(case, "system-out").text = text


def _failures(findings: tuple[Finding, ...], presentation: Presentation) -> int:
    return sum(_fails(finding, presentation) for finding in findings)


def _fails(finding: Finding, presentation: Presentation) -> bool:
    return finding.severity is Severity.ERROR or (presentation.strict and finding.severity is Severity.WARNING)


def _attributes(**values: object) -> dict[str, str]:
    # What is not printable is mostly what XML cannot hold, escaped or not.
    return {name: printable(str(value)) for name, value in values.items()}
