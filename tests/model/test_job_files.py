"""YAML with positions, and which YAML files configure jobs."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects import write_base_tree, write_files

from veomni_opslint.analysis import analyse
from veomni_opslint.discovery import discover
from veomni_opslint.yaml_documents import YamlNode, read_yaml

JOB = """\
from dataclasses import dataclass, field


@dataclass
class A:
    x: int = 0


@dataclass
class Job:
    a: A = field(default_factory=A)
    b: "A | None" = None
    name: str = ""
"""


def flat(node: YamlNode | None, prefix: str = "") -> list[tuple[str, str, str]]:
    """Every key with its place and its value."""
    found = []
    for entry in node.entries if node is not None else ():
        found.append((f"{prefix}{entry.key}", f"{entry.place.line}:{entry.place.column}", entry.value.text))
        found += flat(entry.value, f"{prefix}{entry.key}.")
    return found


def test_positions() -> None:
    """Anchors, merge keys and repeated keys are read as a job reads them; comments and a BOM do no harm."""
    text = "\ufeff# é\nbase: &base {x: 1, y: two} # c\nfirst:\n  <<: *base\n  y: three\nx: 1\nx: 'é'\n"
    found = read_yaml("job.yaml", text.encode())
    assert found.problem == ""
    assert flat(found.root) == [
        ("base", "2:1", ""),
        ("base.x", "2:14", "1"),
        ("base.y", "2:20", "two"),
        ("first", "3:1", ""),
        ("first.y", "5:3", "three"),
        ("first.x", "2:14", "1"),
        ("x", "7:1", "é"),
    ]


@pytest.mark.parametrize(
    ("data", "problem", "line"),
    [
        (b"a: [1\nb: 2\n", "is no valid YAML: did not find expected ',' or ']'", 2),
        (b"a: 1\n---\nb: 2\n", "is no valid YAML: it holds more than one document, and a job reads one", 2),
        (b"a: \xff\n", "is not UTF-8 (byte 3)", 1),
        (b"a: *b\n", "is no valid YAML: found undefined alias", 1),
    ],
)
def test_problems(data: bytes, problem: str, line: int) -> None:
    """What cannot be read says why, and where."""
    found = read_yaml("job.yaml", data)
    assert found.place is not None
    assert (found.root, found.problem, found.place.line) == (None, problem, line)


@pytest.mark.parametrize(
    "data", [b"[" * 100_000, b"a: {" * 5_000, b"&a [*a]", b"&a {x: *a}", b"", b"\x00", b"? [1]\n: 2"]
)
def test_odd_files(data: bytes) -> None:
    """Nothing that a file holds raises."""
    found = read_yaml("job.yaml", data)
    assert found.root is None or found.problem == ""


def test_job_files(tmp_path: Path) -> None:
    """A file with two sections of the arguments is one; others are not, and the package alone has none."""
    write_base_tree(tmp_path)
    files = {
        "opslint.toml": 'exclude = ["left_out"]\n',
        "veomni/arguments/job.py": JOB,
        "configs/both.yaml": "a: {x: 1}\nb: {x: 2}\n",
        "configs/broken.yml": "a: {x: 1\nb: 2\n",
        "configs/one.yaml": "a: {x: 1}\nname: n\n",
        "configs/other.yaml": "a: 1\nb: 2\n",
        "configs/list.yaml": "- a\n- b\n",
        "left_out/both.yaml": "a: {x: 1}\nb: {x: 2}\n",
    }
    write_files(tmp_path, files)
    whole = analyse(*discover([str(tmp_path)])).model
    assert [(job.yaml.path, [root.key[1] for root in job.roots]) for job in whole.job_files] == [
        ("configs/both.yaml", ["Job"]),
        ("configs/broken.yml", []),
    ]
    assert analyse(*discover([str(tmp_path / "veomni")])).model.yaml_sources == {}
    alone = discover([str(tmp_path / "configs/both.yaml")])[0]
    assert [path for path in (*alone.files, *alone.yaml_files) if alone.reports(path)] == ["configs/both.yaml"]
