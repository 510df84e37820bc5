"""The hooks with the real pre-commit program, installed from a clone of this repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from support.git import ENVIRONMENT, commit, git
from support.projects import write_base_tree, write_files

ROOT = Path(__file__).parent.parent
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
NEEDED = ("veomni_opslint", "rules", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
UNUSED = "x = 1  # noqa: OPS301\n"
CONFIG = """\
repos:
  - repo: {repository}
    rev: {revision}
    hooks:
      - id: opslint
      - id: opslint-fix
        stages: [manual]
"""

pytestmark = pytest.mark.skipif(find_spec("pre_commit") is None, reason="pre-commit is not installed")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with what a clone of this one has, as it is in the working tree."""
    folder = tmp_path_factory.mktemp("opslint")
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "-q")
    commit(folder)
    return folder


@pytest.fixture(scope="module")
def project(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that uses the hooks, which are installed; where pip finds no packages there is nothing to test."""
    folder = tmp_path_factory.mktemp("project")
    write_base_tree(folder)
    revision = git(clone, "rev-parse", "HEAD").strip()
    config = CONFIG.format(repository=clone.as_uri(), revision=revision)
    write_files(folder, {"pyproject.toml": "", ".pre-commit-config.yaml": config})
    git(folder, "init", "-q")
    commit(folder)
    done = pre_commit(folder, "install-hooks")
    if done.returncode and ("No matching distribution found" in done.stdout or "ConnectionError" in done.stdout):
        pytest.skip("pip cannot install packages here")
    assert done.returncode == 0, done.stdout
    return folder


@pytest.fixture
def tree(project: Path) -> Path:
    """The project as it was."""
    git(project, "reset", "-q", "--hard")
    git(project, "clean", "-fdq")
    return project


def pre_commit(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pre-commit in a project, with a cache beside it."""
    # pre-commit installs with whatever pip is told by the environment, but must not take it for one of these tests.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "VIRTUAL_ENV"))}
    environment |= {**ENVIRONMENT, "PRE_COMMIT_HOME": str(folder.parent / f"{folder.name}-cache")}
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )


def test_manifest() -> None:
    """pre-commit understands it; the hooks look at the whole project, in one process, whatever is staged."""
    done = pre_commit(ROOT, "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"))
    assert (done.returncode, done.stdout) == (0, "")
    assert [(hook["id"], hook["entry"], hook["args"]) for hook in HOOKS] == [
        ("opslint", "opslint", ["."]),
        ("opslint-fix", "opslint --fix", ["."]),
    ]
    for hook in HOOKS:
        assert hook["language"] == "python"
        assert hook["require_serial"]
        assert hook["always_run"]
        assert not hook["pass_filenames"]
        assert hook["types_or"] == ["python", "yaml", "markdown"]


def test_clean_project_with_nothing_staged(tree: Path) -> None:
    """The hook runs all the same."""
    done = pre_commit(tree, "run", "--verbose", "opslint")
    assert done.returncode == 0, done.stdout
    assert done.stdout.partition("\n")[0].endswith("Passed")
    assert "no findings in " in done.stdout


def test_fault_elsewhere(tree: Path) -> None:
    """A commit that breaks what it does not touch is stopped: the slot is not in the file that is staged."""
    kernels = tree / "veomni/ops/kernels/swiglu/__init__.py"
    slot = 'from veomni.ops.dispatch import OpSlot\n\nveomni_swiglu_mlp = OpSlot("swiglu_mlp", "standard")\n'
    model = "veomni/models/transformers/llama/generated/patched_modeling_llama_gpu.py"
    write_files(tree, {model: slot})
    git(tree, "add", "-A")
    assert pre_commit(tree, "run", "opslint").returncode == 0
    commit(tree)
    text = kernels.read_text(encoding="utf-8")
    kernels.write_text(text.replace("standard", "standart"), encoding="utf-8")
    git(tree, "add", "-A")
    done = pre_commit(tree, "run", "opslint")
    assert done.returncode == 1
    assert f"{model}:3:21: error OPS301 unregistered-slot" in done.stdout


def test_fix(tree: Path) -> None:
    """The fix is made and the commit stopped, so that somebody looks at it; the second time it passes."""
    write_files(tree, {"veomni/unused.py": UNUSED})
    git(tree, "add", "-A")
    done = pre_commit(tree, "run", "opslint-fix", "--hook-stage", "manual")
    assert done.returncode == 1
    assert "files were modified by this hook" in done.stdout
    assert (tree / "veomni/unused.py").read_text(encoding="utf-8") == "x = 1\n"
    git(tree, "add", "-A")
    assert pre_commit(tree, "run", "opslint-fix", "--hook-stage", "manual").returncode == 0
