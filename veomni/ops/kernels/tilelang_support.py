"""What the TileLang kernels share. Imported by kernel files only, which factories import.

With ``TILELANG_DEFAULT_TARGET=c`` TileLang compiles for the processor, and the kernels run on CPU tensors. That target
knows one thread, so a tile there is local memory, whoever shares it on a GPU, and a parallel loop is a plain one.
"""

import os
from collections.abc import Callable
from typing import Any

import tilelang
import tilelang.language as T
import torch

ON_CPU = os.environ.get("TILELANG_DEFAULT_TARGET") == "c"
"""Whether kernels are compiled for the processor."""

shared = T.alloc_local if ON_CPU else T.alloc_shared
fragment = T.alloc_local if ON_CPU else T.alloc_fragment
parallel = T.grid if ON_CPU else T.Parallel

LOG2E = 1.4426950408889634


def check_device(*tensors: torch.Tensor) -> None:
    """Refuse tensors that a TileLang kernel cannot read.

    Raises:
        ValueError: a tensor is not where the kernels run.
    """
    if any(tensor.is_cuda == ON_CPU for tensor in tensors):
        place = "the CPU, as TILELANG_DEFAULT_TARGET=c asks for" if ON_CPU else "a GPU (or TILELANG_DEFAULT_TARGET=c)"
        raise ValueError(f"TileLang kernels need tensors on {place}; select eager elsewhere")


def tile_of(size: int, smallest: int, largest: int) -> int:
    """The power of two, from *smallest* up, that holds *size*.

    Raises:
        ValueError: it is above *largest*.
    """
    tile = max(smallest, tilelang.next_power_of_2(size))
    if tile > largest:
        raise ValueError(f"a last dimension of {size} is above {largest}, the most that this kernel can hold")
    return int(tile)


def name_of(tensor: torch.Tensor) -> str:
    """The dtype of *tensor* as TileLang writes it."""
    return str(tensor.dtype).removeprefix("torch.")


def product(dtype: str) -> Callable[..., Any]:
    """A macro ``(a, b, c, transpose_A, transpose_B)`` that adds the product of two tiles of *dtype* to ``c``.

    ``T.gemm`` rounds float32 to TF32, so tiles of float32 are multiplied by the ordinary units.
    """
    if dtype != "float32" or ON_CPU:
        return T.gemm

    @T.macro
    def exact(a, b, c, transpose_A=False, transpose_B=False):
        for i, j in parallel(c.shape[0], c.shape[1]):
            for k in T.serial(a.shape[0] if transpose_A else a.shape[1]):
                c[i, j] += (a[k, i] if transpose_A else a[i, k]) * (b[j, k] if transpose_B else b[k, j])

    return exact
