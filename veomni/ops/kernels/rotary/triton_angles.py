"""The cosines and sines of rotary embeddings in Triton.

A batched matrix product of positions and frequencies may run in reduced precision or in another order from one run to
the next. Here each angle is one float32 product, so the result is the same every time.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from ..triton_support import block_of, check_device


@triton.jit
def _angles(inv_freq_ptr, position_ptr, cos_ptr, sin_ptr, half, scaling, HALF: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, HALF)
    mask = column < half
    position = tl.load(position_ptr + row).to(tl.float32)
    angle = position * tl.load(inv_freq_ptr + column, mask=mask, other=0.0).to(tl.float32)
    cos = tl.cos(angle) * scaling
    sin = tl.sin(angle) * scaling
    at = row * 2 * half + column
    tl.store(cos_ptr + at, cos, mask=mask)
    tl.store(cos_ptr + at + half, cos, mask=mask)
    tl.store(sin_ptr + at, sin, mask=mask)
    tl.store(sin_ptr + at + half, sin, mask=mask)


@torch.no_grad()
def rotary_angles_triton(
    inv_freq: torch.Tensor, position_ids: torch.Tensor, scaling: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The scaled cosine and sine in float32, of shape (*position_ids*.shape, 2 * frequencies).

    Raises:
        ValueError: *inv_freq* is not one row of frequencies.
    """
    check_device(inv_freq, position_ids)
    if inv_freq.dim() != 1:
        raise ValueError(f"the frequencies are one row, not {tuple(inv_freq.shape)}")
    half = inv_freq.shape[0]
    shape = (*position_ids.shape, 2 * half)
    cos = torch.empty(shape, dtype=torch.float32, device=inv_freq.device)
    sin = torch.empty_like(cos)
    if position_ids.numel():
        _angles[(position_ids.numel(),)](
            inv_freq.contiguous(), position_ids.contiguous(), cos, sin, half, scaling, HALF=block_of(half, 4096)
        )  # fmt: skip
    return cos, sin
