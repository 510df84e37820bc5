"""The formats for CI systems, whole."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from veomni_opslint.findings import Finding, Fix, Place, Related, Severity
from veomni_opslint.report import Coverage, Report
from veomni_opslint.reporters import FORMATS, Presentation

ERROR = Finding(
    "OPS201",
    "unguarded-npu-import",
    Severity.ERROR,
    "`torch_npu` is imported at 100%, see __init__",
    Place("veomni/ops/a,b.py", 3, 5, 3, 21),
    (Related(Place("veomni/ops/__init__.py", 7, 1), "imports veomni.ops.a"),),
    Fix("move it behind the guard", safe=False),
    "f1",
)
WARNING = Finding(
    "OPS303", "unused-kernel", Severity.WARNING, "no slot|use <it>", Place("b.py", 9, 2, 11, 4), (), None, "f2"
)
INFO = replace(WARNING, code="OPS390", name="unresolvable-registration", severity=Severity.INFO, fingerprint="f3")
REPORT = Report(
    root="/project",
    package="veomni",
    settings="the default settings",
    findings=(ERROR, WARNING, INFO),
    hidden=0,
    suppressed=2,
    files=12,
    coverage=Coverage(12, 0, 0, 0, 0, ()),
)
CLEAN = replace(REPORT, findings=(), suppressed=0, files=1)
NESTED = Presentation(quiet=True, prefix="python/")


def test_jsonl() -> None:
    """Each line is a finding as in the JSON format; a clean run is empty."""
    lines = FORMATS["jsonl"](REPORT, Presentation()).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(FORMATS["json"](REPORT, Presentation()))["findings"]
    assert FORMATS["jsonl"](CLEAN, Presentation()) == ""


def test_github() -> None:
    """Workflow commands with GitHub's escapes; columns only within one line; the summary is for the log."""
    assert FORMATS["github"](REPORT, Presentation()) == (
        "::error file=veomni/ops/a%2Cb.py,line=3,col=5,endColumn=21,title=OPS201 unguarded-npu-import::"
        "`torch_npu` is imported at 100%25, see __init__%0Aveomni/ops/__init__.py:7:1: imports veomni.ops.a\n"
        "::warning file=b.py,line=9,endLine=11,title=OPS303 unused-kernel::no slot|use <it>\n"
        "::notice file=b.py,line=9,endLine=11,title=OPS390 unresolvable-registration::no slot|use <it>\n"
        "1 error, 1 warning and 1 info in 2 of 12 files (2 suppressed, 1 fixable with --fix --unsafe-fixes)\n"
    )


def test_github_below_the_root_of_the_repository() -> None:
    """Paths start at the root of the repository, wherever the project is."""
    said = FORMATS["github"](replace(REPORT, findings=(ERROR,)), NESTED)
    assert said == (
        "::error file=python/veomni/ops/a%2Cb.py,line=3,col=5,endColumn=21,title=OPS201 unguarded-npu-import::"
        "`torch_npu` is imported at 100%25, see __init__%0Apython/veomni/ops/__init__.py:7:1: imports veomni.ops.a\n"
    )


def test_github_commands_cannot_be_forged() -> None:
    """A line end in a path or message does not begin another command."""
    evil = replace(ERROR, message="a\n::set-env name=x::y", place=Place("p\r\n::error::q:r.py", 1), related=())
    assert FORMATS["github"](replace(REPORT, findings=(evil,)), Presentation(quiet=True)) == (
        "::error file=p\\r\\n%3A%3Aerror%3A%3Aq%3Ar.py,line=1,col=1,title=OPS201 unguarded-npu-import::"
        "a\\n::set-env name=x::y\n"
    )


def test_gitlab() -> None:
    """A list of issues with what the code quality report needs."""
    assert json.loads(FORMATS["gitlab"](REPORT, NESTED)) == [
        {
            "type": "issue",
            "check_name": "OPS201 unguarded-npu-import",
            "description": "OPS201 `torch_npu` is imported at 100%, see __init__",
            "categories": ["Bug Risk"],
            "severity": "major",
            "fingerprint": "f1",
            "location": {"path": "python/veomni/ops/a,b.py", "lines": {"begin": 3, "end": 3}},
        },
        {
            "type": "issue",
            "check_name": "OPS303 unused-kernel",
            "description": "OPS303 no slot|use <it>",
            "categories": ["Bug Risk"],
            "severity": "minor",
            "fingerprint": "f2",
            "location": {"path": "python/b.py", "lines": {"begin": 9, "end": 11}},
        },
        {
            "type": "issue",
            "check_name": "OPS390 unresolvable-registration",
            "description": "OPS390 no slot|use <it>",
            "categories": ["Bug Risk"],
            "severity": "info",
            "fingerprint": "f3",
            "location": {"path": "python/b.py", "lines": {"begin": 9, "end": 11}},
        },
    ]
    assert FORMATS["gitlab"](CLEAN, Presentation()) == "[]\n"


