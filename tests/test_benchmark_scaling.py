"""Benchmarks: the trees that are made to see how the time grows."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects import write_files

from benchmarks.compare import OPSLINT, PARSE, Sample
from benchmarks.scaling import main, multiplied, row

TREE = {
    "pkg/ops/__init__.py": "",
    "pkg/models/one/modeling.py": "x = 1\n",
    "pkg/models/two/modeling.py": "x = 2\n",
    "tests/test_one.py": "",
    ".git/config": "",
    "README.md": "",
}


def test_models_and_what_is_beside_the_package_are_multiplied(tmp_path: Path) -> None:
    """The package itself is there once, and what git holds is left out."""
    write_files(tmp_path / "tree", TREE)
    multiplied(tmp_path / "tree", "pkg/models", tmp_path / "copy", 3)
    copied = sorted(
        str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*") if path.is_file()
    )
    models = [f"pkg/models/{name}{copy}/modeling.py" for name in ("one", "two") for copy in ("", "_copy1", "_copy2")]
    tests = [f"tests{copy}/test_one.py" for copy in ("", "_copy1", "_copy2")]
    assert copied == ["README.md", *models, "pkg/ops/__init__.py", *tests]


def test_row() -> None:
    """The ratio is to the time of parsing alone."""
    measured = {OPSLINT: Sample(3.0, 3.5, 120.0), PARSE: Sample(1.4, 1.4, 50.0, 1.25)}
    assert row(2, 800, measured) == "    2     800          1.25       3.00   2.40        120"


def test_wrong_folder_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A repository without that folder is no measurement."""
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path), "--models", "pkg/models"])
    assert (ended.value.code, "--models says where" in capsys.readouterr().err) == (2, True)
