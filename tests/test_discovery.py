"""From paths to a project: root, package under check, files, and the messages when there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.projects import write_files

from veomni_opslint import file_walk
from veomni_opslint.discovery import Project, discover
from veomni_opslint.errors import RunError
from veomni_opslint.source import Source, SourceProblem

PACKAGE = {"veomni/__init__.py": "", "veomni/ops/__init__.py": "", "veomni/models/__init__.py": ""}
PACKAGE_FILES = tuple(sorted(PACKAGE))


def project_of(*paths: Path | str, **options: str) -> Project:
    """The project found for *paths*."""
    return discover([str(path) for path in paths], **options)[0]


def test_package_as_path(tmp_path: Path) -> None:
    """`opslint veomni/` reads the package alone and reports on it."""
    write_files(tmp_path, {**PACKAGE, "pyproject.toml": "", "tests/test_a.py": ""})
    expected = Project(str(tmp_path), "veomni", "veomni", PACKAGE_FILES, frozenset({"veomni"}))
    assert project_of(tmp_path / "veomni") == expected


def test_repository_as_path(tmp_path: Path) -> None:
    """`opslint .` reads every Python file of the repository and reports on all of them."""
    write_files(tmp_path, {**PACKAGE, "pyproject.toml": "", "tests/test_a.py": "", "setup.py": ""})
    files = tuple(sorted([*PACKAGE, "tests/test_a.py", "setup.py"]))
    assert project_of(tmp_path) == Project(str(tmp_path), "veomni", "veomni", files)


def test_relative_paths_from_inside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are relative to the current folder, the result to the root."""
    write_files(tmp_path, {**PACKAGE, "pyproject.toml": ""})
    monkeypatch.chdir(tmp_path / "veomni" / "ops")
    assert project_of(".", "../models/__init__.py").requested == {"veomni/ops", "veomni/models/__init__.py"}


def test_one_file_reads_the_whole_package(tmp_path: Path) -> None:
    """Given one file, as a hook does, the package is read and only the file is reported on."""
    write_files(tmp_path, {**PACKAGE, "pyproject.toml": ""})
    project = project_of(tmp_path / "veomni/ops/__init__.py")
    assert (project.files, project.requested) == (PACKAGE_FILES, {"veomni/ops/__init__.py"})
    assert [path for path in project.files if project.reports(path)] == ["veomni/ops/__init__.py"]


def test_file_outside_the_package_reads_everything(tmp_path: Path) -> None:
    """A test file is checked against the package, so both are read."""
    write_files(tmp_path, {**PACKAGE, "pyproject.toml": "", "tests/test_a.py": "", "tasks/train.py": ""})
    project = project_of(tmp_path / "tests/test_a.py")
    assert project.files == tuple(sorted([*PACKAGE, "tests/test_a.py", "tasks/train.py"]))
    assert project.requested == {"tests/test_a.py"}


@pytest.mark.parametrize(
    ("files", "path", "root", "package_path"),
    [
        ({**PACKAGE}, "", "", "veomni"),
        ({**PACKAGE}, "veomni", "", "veomni"),
        ({**PACKAGE}, "veomni/ops", "", "veomni"),
        ({**PACKAGE}, "veomni/ops/__init__.py", "", "veomni"),
        ({"fork/ops/a/__init__.py": "", "fork/__init__.py": ""}, "fork", "", "fork"),
        ({"namespace/ops/a/__init__.py": ""}, "namespace", "", "namespace"),
        ({f"src/{path}": "" for path in PACKAGE} | {"pyproject.toml": ""}, "", "", "src/veomni"),
        ({f"src/{path}": "" for path in PACKAGE} | {"pyproject.toml": ""}, "src/veomni/ops", "", "src/veomni"),
        ({f"python/{path}": "" for path in PACKAGE} | {"opslint.toml": ""}, "", "", "python/veomni"),
        ({f"deep/er/{path}": "" for path in PACKAGE} | {"opslint.toml": ""}, "deep/er/veomni", "", "deep/er/veomni"),
        ({f"deep/er/{path}": "" for path in PACKAGE} | {"opslint.toml": ""}, "deep/er", "", "deep/er/veomni"),
        ({**PACKAGE, "tests/__init__.py": "", "tests/ops/a.py": "", "tests/models/b.py": ""}, "", "", "veomni"),
        ({**PACKAGE, "tests/__init__.py": "", "tests/ops/a.py": "", "opslint.toml": ""}, "tests/ops", "", "veomni"),
        ({**PACKAGE, "opslint.toml": "", "helper/pyproject.toml": "", "helper/a.py": ""}, "helper", "", "veomni"),
        ({**PACKAGE, "other/ops/a.py": "", "other/__init__.py": ""}, "", "", "veomni"),
        (
            {"a/ops/x.py": "", "b/ops/x.py": "", "opslint.toml": 'package = "b"'},
            "",
            "",
            "b",
        ),
        ({"src/b/ops/x.py": "", "opslint.toml": 'package = "b"'}, "", "", "src/b"),
        ({"b/x.py": "", "src/b/ops/x.py": "", "opslint.toml": 'package = "b"'}, "", "", "src/b"),
        ({"b/kernels/x.py": "", "opslint.toml": 'dialect = { ops_package = "kernels" }'}, "", "", "b"),
    ],
)
def test_root_and_package(files: dict[str, str], path: str, root: str, package_path: str, tmp_path: Path) -> None:
    """The package under check is found by what it holds, whatever it is called and wherever it lies."""
    tree = tmp_path / "tree"
    write_files(tree, files)
    project = project_of(tree / path)
    assert (project.root, project.package_path) == (str(tree / root), package_path)
    assert project.package == package_path.rpartition("/")[2]


