"""What OPS201 says happens on a host without NPU."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects import run_rule, write_base_tree, write_files

FOLDER = "veomni/models/transformers/llama"
NPU_FILE = f"{FOLDER}/generated/patched_modeling_llama_npu.py"


@pytest.mark.parametrize(
    ("generated", "consequence"),
    [
        ("class LlamaMLP:\n    pass\n", "it loads on a GPU or CPU host too, and the models there run the code"),
        ("import torch_npu\n\n\nclass LlamaMLP:\n    pass\n", "on a GPU or CPU host it raises ModuleNotFoundError there"),
    ],
    ids=["without an NPU import", "with one"],
)
def test_what_a_generated_file_does(generated: str, consequence: str, tmp_path: Path) -> None:
    """A generated NPU file raises only if it imports an NPU package; else it silently is the wrong model."""
    write_base_tree(tmp_path)
    importing = "def models():\n    from .generated.patched_modeling_llama_npu import LlamaMLP\n\n    return LlamaMLP\n"
    write_files(tmp_path, {NPU_FILE: generated, f"{FOLDER}/__init__.py": importing})
    found = run_rule(tmp_path, "OPS201").findings
    assert [(one.place.path, one.place.line, consequence in one.message) for one in found] == [
        (f"{FOLDER}/__init__.py", 2, True)
    ]
