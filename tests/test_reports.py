"""Several reports in one run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command import opslint
from support.projects import write_base_tree, write_files

from veomni_opslint.cli.parsers import CHECK, parse
from veomni_opslint.cli.reports import Target, report_targets


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with one fault."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"opslint.toml": "", "veomni/broken.py": "("})
    return tmp_path


@pytest.mark.parametrize(
    ("words", "targets"),
    [
        ("", [Target("text", None)]),
        ("--output-format json", [Target("json", None)]),
        ("--output a", [Target("text", "a")]),
        ("--output-format json --output a", [Target("json", "a")]),
        ("--output a --output-format json", [Target("json", "a")]),
        ("--output-format json --output a --output-format github", [Target("json", "a"), Target("github", None)]),
        ("--output-format github --output-format json --output a", [Target("github", None), Target("json", "a")]),
        (
            "--output-format junit --output=b x --output-format=json --output a",
            [Target("junit", "b"), Target("json", "a")],
        ),
    ],
)
def test_which_file_is_for_which_format(words: str, targets: list[Target]) -> None:
    """A file is for the format before it; one of each go together in any order."""
    assert list(report_targets(parse(CHECK, ["veomni", *words.split()]).reports)) == targets


def test_several_reports(tree: Path) -> None:
    """Each is what it would be alone."""
    alone = {name: opslint("veomni", "--output-format", name, cwd=tree).out for name in ("json", "junit", "github")}
    outcome = opslint(
        *("veomni", "--output-format", "github", "--output-format", "json", "--output", "a.json"),
        *("--output-format", "junit", "--output", "a.xml"),
        cwd=tree,
    )
    assert (outcome.status, outcome.out, outcome.err) == (1, alone["github"], "")
    assert (tree / "a.json").read_text(encoding="utf-8") == alone["json"]
    assert (tree / "a.xml").read_text(encoding="utf-8") == alone["junit"]


def test_nothing_is_shown_when_a_file_cannot_be_written(tree: Path) -> None:
    """A report that cannot be written ends the run before a log could say that all is well."""
    (tree / "a.json").write_text("old", encoding="utf-8")
    outcome = opslint(
        *("veomni", "--output-format", "text", "--output-format", "json", "--output", "no/a.json"), cwd=tree
    )
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == "opslint: error: --output no/a.json: cannot be written: No such file or directory\n"
    assert sorted(path.name for path in tree.iterdir() if path.name.startswith(".opslint")) == []


def test_paths_start_at_the_repository(tree: Path) -> None:
    """A project in a folder of a repository is found there by GitHub and GitLab; JSON keeps to the project."""
    (tree / "veomni").rename(tree / "inner-veomni")
    project = tree / "python"
    project.mkdir()
    (tree / "inner-veomni").rename(project / "veomni")
    write_files(tree, {".git/HEAD": "", "python/pyproject.toml": ""})
    said = opslint("python/veomni", "--output-format", "github", "-q", cwd=tree)
    assert said.out.startswith("::error file=python/veomni/broken.py,line=1,")
    document = json.loads(opslint("python/veomni", "--output-format", "json", cwd=tree).out)
    assert [finding["path"] for finding in document["findings"]] == ["veomni/broken.py"]
