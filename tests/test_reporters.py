"""The output formats, whole."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from veomni_opslint import __version__
from veomni_opslint.findings import Finding, Fix, Place, Related, Severity
from veomni_opslint.fingerprints import with_fingerprints
from veomni_opslint.registrations import Unresolved
from veomni_opslint.report import Coverage, Report, at_least
from veomni_opslint.reporters import FORMATS, Presentation

ERROR = Finding(
    "OPS201",
    "unguarded-npu-import",
    Severity.ERROR,
    "`torch_npu` is imported without a guard",
    Place("veomni/ops/a.py", 3, 5, 3, 21),
    (Related(Place("veomni/ops/__init__.py", 7, 1), "imports veomni.ops.a"),),
    Fix("move it behind the guard", safe=False),
    "f1",
)
WARNING = Finding(
    "OPS303", "unused-kernel", Severity.WARNING, "no slot uses it", Place("veomni/ops/b.py", 9, 2), (), None, "f2"
)
COVERAGE = Coverage(12, 1, 33, 4, 1, (Unresolved(Place("veomni/ops/c.py", 4), "the loop has no end"),))
REPORT = Report(
    root="/project",
    package="veomni",
    settings="the default settings",
    findings=(ERROR, WARNING),
    hidden=1,
    suppressed=2,
    files=12,
    coverage=COVERAGE,
    excerpts={("veomni/ops/a.py", 3): "    import torch_npu  # here", ("veomni/ops/b.py", 9): "x = 1"},
)
CLEAN = replace(REPORT, findings=(), hidden=0, suppressed=0, files=1, excerpts={})


def test_text() -> None:
    """For a person: place, message, code with a caret, related places, and a summary."""
    assert FORMATS["text"](REPORT, Presentation()) == (
        "veomni/ops/a.py:3:5: error OPS201 unguarded-npu-import\n"
        "  `torch_npu` is imported without a guard\n"
        "    3 | import torch_npu  # here\n"
        "      | ^^^^^^^^^^^^^^^^\n"
        "    veomni/ops/__init__.py:7:1: imports veomni.ops.a\n"
        "    --fix --unsafe-fixes: move it behind the guard\n"
        "\n"
        "veomni/ops/b.py:9:2: warning OPS303 unused-kernel\n"
        "  no slot uses it\n"
        "    9 | x = 1\n"
        "      |  ^\n"
        "\n"
        "1 error and 1 warning in 2 of 12 files (2 suppressed, 1 fixable with "
        "--fix --unsafe-fixes, 1 below the level shown; --min-severity info shows it)\n"
    )


def test_text_of_a_clean_run() -> None:
    """A clean run says how much it read."""
    assert FORMATS["text"](CLEAN, Presentation()) == "no findings in 1 file\n"


def test_concise_with_everything() -> None:
    """One line a finding; statistics and coverage stand below."""
    assert FORMATS["concise"](REPORT, Presentation(statistics=True, coverage=True)) == (
        "veomni/ops/a.py:3:5: error OPS201 unguarded-npu-import: `torch_npu` is imported without a guard\n"
        "veomni/ops/b.py:9:2: warning OPS303 unused-kernel: no slot uses it\n"
        "     1  OPS201  error    unguarded-npu-import\n"
        "     1  OPS303  warning  unused-kernel\n"
        "\n"
        "coverage: 12 files read, 1 unreadable; 33 kernel specs, 4 op specs, 1 op slot; 1 registration unresolved\n"
        "  veomni/ops/c.py:4:1: the loop has no end\n"
        "\n"
        "1 error and 1 warning in 2 of 12 files (2 suppressed, 1 fixable with "
        "--fix --unsafe-fixes, 1 below the level shown; --min-severity info shows it)\n"
    )


def test_quiet_leaves_the_findings() -> None:
    """With quiet, a clean run says nothing."""
    assert FORMATS["concise"](replace(REPORT, findings=(WARNING,)), Presentation(quiet=True)) == (
        "veomni/ops/b.py:9:2: warning OPS303 unused-kernel: no slot uses it\n"
    )
    assert [FORMATS[name](CLEAN, Presentation(quiet=True)) for name in ("text", "concise")] == ["", ""]


def test_json() -> None:
    """The contract of version 1."""
    assert json.loads(FORMATS["json"](REPORT, Presentation())) == {
        "version": 1,
        "tool_version": __version__,
        "root": "/project",
        "findings": [
            {
                "code": "OPS201",
                "name": "unguarded-npu-import",
                "severity": "error",
                "message": "`torch_npu` is imported without a guard",
                "path": "veomni/ops/a.py",
                "line": 3,
                "column": 5,
                "end_line": 3,
                "end_column": 21,
                "related": [{"path": "veomni/ops/__init__.py", "line": 7, "message": "imports veomni.ops.a"}],
                "fix": {"safe": False, "description": "move it behind the guard"},
                "fingerprint": "f1",
            },
            {
                "code": "OPS303",
                "name": "unused-kernel",
                "severity": "warning",
                "message": "no slot uses it",
                "path": "veomni/ops/b.py",
                "line": 9,
                "column": 2,
                "end_line": 9,
                "end_column": 2,
                "related": [],
                "fix": None,
                "fingerprint": "f2",
            },
        ],
        "summary": {
            "errors": 1,
            "warnings": 1,
            "infos": 0,
            "files": 12,
            "files_with_findings": 2,
            "hidden": 1,
            "suppressed": 2,
            "baselined": 0,
            "not_new": 0,
            "by_rule": {"OPS201": 1, "OPS303": 1},
        },
        "coverage": {
            "files": 12,
            "unreadable_files": 1,
            "kernel_specs": 33,
            "op_specs": 4,
            "op_slots": 1,
            "unresolved": [{"file": "veomni/ops/c.py", "line": 4, "reason": "the loop has no end"}],
        },
    }


def test_long_message_is_wrapped() -> None:
    """A message of several sentences is broken between words, in the text format only."""
    long = replace(ERROR, message="it is broken; " * 20, related=())
    report = replace(REPORT, findings=(long,), excerpts={})
    first, second, third, *_ = FORMATS["text"](report, Presentation()).splitlines()[1:]
    assert [first, second, third] == [
        "  " + "it is broken; " * 7 + "it is",
        "  broken; " + "it is broken; " * 7 + "it",
        "  is broken; " + "it is broken; " * 3 + "it is broken;",
    ]
    assert FORMATS["concise"](report, Presentation(quiet=True)).count("\n") == 1


def test_colour_wraps_and_changes_nothing_else() -> None:
    """Without its escape sequences the coloured text is the plain one."""
    for name in ("text", "concise"):
        coloured = FORMATS[name](REPORT, Presentation(colour=True))
        assert "\x1b[1;31m" in coloured
        assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == FORMATS[name](REPORT, Presentation())


@pytest.mark.parametrize(
    ("line", "place", "shown"),
    [
        ("\timport x", Place("p", 1, 2, 1, 10), ["import x", "^^^^^^^^"]),
        ("call(a,", Place("p", 1, 6, 3, 2), ["call(a,", "     ^^"]),
        ("call()   ", Place("p", 1, 1, 2, 2), ["call()", "^^^^^^"]),
        ("名 = torch_npu", Place("p", 1, 5, 1, 14), ["名 = torch_npu", "     ^^^^^^^^^"]),
        ("x = 1", Place("p", 1, 99), ["x = 1", "     ^"]),
        ("a\x1b[31mb", Place("p", 1, 1, 1, 2), ["a?[31mb", "^"]),
        ("a" * 300 + "b", Place("p", 1, 301, 1, 302), ["…" + "a" * 19 + "b", " " * 20 + "^"]),
        ("\t" + "a b " * 40, Place("p", 1, 2, 1, 3), ["a b " * 25 + "a b…", "^"]),
    ],
)
def test_excerpt(line: str, place: Place, shown: list[str]) -> None:
    """The caret stands under the code whatever the line holds."""
    report = replace(REPORT, findings=(replace(ERROR, place=place, related=()),), excerpts={("p", place.line): line})
    lines = FORMATS["text"](report, Presentation(quiet=True)).splitlines()
    assert [text.partition(" | ")[2] for text in lines[2:4]] == shown


def test_narrow_terminal() -> None:
    """On a terminal nothing that has spaces is wider than the terminal; the caret stays under what is shown."""
    related = (Related(Place("veomni/ops/__init__.py", 7, 1), "it is imported here, and here, and here again"),)
    finding = replace(ERROR, message="it is broken; " * 6, place=Place("p", 7, 31, 7, 99), related=related)
    report = replace(REPORT, findings=(finding,), excerpts={("p", 7): "x" * 30 + "名" * 70})
    assert FORMATS["text"](report, Presentation(quiet=True, columns=60)).splitlines() == [
        "p:7:31: error OPS201 unguarded-npu-import",
        "  it is broken; it is broken; it is broken; it is broken; it",
        "  is broken; it is broken;",
        "    7 | …" + "x" * 19 + "名" * 15 + "…",
        "      | " + " " * 20 + "^" * 31,
        "    veomni/ops/__init__.py:7:1: it is imported here, and",
        "      here, and here again",
        "    --fix --unsafe-fixes: move it behind the guard",
        "",
    ]


@pytest.mark.parametrize(("columns", "shown"), [(60, 52), (100, 92), (200, 150), (None, 104)])
def test_excerpt_is_clipped_to_the_terminal(columns: int | None, shown: int) -> None:
    """As much of a long line is shown as the terminal is wide, or a fixed part, with a mark where it is cut."""
    finding = replace(ERROR, place=Place("p", 7, 1, 7, 151), related=())
    report = replace(REPORT, findings=(finding,), excerpts={("p", 7): "x" * 150})
    lines = FORMATS["text"](report, Presentation(quiet=True, columns=columns)).splitlines()
    code = "x" * 150 if shown == 150 else "x" * (shown - 1) + "…"
    assert lines[2:4] == [f"    7 | {code}", "      | " + "^" * shown]


def test_names_cannot_steer_the_terminal() -> None:
    """Control characters of paths and messages are escaped."""
    evil = replace(ERROR, message="a\x1b[2Jb\nc", place=Place("e\x1b[2J\udcff.py", 1), related=())
    for name in ("text", "concise"):
        said = FORMATS[name](replace(REPORT, findings=(evil,)), Presentation())
        assert r"e\x1b[2J\udcff.py:1:1" in said
        assert r"a\x1b[2Jb\nc" in said


def test_fingerprints_survive_moving_and_tell_equals_apart() -> None:
    """Line numbers are not in them; equal findings of one file differ; order and repetition do not matter."""
    one, two = replace(ERROR, fingerprint=""), replace(ERROR, fingerprint="", place=Place("veomni/ops/a.py", 8))
    other = replace(one, place=Place("veomni/ops/z.py", 3))
    first = with_fingerprints([two, one, other, one])
    moved = with_fingerprints(
        [replace(one, place=Place("veomni/ops/a.py", 30)), replace(two, place=Place("veomni/ops/a.py", 80))]
    )
    assert [finding.place.line for finding in first] == [3, 8, 3]
    assert len({finding.fingerprint for finding in first}) == 3
    assert [finding.fingerprint for finding in first[:2]] == [finding.fingerprint for finding in moved]
    assert with_fingerprints(first[:1]) == first[:1]


def test_levels() -> None:
    """A level shows itself and what is worse."""
    info = replace(WARNING, severity=Severity.INFO)
    everything = (ERROR, WARNING, info)
    assert [at_least(everything, level) for level in Severity] == [everything[:1], everything[:2], everything]


@pytest.mark.parametrize(
    ("findings", "strict", "exit_zero", "status"),
    [
        ((), False, False, 0),
        ((WARNING,), False, False, 0),
        ((WARNING,), True, False, 1),
        ((ERROR,), False, False, 1),
        ((ERROR,), True, True, 0),
        ((replace(WARNING, severity=Severity.INFO),), True, False, 0),
    ],
)
def test_exit_status(findings: tuple[Finding, ...], strict: bool, exit_zero: bool, status: int) -> None:
    """Errors fail a run, warnings a strict one, infos none."""
    assert replace(REPORT, findings=findings).exit_status(strict=strict, exit_zero=exit_zero) == status


@pytest.mark.parametrize(
    ("report", "presentation", "advised"),
    [
        (REPORT, Presentation(columns=100), False),
        (replace(REPORT, findings=(ERROR,) * 20), Presentation(columns=100), True),
        (replace(REPORT, findings=(ERROR,) * 20), Presentation(), False),
        (replace(REPORT, findings=(ERROR,) * 20), Presentation(columns=100, quiet=True), False),
        (replace(REPORT, findings=(ERROR,) * 20, baseline=True), Presentation(columns=100), False),
        (replace(REPORT, findings=(ERROR,) * 20, new_from="main"), Presentation(columns=100), False),
    ],
)
def test_advice_for_a_first_run(report: Report, presentation: Presentation, advised: bool) -> None:
    """Who sees many findings on a terminal, without a baseline, is told of it; nobody else is."""
    last = FORMATS["text"](report, presentation).rstrip("\n").rpartition("\n")[2]
    assert ("--write-baseline" in last) is advised
    assert "--write-baseline" not in FORMATS["concise"](report, presentation)