def test_git_folder_ends_the_search_for_a_root(tmp_path: Path) -> None:
    """A repository without an ops package is not taken for a part of the folder that holds it."""
    write_files(tmp_path, {**PACKAGE, "pyproject.toml": "", "other/.git/HEAD": "", "other/a.py": ""})
    with pytest.raises(RunError, match=f"no package to check in {tmp_path}/other: looked for"):
        project_of(tmp_path / "other")


def test_equally_likely_packages_are_an_error(tmp_path: Path) -> None:
    """Nothing is guessed between two packages; naming one as PATH settles it."""
    write_files(tmp_path, {"a/ops/x.py": "", "b/ops/x.py": "", "pyproject.toml": ""})
    with pytest.raises(RunError, match="more than one folder could be the package to check: a, b; give one as PATH"):
        project_of(tmp_path)
    assert project_of(tmp_path / "b").package_path == "b"


@pytest.mark.parametrize(
    ("files", "paths", "options", "message"),
    [
        (PACKAGE, ["veomi"], {}, "veomi: no such file or folder; did you mean `veomni`?"),
        ({**PACKAGE, "train.py": ""}, ["trian.py"], {}, "trian.py: no such file or folder; did you mean `train.py`?"),
        (PACKAGE, ["nowhere/x.py"], {}, "nowhere/x.py: no such file or folder"),
        (PACKAGE, [""], {}, "an empty path was given"),
        ({"a.txt": "", "opslint.toml": ""}, ["."], {}, "no package to check in ROOT: looked for"),
        ({**PACKAGE, "doc/a.txt": "", "opslint.toml": ""}, ["doc"], {}, "no Python file to check in doc"),
        ({**PACKAGE, "a.txt": "", "opslint.toml": ""}, ["a.txt"], {}, "no Python file to check in a.txt"),
        (
            {**PACKAGE, "opslint.toml": 'exclude = ["models"]'},
            ["veomni/models"],
            {},
            "no Python file to check in veomni/models: `exclude = ['models']` leaves it out",
        ),
        (PACKAGE, ["veomni"], {"root": "nowhere"}, "--root nowhere: no such folder"),
        (PACKAGE, ["veomni"], {"root": "veomni/ops"}, "ROOT/veomni: is outside the project root ROOT/veomni/ops"),
        (PACKAGE, ["veomni"], {"config": "nowhere.toml"}, "nowhere.toml: no such configuration file"),
        (
            {**PACKAGE, "opslint.toml": 'package = "veomi"'},
            ["."],
            {},
            "opslint.toml: `package = 'veomi'`: no such folder in ROOT; did you mean `veomni`?",
        ),
        (
            {**PACKAGE, "veomni2/a.py": "", "veomni2/ops/a.md": "", "opslint.toml": 'package = "veomni2"'},
            ["."],
            {},
            "opslint.toml: `package = 'veomni2'`: veomni2 has no folder `ops/` with Python in it; set `package` to",
        ),
    ],
)
def test_nothing_to_check(
    files: dict[str, str],
    paths: list[str],
    options: dict[str, str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A run that would check nothing says why and what to do."""
    write_files(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError) as error:
        discover(paths, **options)
    assert str(error.value).startswith(message.replace("ROOT", str(tmp_path)))


def test_nothing_near(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that has no more than its ending from another one is not taken for that one."""
    write_files(tmp_path, {**PACKAGE, "train.py": ""})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError) as error:
        discover(["nothing.py"])
    assert str(error.value) == "nothing.py: no such file or folder"


def test_folders_that_are_never_read(tmp_path: Path) -> None:
    """Hidden folders, caches, environments and build output are passed over; in the package `build` is a module."""
    skipped = [".git", ".venv", "node_modules", "build", "dist", "__pycache__", "my.egg-info", "custom_environment"]
    write_files(tmp_path, {**PACKAGE, "pyproject.toml": "", "veomni/build/a.py": "", "tools/a.py": ""})
    write_files(tmp_path, {f"{folder}/a.py": "" for folder in skipped} | {"custom_environment/pyvenv.cfg": ""})
    assert project_of(tmp_path).files == tuple(sorted([*PACKAGE, "veomni/build/a.py", "tools/a.py"]))


@pytest.mark.parametrize(
    ("pattern", "left_out"),
    [
        ("b.py", ["veomni/a/b.py"]),
        ("a", ["veomni/a/b.py", "veomni/a/c.py"]),
        ("veomni/a/", ["veomni/a/b.py", "veomni/a/c.py"]),
        ("veomni/*.py", ["veomni/__init__.py"]),
        ("veomni/**/c.py", ["veomni/a/c.py"]),
        ("**/c.py", ["veomni/a/c.py"]),
        ("veomni/a/?.py", ["veomni/a/b.py", "veomni/a/c.py"]),
        ("veomni/a/[!b].py", ["veomni/a/c.py"]),
        ("veomni/a/[b].py", ["veomni/a/b.py"]),
        ("nothing", []),
        ("a.py", []),
    ],
)
def test_exclude_patterns(pattern: str, left_out: list[str], tmp_path: Path) -> None:
    """Without a slash a pattern matches at any depth, with one from the root; folders take their files along."""
    files = {**PACKAGE, "veomni/a/b.py": "", "veomni/a/c.py": "", "opslint.toml": f'exclude = ["{pattern}"]'}
    write_files(tmp_path, files)
    everything = {path for path in files if path.endswith(".py")}
    assert everything - set(project_of(tmp_path / "veomni").files) == set(left_out)


def test_documents_and_workflows(tmp_path: Path) -> None:
    """Markdown files are found with the Python files; of hidden folders only the workflows of the CI are read."""
    others = ["README.md", "docs/ops.md", "veomni/ops/README.md", ".github/workflows/npu.yml", "configs/job.yaml"]
    hidden = [".github/ISSUE_TEMPLATE/bug.yml", ".github/CONTRIBUTING.md", ".agents/README.md"]
    write_files(tmp_path, {**PACKAGE, "pyproject.toml": "", **dict.fromkeys([*others, *hidden], "")})
    whole, package = project_of(tmp_path), project_of(tmp_path / "veomni")
    assert whole.documents == ("README.md", "docs/ops.md", "veomni/ops/README.md")
    assert whole.yaml_files == (".github/workflows/npu.yml", "configs/job.yaml")
    assert (package.documents, package.yaml_files) == (("veomni/ops/README.md",), ())


def test_symbolic_links(tmp_path: Path) -> None:
    """A folder is read once at its own place, a loop is not followed, a link to nothing is kept to be reported."""
    write_files(tmp_path, {**PACKAGE, "opslint.toml": "", "outside/a.py": "", "veomni/real/b.py": ""})
    (tmp_path / "veomni/loop").symlink_to(tmp_path)
    (tmp_path / "veomni/again").symlink_to(tmp_path / "veomni/real")
    (tmp_path / "veomni/linked").symlink_to(tmp_path / "outside")
    (tmp_path / "veomni/gone.py").symlink_to(tmp_path / "nowhere.py")
    expected = sorted([*PACKAGE, "veomni/real/b.py", "veomni/linked/a.py", "veomni/gone.py"])
    assert list(project_of(tmp_path / "veomni").files) == expected
    whole = sorted([*PACKAGE, "veomni/real/b.py", "outside/a.py", "veomni/gone.py"])
    assert list(project_of(tmp_path).files) == whole


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    """Reading a pipe might never end, so one that is called like a module is passed over."""
    write_files(tmp_path, PACKAGE)
    os.mkfifo(tmp_path / "veomni/pipe.py")
    assert project_of(tmp_path / "veomni").files == PACKAGE_FILES
    with pytest.raises(RunError, match="neither a file nor a folder"):
        project_of(tmp_path / "veomni/pipe.py")


def test_unreadable_folder_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be listed is part of the result, so that a rule reports it."""
    write_files(tmp_path, {**PACKAGE, "veomni/secret/a.py": ""})
    real = os.scandir

    @contextmanager
    def forbidden(path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        if path.endswith("secret"):
            raise PermissionError(13, "Permission denied")
        with real(path) as scan:
            yield scan

    monkeypatch.setattr(file_walk.os, "scandir", forbidden)
    project = project_of(tmp_path / "veomni")
    problem = SourceProblem("permission", "permission denied, so the folder cannot be listed")
    assert (project.files, project.problems) == (PACKAGE_FILES, (Source("veomni/secret", "", problem),))


def test_script_without_suffix(tmp_path: Path) -> None:
    """A Python script that is called otherwise is read when it is asked for."""
    write_files(tmp_path, {**PACKAGE, "opslint.toml": "", "train": "#!/usr/bin/env python3\n", "run": "#!/bin/sh\n"})
    project = project_of(tmp_path / "train", tmp_path / "run")
    assert [path for path in project.files if project.reports(path)] == ["train"]


def test_file_from_standard_input_need_not_exist(tmp_path: Path) -> None:
    """An editor may ask about a buffer that was never saved."""
    write_files(tmp_path, {**PACKAGE, "opslint.toml": ""})
    path = str(tmp_path / "veomni/ops/new.py")
    project = project_of(path, stdin_path=path)
    assert (project.files, project.requested) == ((*PACKAGE_FILES, "veomni/ops/new.py"), {"veomni/ops/new.py"})
