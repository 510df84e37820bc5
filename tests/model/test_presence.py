"""Whether modules and attributes exist, also where only the file system or another module knows."""

from __future__ import annotations

from pathlib import Path

from support.models import model_of

PACKAGE = {"veomni/__init__.py": "", "veomni/ops/__init__.py": "", "veomni/ops/table.py": "A = 1\n"}


def test_modules(tmp_path: Path) -> None:
    """There, not there, and not to be known: compiled, built, outside."""
    model = model_of(
        tmp_path, {**PACKAGE, "veomni/ops/_C.cpython-311-x86_64-linux-gnu.so": "", "veomni/ops/fast.pyi": ""}
    )
    asked = (
        "veomni.ops.table",
        "veomni.ops.tables",
        "veomni.ops._C",
        "veomni.ops.fast",
        "veomni.ops.x_pb2",
        "torch.nn",
    )
    assert [model.presence.module(name) for name in asked] == [True, False, None, None, None, None]


def test_excluded_files(tmp_path: Path) -> None:
    """What is excluded from the run may still be imported."""
    settings = '[tool.opslint]\nexclude = ["veomni/ops/vendored", "veomni/ops/old.py"]\n'
    files = {**PACKAGE, "veomni/ops/vendored/a.py": "", "veomni/ops/old.py": "", "pyproject.toml": settings}
    presence = model_of(tmp_path, files).presence
    asked = ("veomni.ops.vendored", "veomni.ops.vendored.a", "veomni.ops.old", "veomni.ops.older")
    assert [presence.module(name) for name in asked] == [None, None, None, False]


def test_attributes(tmp_path: Path) -> None:
    """Bound, a submodule, of every module, for type checkers only, and none of these."""
    text = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .ops import table as B\nfor C in ():\n    pass\n"
    )
    presence = model_of(tmp_path, {**PACKAGE, "veomni/names.py": text}).presence
    assert [presence.attribute("veomni.names", name) for name in ("B", "C", "__file__", "D")] == [
        False,
        True,
        True,
        False,
    ]
    assert presence.attribute("veomni.ops", "table") is True


def test_attributes_from_elsewhere(tmp_path: Path) -> None:
    """Star imports are followed as far as the project goes; assignments from other modules count."""
    files = {
        **PACKAGE,
        "veomni/inner.py": "from .ops.table import *\n",
        "veomni/outer.py": "from .ops.table import *\nfrom torch import *\n",
        "veomni/setter.py": 'from .ops import table\ntable.LATE = 1\nsetattr(table, "LATER", 2)\n',
    }
    presence = model_of(tmp_path, files).presence
    assert [presence.attribute("veomni.inner", name) for name in ("A", "Z")] == [True, False]
    assert [presence.attribute("veomni.outer", name) for name in ("A", "Z")] == [True, None]
    assert [presence.attribute("veomni.ops.table", name) for name in ("LATE", "LATER", "NEVER")] == [None, None, False]


def test_a_package_does_not_prove_its_own_imports(tmp_path: Path) -> None:
    """``from . import x`` binds ``x`` in the package, which says nothing about whether it is there."""
    presence = model_of(tmp_path, {**PACKAGE, "veomni/ops/__init__.py": "from . import table, tables\n"}).presence
    assert [presence.attribute("veomni.ops", name) for name in ("table", "tables")] == [True, False]


def test_top_level_names(tmp_path: Path) -> None:
    """A folder without ``__init__`` is the project's if an import elsewhere finds what it asks for there."""
    files = {
        **PACKAGE,
        "tasks/data.py": "def build():\n    pass\n",
        "tasks/train.py": "from tasks.data import build\n",
        "docker/image.py": "",
        "docker/build.py": "from docker.errors import NotFound\n",
        "tests/__init__.py": "",
        "triton/__init__.py": "",
    }
    presence = model_of(tmp_path, files).presence
    judged = [name for name in ("veomni", "tasks", "docker", "tests", "numpy", "triton") if presence.is_judged(name)]
    assert judged == ["veomni", "tasks", "tests"]
