"""For code scanning and for viewers of SARIF 2.1.0: rules with their pages, fixes, and what is silenced or accepted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias
from urllib.parse import quote

from veomni_opslint import __version__
from veomni_opslint.findings import Finding, Place, Severity
from veomni_opslint.report import Report
from veomni_opslint.reporters.style import Presentation, printable
from veomni_opslint.rule_loader import LoadedRule, rule_page

_Document: TypeAlias = dict[str, object]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE = "%SRCROOT%"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_RELATIVE_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")
_FENCED = re.compile(r"^((`{3,})\w*)[^\n]*\n(.*?^\2)$", re.MULTILINE | re.DOTALL)


def render(report: Report, presentation: Presentation) -> str:
    """One run; its results are what is shown, and then what is suppressed.

    Raises:
        RunError: the page of a rule is missing.
    """
    results: list[tuple[Finding, list[_Document]]] = [(finding, []) for finding in report.findings]
    for silenced in report.silenced:
        suppression: _Document = {"kind": "inSource"}
        if silenced.reason:
            suppression["justification"] = printable(silenced.reason)
        results.append((silenced.finding, [suppression]))
    accepted: list[_Document] = [{"kind": "external", "justification": "accepted in the baseline"}]
    results += [(finding, [*accepted]) for finding in report.accepted]
    codes = sorted({finding.code for finding, _ in results})
    loaded = {rule.rule.code: rule for rule in report.rules}
    invocation: _Document = {"executionSuccessful": True}
    if report.doubt is not None:
        invocation["toolExecutionNotifications"] = [{"level": "note", "message": {"text": printable(report.doubt)}}]
    document = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "opslint",
                        "version": __version__,
                        "rules": [_rule(code, loaded.get(code), results) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {_BASE: {"uri": _root(report, presentation)}},
                "invocations": [invocation],
                "results": [
                    _result(finding, codes.index(finding.code), suppressions, report, presentation)
                    for finding, suppressions in results
                ],
            }
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _rule(code: str, loaded: LoadedRule | None, results: Iterable[tuple[Finding, object]]) -> _Document:
    finding = next(finding for finding, _ in results if finding.code == code)
    if loaded is None:
        return {"id": code, "name": finding.name}
    page = _alone(rule_page(loaded))
    return {
        "id": code,
        "name": loaded.rule.name,
        "shortDescription": {"text": loaded.summary},
        "fullDescription": {"text": loaded.summary},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _LEVELS[loaded.rule.severity]},
    }


def _alone(page: str) -> str:
    """A page without links to files beside it, and without what the tests read in the heads of its code blocks."""
    parts = []
    end = 0
    for match in _FENCED.finditer(page):
        parts += [_RELATIVE_LINK.sub(r"\1", page[end : match.start()]), f"{match[1]}\n{match[3]}"]
        end = match.end()
    return "".join((*parts, _RELATIVE_LINK.sub(r"\1", page[end:])))


def _result(
    finding: Finding, rule: int, suppressions: list[_Document], report: Report, presentation: Presentation
) -> _Document:
    result: _Document = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": printable(finding.message)},
        "locations": [{"physicalLocation": _location(finding.place, presentation)}],
        "suppressions": suppressions,
    }
    if finding.fingerprint:
        result["partialFingerprints"] = {"opslint/v1": finding.fingerprint}
    if finding.related:
        result["relatedLocations"] = [
            {
                "id": number,
                "message": {"text": printable(related.message)},
                "physicalLocation": _location(related.place, presentation),
            }
            for number, related in enumerate(finding.related, start=1)
        ]
    fix = _fix(finding, report, presentation)
    if fix is not None and not suppressions:
        result["fixes"] = [fix]
    return result


def _fix(finding: Finding, report: Report, presentation: Presentation) -> _Document | None:
    replacements = report.replacements.get(finding.fingerprint)
    if finding.fix is None or not replacements:
        return None
    aside = "" if finding.fix.safe else " (this may change what the program does)"
    paths = dict.fromkeys(replacement.place.path for replacement in replacements)
    return {
        "description": {"text": f"{printable(finding.fix.description)}{aside}"},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(path, presentation),
                "replacements": [
                    {"deletedRegion": _region(replacement.place), "insertedContent": {"text": replacement.text}}
                    for replacement in replacements
                    if replacement.place.path == path
                ],
            }
            for path in paths
        ],
    }


def _location(place: Place, presentation: Presentation) -> _Document:
    return {"artifactLocation": _artifact(place.path, presentation), "region": _region(place)}


def _artifact(path: str, presentation: Presentation) -> Mapping[str, str]:
    return {"uri": _quoted(presentation.prefix + path), "uriBaseId": _BASE}


def _region(place: Place) -> _Document:
    region: _Document = {"startLine": place.line, "startColumn": place.column}
    if (place.end_line, place.end_column) >= (place.line, place.column):
        region.update(endLine=place.end_line, endColumn=place.end_column)
    return region


def _root(report: Report, presentation: Presentation) -> str:
    root = report.root.replace("\\", "/").rstrip("/") + "/"
    return f"file://{_quoted(root.removesuffix(presentation.prefix), root=True)}"


def _quoted(path: str, *, root: bool = False) -> str:
    # A path may hold bytes that are no text.
    quoted = quote(path, errors="surrogateescape")
    return f"/{quoted}" if root and not quoted.startswith("/") else quoted
