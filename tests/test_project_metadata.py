"""What is taken from the pyproject.toml of the project under check."""

from __future__ import annotations

from pathlib import Path

from support.projects import places, run_rule, write_base_tree, write_files

from veomni_opslint.dialect import Dialect
from veomni_opslint.project_metadata import core_modules, with_installed

PYPROJECT = """\
[project]
name = "veomni"
dependencies = ["diffusers==0.37.0", "Flash-Linear-Attention>=0.6; sys_platform == 'linux'", "torch", 3]
"""


def test_core_modules(tmp_path: Path) -> None:
    """Names are normalised, and distributions called otherwise than their module are known."""
    write_files(tmp_path, {"pyproject.toml": PYPROJECT})
    assert core_modules(str(tmp_path)) == {"diffusers", "fla", "torch"}


def test_nothing_to_read(tmp_path: Path) -> None:
    """Without the file, with a broken one and with a table of another shape, nothing is known."""
    assert core_modules(str(tmp_path)) == frozenset()
    for content in ("[project", "project = 1\n", "[project]\ndependencies = 'torch'\n"):
        write_files(tmp_path, {"pyproject.toml": content})
        assert core_modules(str(tmp_path)) == frozenset()


def test_with_installed(tmp_path: Path) -> None:
    """What is always installed is not optional; the rest of the dialect stays."""
    write_files(tmp_path, {"pyproject.toml": PYPROJECT})
    left = set(Dialect().optional_packages) - set(with_installed(Dialect(), str(tmp_path)).optional_packages)
    assert left == {"diffusers", "fla"}


def test_core_dependency_is_no_finding(tmp_path: Path) -> None:
    """A package of `[project] dependencies` may be imported at once; the same package in an extra may not."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"pyproject.toml": PYPROJECT, "veomni/models/__init__.py": "import diffusers\n"})
    assert places(run_rule(tmp_path, "OPS101")) == {}
    write_files(tmp_path, {"pyproject.toml": f'{PYPROJECT}[project.optional-dependencies]\ndit = ["torch"]\n'})
    assert places(run_rule(tmp_path, "OPS101")) == {}
    write_files(tmp_path, {"pyproject.toml": '[project.optional-dependencies]\ngpu = ["diffusers"]\n'})
    assert places(run_rule(tmp_path, "OPS101")) == {("veomni/models/__init__.py", 1, "OPS101"): 1}


def test_core_dependency_that_an_extra_lists_is_optional(tmp_path: Path) -> None:
    """Whoever leaves out the extra is meant to do without the package."""
    write_base_tree(tmp_path)
    both = f'{PYPROJECT}[project.optional-dependencies]\ndit = ["diffusers>=0.30"]\ngpu = "liger"\n'
    write_files(tmp_path, {"pyproject.toml": both, "veomni/models/__init__.py": "import diffusers\n"})
    assert places(run_rule(tmp_path, "OPS101")) == {("veomni/models/__init__.py", 1, "OPS101"): 1}