def test_junit() -> None:
    """A suite a file; what does not fail the run is a test that passed and says something."""
    assert FORMATS["junit"](replace(REPORT, findings=(ERROR, WARNING)), Presentation()) == (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<testsuites name="opslint" tests="2" failures="1" errors="0">\n'
        '  <testsuite name="veomni/ops/a,b.py" tests="1" failures="1" errors="0" skipped="0">\n'
        '    <testcase classname="veomni/ops/a,b.py" name="OPS201 unguarded-npu-import, line 3, column 5" '
        'file="veomni/ops/a,b.py" line="3">\n'
        '      <failure type="error" message="`torch_npu` is imported at 100%, see __init__">'
        "veomni/ops/a,b.py:3:5: error OPS201 unguarded-npu-import: `torch_npu` is imported at 100%, see __init__\n"
        "  veomni/ops/__init__.py:7:1: imports veomni.ops.a</failure>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        '  <testsuite name="b.py" tests="1" failures="0" errors="0" skipped="0">\n'
        '    <testcase classname="b.py" name="OPS303 unused-kernel, line 9, column 2" file="b.py" line="9">\n'
        "      <system-out>b.py:9:2: warning OPS303 unused-kernel: no slot|use &lt;it&gt;</system-out>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n"
    )


@pytest.mark.parametrize(("strict", "failures"), [(False, ["1", "1", "0"]), (True, ["2", "1", "1"])])
def test_junit_fails_what_fails_the_run(strict: bool, failures: list[str]) -> None:
    """With --strict warnings are failures, too; infos never are."""
    root = ET.fromstring(FORMATS["junit"](REPORT, Presentation(strict=strict)))
    assert [root.attrib["failures"], *(suite.attrib["failures"] for suite in root)] == failures
    assert len(root.findall(".//failure")) == int(failures[0])


def test_junit_of_a_clean_run() -> None:
    """An empty report would be taken for a broken one, so a clean run is a test that passed."""
    root = ET.fromstring(FORMATS["junit"](CLEAN, Presentation()))
    assert (root.attrib["tests"], root.attrib["failures"]) == ("1", "0")
    assert root.findtext("testsuite/testcase/system-out") == "no findings in 1 file"


def test_junit_holds_what_xml_cannot() -> None:
    """Control characters of paths and messages do not break the document."""
    evil = replace(ERROR, message="a\x00\x1b]]>&\udcff", place=Place('e"\x08<.py', 1))
    root = ET.fromstring(FORMATS["junit"](replace(REPORT, findings=(evil,)), Presentation()))
    assert [suite.attrib["name"] for suite in root] == ['e"\\x08<.py']
    assert [failure.attrib["message"] for failure in root.iter("failure")] == ["a\\x00\\x1b]]>&\\udcff"]


def test_markdown() -> None:
    """A table; what is code stays code, and nothing else is taken for markup."""
    assert FORMATS["markdown"](replace(REPORT, findings=(ERROR, WARNING)), Presentation(statistics=True)) == (
        "## opslint\n"
        "\n"
        "1 error and 1 warning in 2 of 12 files (2 suppressed, 1 fixable with --fix --unsafe-fixes)\n"
        "\n"
        "| severity | rule | place | what is wrong |\n"
        "|---|---|---|---|\n"
        "| error | OPS201 unguarded-npu-import | veomni/ops/a,b.py:3 | `torch_npu` is imported at 100%, see "
        "\\_\\_init\\_\\_<br>veomni/ops/\\_\\_init\\_\\_.py:7:1: imports veomni.ops.a |\n"
        "| warning | OPS303 unused-kernel | b.py:9 | no slot\\|use \\<it\\> |\n"
        "\n"
        "| rule | findings |\n"
        "|---|---|\n"
        "| OPS201 unguarded-npu-import | 1 |\n"
        "| OPS303 unused-kernel | 1 |\n"
    )
    assert FORMATS["markdown"](CLEAN, Presentation()) == "## opslint\n\nno findings in 1 file\n"


def test_markdown_of_many_findings() -> None:
    """The page of a job has a limit: the rest is counted."""
    many = tuple(replace(WARNING, place=Place("b.py", line)) for line in range(1, 503))
    lines = FORMATS["markdown"](replace(REPORT, findings=many), Presentation()).splitlines()
    assert lines[6 + 500 :] == [
        "",
        "The table holds the first 500 findings of 502.",
        "",
        "| rule | findings |",
        "|---|---|",
        "| OPS303 unused-kernel | 502 |",
    ]


def test_only_the_format_asked_for_is_imported() -> None:
    """A run pays for the report that it writes."""
    program = (
        "import sys\n"
        "from veomni_opslint.cli.parsers import COMMANDS\n"
        "COMMANDS['check']()\n"
        "print(sorted(name for name in sys.modules if name.startswith('veomni_opslint.reporters.')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['veomni_opslint.reporters.style']\n"
