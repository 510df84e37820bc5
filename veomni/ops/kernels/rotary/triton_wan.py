"""The rotary embedding of the Wan DiT in Triton: neighbouring pairs times complex frequencies."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from ..triton_support import block_of, check_device, warps_for

_LARGEST_TILE = 65_536


@triton.jit
def _rotate_pairs(
    x_ptr, freqs_ptr, out_ptr, tokens, heads, half,
    BACKWARD: tl.constexpr, HEADS: tl.constexpr, HALF: tl.constexpr, COMPUTE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    head = tl.arange(0, HEADS)
    pair = tl.arange(0, HALF)
    freqs = freqs_ptr + ((row % tokens) * half + pair) * 2
    cos = tl.load(freqs, mask=pair < half, other=0.0).to(COMPUTE)[None, :]
    sin = tl.load(freqs + 1, mask=pair < half, other=0.0).to(COMPUTE)[None, :]
    if BACKWARD:
        sin = -sin
    mask = (head < heads)[:, None] & (pair < half)[None, :]
    at = (row * heads + head[:, None]) * half * 2 + pair[None, :] * 2
    real = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32).to(COMPUTE)
    imaginary = tl.load(x_ptr + at + 1, mask=mask, other=0.0).to(tl.float32).to(COMPUTE)
    # By way of float32: no instruction converts between double and the half precisions.
    first = (real * cos - imaginary * sin).to(tl.float32)
    second = (imaginary * cos + real * sin).to(tl.float32)
    tl.store(out_ptr + at, first.to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(out_ptr + at + 1, second.to(out_ptr.dtype.element_ty), mask=mask)


class _RopeWan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, freqs: torch.Tensor, num_heads: int) -> torch.Tensor:
        ctx.save_for_backward(freqs)
        ctx.num_heads = num_heads
        return _launch(x, freqs, num_heads, backward=False)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (freqs,) = ctx.saved_tensors
        return _launch(grad, freqs, ctx.num_heads, backward=True), None, None


def rope_apply_wan_triton(x: torch.Tensor, freqs: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Rotate *x* (batch, tokens, heads * width) by complex *freqs* (tokens, 1, width / 2), which get no gradient."""
    return _RopeWan.apply(x, freqs, num_heads)


def _launch(x: torch.Tensor, freqs: torch.Tensor, num_heads: int, *, backward: bool) -> torch.Tensor:
    check_device(x, freqs)
    batch, tokens, width = x.shape
    half = width // num_heads // 2
    if freqs.shape != (tokens, 1, half) or width != 2 * half * num_heads:
        raise ValueError(
            f"freqs {tuple(freqs.shape)} do not fit {tokens} tokens of {num_heads} heads in {width} columns"
        )
    x = x.contiguous()
    angles = torch.view_as_real(freqs.resolve_conj()).contiguous()
    output = torch.empty_like(x)
    heads_block, half_block = (block_of(size, _LARGEST_TILE) for size in (num_heads, half))
    if x.numel():
        _rotate_pairs[(batch * tokens,)](
            x, angles, output, tokens, num_heads, half,
            BACKWARD=backward, HEADS=heads_block, HALF=half_block,
            COMPUTE=tl.float64 if angles.dtype == torch.float64 else tl.float32,
            num_warps=warps_for(heads_block * half_block),
        )  # fmt: skip
    return output
