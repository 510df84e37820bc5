"""The Triton kernels compile for the GPU that they are made for."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")
pytest.importorskip("triton", reason="the kernels need triton")

ROOT = Path(__file__).parents[2]
INLINED = {"dot", "_factors", "_rotate_heads", "_scores", "_softmax"}
"""Functions that are compiled into the kernels that call them."""


@pytest.mark.skipif(torch.cuda.is_available(), reason="with a GPU the other tests compile the kernels")
def test_every_kernel_compiles() -> None:
    """Each function under ``@triton.jit`` in the package gives machine code for Hopper, in each dtype."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("compile_kernels.py"))],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    sizes = {(dtype, name): int(size) for dtype, name, size in map(str.split, done.stdout.splitlines())}
    dtypes = ("torch.float32", "torch.bfloat16", "torch.float16")
    assert set(sizes) == set(product(dtypes, kernels()))
    assert min(sizes.values()) > 0


def kernels() -> set[str]:
    names = set()
    for path in (ROOT / "veomni").rglob("triton*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and any(
                ast.unparse(item) == "triton.jit" for item in node.decorator_list
            ):
                names.add(f"{module}.{node.name}")
    return {name for name in names if name.rpartition(".")[2] not in INLINED}
