"""What is shipped: the wheel and the sdist against the tree, and the three ways to install."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from veomni_opslint import __version__

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command, output captured."""
    return subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)


def tree_files() -> set[str]:
    """The files that an installation has to have, by their place in it."""
    engine = {
        str(path.relative_to(ROOT))
        for pattern in ("*.py", "py.typed")
        for path in (ROOT / "veomni_opslint").rglob(pattern)
    }
    rules = {f"veomni_opslint/rules/{path.name}" for kind in ("*.py", "*.md") for path in (ROOT / "rules").glob(kind)}
    return engine | rules


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of the tree and the wheel built from it."""
    folder = tmp_path_factory.mktemp("dist")
    # The environment of the tests has setuptools, so the build needs no network.
    program = "from setuptools import build_meta; import sys; build_meta.build_sdist(sys.argv[1])"
    copy = tmp_path_factory.mktemp("copy")
    tracked = ("veomni_opslint", "rules", "pyproject.toml", "README.md", "LICENSE")
    _copy(ROOT, copy, tracked)
    done = run(sys.executable, "-c", program, folder, cwd=copy)
    assert done.returncode == 0, done.stderr
    (sdist,) = folder.glob("*.tar.gz")
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    (source,) = unpacked.iterdir()
    done = run(sys.executable, "-c", program.replace("sdist", "wheel"), folder, cwd=source)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_package_is_listed() -> None:
    """Setuptools leaves out silently what pyproject.toml does not list."""
    folders = {path.parent for path in (ROOT / "veomni_opslint").rglob("*.py")}
    packages = {".".join(folder.relative_to(ROOT).parts) for folder in folders} | {"veomni_opslint.rules"}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages


def test_wheel_holds_the_tree(built: Path) -> None:
    """The wheel, built from the sdist, has every module and page, and nothing beside the one package."""
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    metadata = f"veomni_opslint-{__version__}.dist-info/"
    assert {name for name in names if not name.startswith(metadata)} == tree_files()
    assert f"{metadata}licenses/LICENSE" in names


def test_installed_wheel_works(built: Path, tmp_path: Path) -> None:
    """A fresh environment with the wheel alone lists the rules, explains one and checks a tree."""
    (wheel,) = built.glob("*.whl")
    binaries = _environment(tmp_path)
    done = run(binaries / "python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    _assert_works(binaries, tmp_path)


def test_editable_install_works_and_is_not_stale(tmp_path: Path) -> None:
    """`pip install -e .` finds the rules at their place, also one that was added afterwards."""
    copy = tmp_path / "copy"
    copy.mkdir()
    _copy(ROOT, copy, ("veomni_opslint", "rules", "pyproject.toml", "README.md", "LICENSE"))
    binaries = _environment(tmp_path)
    program = "from setuptools import build_meta; import sys; build_meta.build_editable(sys.argv[1])"
    assert run(sys.executable, "-c", program, tmp_path, cwd=copy).returncode == 0
    (wheel,) = tmp_path.glob("*.whl")
    done = run(binaries / "python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    _assert_works(binaries, tmp_path)
    source = (copy / "rules/ops001_syntax_error.py").read_text(encoding="utf-8")
    (copy / "rules/ops099_added_later.py").write_text(source, encoding="utf-8")
    assert "OPS099  added-later" in run(binaries / "opslint", "rules", cwd=tmp_path).stdout


def test_rules_is_no_top_level_package() -> None:
    """From the repository root, `import rules` would load half a package; it says so instead."""
    done = run(sys.executable, "-c", "import rules", cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: the folder rules/ is the package veomni_opslint.rules, not a top-level package: "
        "install opslint (`pip install -e .`) and import veomni_opslint.rules"
    )


def test_core_dependencies_are_imported() -> None:
    """Every dependency of every user is used by the engine."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "veomni_opslint").rglob("*.py"))
    modules = {"PyYAML": "yaml"}
    names = [requirement.split(">")[0].split("=")[0].strip() for requirement in PROJECT["project"]["dependencies"]]
    assert [name for name in names if f"import {modules.get(name, name)}" not in source] == []


def _environment(folder: Path) -> Path:
    venv.EnvBuilder(with_pip=True).create(folder / "environment")
    return folder / "environment" / "bin"


def _copy(source: Path, target: Path, names: tuple[str, ...]) -> None:
    for name in names:
        path = source / name
        files = (
            [path] if path.is_file() else [file for file in path.rglob("*") if file.suffix in (".py", ".md", ".typed")]
        )
        for file in files:
            copied = target / file.relative_to(source)
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_bytes(file.read_bytes())


def _assert_works(binaries: Path, folder: Path) -> None:
    package = folder / "tree/veomni/ops"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("def f(:\n", encoding="utf-8")
    assert run(binaries / "opslint", "--version", cwd=folder).stdout == f"opslint {__version__}\n"
    assert run(binaries / "opslint", "explain", "OPS001", cwd=folder).stdout.startswith("# OPS001 syntax-error\n")
    done = run(
        binaries / "python", "-m", "veomni_opslint", "tree/veomni", "-q", "--output-format", "concise", cwd=folder
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("veomni/ops/__init__.py:1:7: error OPS001 syntax-error: ")
