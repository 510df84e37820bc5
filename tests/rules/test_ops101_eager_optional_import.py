"""Which places OPS101 names beside the import itself, and what its fix leaves to people."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects import request_of, run_rule, write_base_tree, write_files

from veomni_opslint.fixing.rounds import repair

FILE = "veomni/ops/kernels/swiglu/fast.py"
FOLDER = "veomni.ops.kernels.swiglu"


def test_the_import_itself_is_named_once(tmp_path: Path) -> None:
    """The chain ends at the place of the finding, which is not said a second time below it."""
    write_base_tree(tmp_path)
    importing = tmp_path / "veomni/ops/kernels/swiglu/__init__.py"
    lines = importing.read_text(encoding="utf-8").count("\n")
    write_files(tmp_path, {FILE: "import triton\n"})
    with importing.open("a", encoding="utf-8") as file:
        file.write("from . import fast\n")
    (finding,) = run_rule(tmp_path, "OPS101").findings
    assert (finding.place.path, finding.place.line) == (FILE, 1)
    last = finding.related[-1]
    assert (last.place.line, last.message) == (lines + 1, f"{FOLDER} imports fast from .")
    assert finding.place not in [one.place for one in finding.related]


@pytest.mark.parametrize(
    ("code", "fixed"),
    [
        ('def f(x: "triton.Config"):\n    return triton.cdiv(x, 2)\n', False),
        ('def f(x) -> list["triton.Config"]:\n    return triton.cdiv(x, 2)\n', False),
        ('KEPT: "triton.Config | None" = None\n\n\ndef f(x):\n    return triton.cdiv(x, 2)\n', False),
        ('def f(x):\n    size: "triton.Config" = triton.cdiv(x, 2)\n    return size\n', True),
        ('def f(x: "kernels.triton"):\n    """Uses triton."""\n    return triton.cdiv(x, 2)\n', True),
    ],
)
def test_annotations_in_quotes(code: str, fixed: bool, tmp_path: Path) -> None:
    """An import that an annotation in quotes names outside the function is not moved: type checkers would miss it."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {FILE: f"import triton\n\n\n{code}"})
    with (tmp_path / "veomni/ops/kernels/swiglu/__init__.py").open("a", encoding="utf-8") as file:
        file.write("from . import fast\n")
    changed = [one.path for one in repair(request_of(tmp_path, "OPS101"), unsafe=False).files]
    assert (FILE in changed) is fixed
