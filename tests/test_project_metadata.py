"""What is taken from the pyproject.toml of the project under check."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from support.projects import places, run_rule, write_base_tree, write_files

from veomni_opslint.dialect import Dialect
from veomni_opslint.project_metadata import core_modules, extra_modules, with_installed

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


EXTRAS = """\
[project]
name = "veomni"
dependencies = ["einops"]
[project.optional-dependencies]
dev = ["ruff", "pytest"]
bench = ["flake8"]
gpu = ["torch", "librosa", "flash-attn-4==4.0.0b16", "nvidia-nccl-cu13", "gram-newton-schulz", "einops"]
npu = ["torch==2.10.0+cpu", "librosa>=0.11", "scipy"]
soundfile = ["soundfile"]
all = ["veomni[gpu, soundfile]"]
"""


def test_extra_modules(tmp_path: Path) -> None:
    """What only some kinds of hardware have is optional, and what extras without torch bring."""
    write_files(tmp_path, {"pyproject.toml": EXTRAS})
    assert extra_modules(str(tmp_path)) == {"flash_attn", "gram_newton_schulz", "soundfile", "einops"}
    added = set(with_installed(Dialect(), str(tmp_path)).optional_packages) - set(Dialect().optional_packages)
    assert added == {"gram_newton_schulz", "soundfile"}
    listed = replace(Dialect(), optional_packages=("triton",))
    assert with_installed(listed, str(tmp_path)) is listed


def test_extras_of_another_shape(tmp_path: Path) -> None:
    """A table that is no table of lists gives nothing."""
    for extras in ("3", "{gpu = 3}", "{gpu = [3]}", '{gpu = ["veomni[gpu]"]}'):
        write_files(tmp_path, {"pyproject.toml": f'[project]\nname = "veomni"\noptional-dependencies = {extras}\n'})
        assert extra_modules(str(tmp_path)) == frozenset()


def test_package_of_an_extra(tmp_path: Path) -> None:
    """A package of one kind of hardware may not be imported at once; one of every kind may."""
    write_base_tree(tmp_path)
    write_files(
        tmp_path,
        {
            "pyproject.toml": EXTRAS,
            "veomni/models/__init__.py": "import librosa\nimport gram_newton_schulz\nimport scipy\nimport soundfile\n",
        },
    )
    assert places(run_rule(tmp_path, "OPS101")) == {
        ("veomni/models/__init__.py", 2, "OPS101"): 1,
        ("veomni/models/__init__.py", 4, "OPS101"): 1,
    }


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
