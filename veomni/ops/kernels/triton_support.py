"""What the Triton kernels share. Imported by kernel files only, which factories import."""

from __future__ import annotations

import os

import torch
import triton
import triton.language as tl

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
"""Whether kernels run in Triton's interpreter, on CPU tensors."""

_UPCAST = tl.constexpr(INTERPRETED)


@triton.jit
def dot(a, b, acc):
    """``acc + a @ b``, in full float32 where the inputs are float32."""
    # The interpreter multiplies the bit patterns of bfloat16 as integers.
    if _UPCAST:
        a = a.to(tl.float32)
        b = b.to(tl.float32)
    return tl.dot(a, b, acc, input_precision="ieee")


def check_device(*tensors: torch.Tensor) -> None:
    """Refuse tensors that a Triton kernel cannot read.

    Raises:
        ValueError: a tensor is not on a GPU and kernels are not interpreted.
    """
    if not INTERPRETED and any(not tensor.is_cuda for tensor in tensors):
        raise ValueError("Triton kernels need tensors on a GPU (or TRITON_INTERPRET=1); select eager on a CPU")


def block_of(size: int, limit: int) -> int:
    """The power of two that holds *size*.

    Raises:
        ValueError: it is above *limit*.
    """
    block = triton.next_power_of_2(max(size, 1))
    if block > limit:
        raise ValueError(f"a last dimension of {size} is above {limit}, the most that this kernel can hold")
    return int(block)


def warps_for(elements: int) -> int:
    """How many warps share a tile: 16 elements for each thread keep its registers few, while there are warps enough."""
    return min(32, max(4, triton.next_power_of_2(elements) // 512))
