"""Evaluation by hostile projects: what counts as survived."""

from __future__ import annotations

import json
import sys

import pytest

from evaluation.survive import contents, filesystems, hostile
from evaluation.survive.case import ODD, Case, Expectation, Ran, judge, run_case, run_child, written
from evaluation.survive.truncation import DAMAGES, differences, parses

READ = json.dumps({"findings": []}).encode()
UNREAD = json.dumps({"findings": [{"path": ODD, "code": "OPS001", "message": "m"}]}).encode()


def ran(status: int | None = 0, output: bytes = READ, errors: bytes = b"", memory: float = 10.0) -> Ran:
    """A child that has ended."""
    return Ran(status, output, errors, 1.0, memory)


@pytest.mark.parametrize(
    ("expects", "child", "problems"),
    [
        ("any", ran(), []),
        ("any", ran(2, b"", b"no package"), []),
        ("finding", ran(1, UNREAD), []),
        ("quiet", ran(), []),
        ("message", ran(2, b"", b"no package"), []),
        ("nothing", ran(0, b""), []),
        ("finding", ran(), [f"nothing said of {ODD!r}"]),
        ("quiet", ran(1, UNREAD), ["false alarm: OPS001 m"]),
        ("finding", ran(2, b"", b"no package"), ["not run: no package"]),
        ("message", ran(), ["exit status 0 where nothing could be checked"]),
        ("any", ran(2, b""), ["exit status 2 without a message"]),
        ("any", ran(None), ["not done in 20 s of CPU time"]),
        ("any", ran(-11), ["exit status -11"]),
        ("any", ran(1, b"", b"Traceback\nKeyError: 1"), ["a traceback: KeyError: 1"]),
        ("any", ran(0, b"clean"), ["the report is no JSON: Expecting value: line 1 column 1 (char 0)"]),
        ("any", ran(memory=9000.0), ["9000 MiB of memory"]),
    ],
)
def test_how_a_run_ended_is_judged(expects: Expectation, child: Ran, problems: list[str]) -> None:
    """Only a report or a message, in time and without a traceback, is survival."""
    assert judge(Case("x", written("a", ""), expects), child) == problems


def test_a_child_that_does_not_end_is_ended() -> None:
    """It has no status then."""
    assert run_child([sys.executable, "-c", "while True: pass"], {}, 1).status is None


def test_a_case_is_built_run_and_judged() -> None:
    """The command sees the project with the odd file in it."""
    program = (
        "import json, sys; text = open(sys.argv[2] + '/ops/kernels/odd.py').read(); "
        "print(json.dumps({'findings': [{'path': 'veomni/ops/kernels/odd.py', 'code': text, 'message': ''}]}))"
    )
    outcome = run_case(Case("odd", written(ODD, "OPS003"), "finding"), [sys.executable, "-c", program])
    assert (outcome.problems, outcome.skipped) == ((), "")


def test_a_case_that_needs_more_than_there_is_is_skipped() -> None:
    """The reason is kept."""
    outcome = run_case(Case("x", written("a", ""), needs=lambda _: "no such device"), ["/nonexistent"])
    assert outcome.skipped == "no such device"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"A = 1\n", True),
        (b"def (\n", False),
        (b"A = 1\x00\n", False),
        (b"\xff\n", False),
        (b"# \xff\n", False),
        (b"# coding: x\n", False),
    ],
)
def test_python_itself_says_what_can_be_parsed(data: bytes, expected: bool) -> None:
    """Bytes are judged, so that coding lines count."""
    assert parses(data) is expected


def test_the_report_must_agree_with_python_about_every_file() -> None:
    """Both kinds of disagreement are listed."""
    report = json.dumps({"findings": [{"path": "b.py", "code": "OPS001"}, {"path": "c.py", "code": "OPS003"}]})
    assert differences({"a.py", "b.py"}, report) == ["nothing said of a.py", "false alarm about c.py"]


def test_no_two_cases_have_the_same_name() -> None:
    """A name finds one case."""
    names = [case.name for case in (*contents.cases(1), *filesystems.cases(), *hostile.cases())]
    assert len(names) == len(set(names))
    assert len(names) > 200
    assert len(DAMAGES) == 9
