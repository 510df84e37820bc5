"""Whatever a file holds, the run ends with a finding or a message and never with a traceback."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.projects import BASE_TREE, write_base_tree

from veomni_opslint.check import Request, check
from veomni_opslint.findings import Severity

TARGET = "veomni/ops/kernels/rms_norm/__init__.py"
SOURCE = (BASE_TREE / TARGET).read_bytes()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small clean project."""
    write_base_tree(tmp_path)
    return tmp_path


def codes(tree: Path, content: bytes) -> set[str]:
    """The codes that a run reports at the target file, whose content is *content*."""
    (tree / TARGET).write_bytes(content)
    report = check(Request((str(tree),), root=str(tree), min_severity=Severity.INFO))
    return {finding.code for finding in report.findings if finding.place.path == TARGET}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", set()),
        (b"\n", set()),
        (b"\xef\xbb\xbf" + SOURCE, set()),
        (SOURCE.replace(b"\n", b"\r\n"), set()),
        (SOURCE.replace(b"\n", b"\r"), set()),
        (b"# coding: latin-1\n# caf\xe9\n" + SOURCE, set()),
        (b"# caf\xe9\n" + SOURCE, {"OPS003"}),
        (b"# coding: nowhere\n" + SOURCE, {"OPS003"}),
        (b"\xff\xfe" + SOURCE.decode().encode("utf-16-le"), {"OPS003"}),
        (b"x = 1\0\n", {"OPS001"}),
        (b"if x:\n\ty = 1\n        z = 2\n", {"OPS001"}),
        (b"".join(b" " * depth + b"if x:\n" for depth in range(120)), {"OPS001"}),
        (b"x = 1\n" * 50_000, set()),
        (b"x = '" + b"a" * 2_000_000 + b"'\n", set()),
    ],
    ids=range(14),
)
def test_odd_files(content: bytes, expected: set[str], tree: Path) -> None:
    """Encodings, line ends, nesting and size: parsed, or reported as what could not be."""
    assert codes(tree, content) & {"OPS001", "OPS003"} == expected


@pytest.mark.parametrize(
    ("before", "inside", "after"), [("(", "1", ")"), ("-", "1", ""), ("", "1", " + 1"), ("", "x", ".a"), ("[", "", "]")]
)
def test_deep_nesting(before: str, inside: str, after: str, tree: Path) -> None:
    """What Python's own parser gives up on is a syntax error; versions differ in what that is."""
    content = f"x = {before * 5000}{inside}{after * 5000}\n".encode()
    assert codes(tree, content) & {"OPS001", "OPS003"} in (set(), {"OPS001"})


def test_truncated_anywhere(tree: Path) -> None:
    """A file that is being written is parsed or reported, wherever it ends."""
    random.seed(20)
    for end in random.sample(range(len(SOURCE)), 40):
        assert codes(tree, SOURCE[:end]) <= {
            "OPS001",
            "OPS101",
            "OPS102",
            "OPS103",
            "OPS106",
            "OPS204",
            "OPS303",
            "OPS390",
        }


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200))
def test_random_bytes(content: bytes, tree: Path) -> None:
    """Random bytes are hardly ever Python; they are never a traceback."""
    assert codes(tree, content) <= {"OPS001", "OPS002", "OPS003"}
