"""Which places OPS101 names beside the import itself."""

from __future__ import annotations

from pathlib import Path

from support.projects import run_rule, write_base_tree, write_files

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
