"""Rotary position embedding in Triton. It writes new tensors, so neither the inputs nor saved gradients change."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from ..triton_support import block_of, check_device, warps_for
from .eager import check_shapes

_LARGEST_TILE = 65_536


@triton.jit
def _rotate_heads(
    in_ptr, out_ptr, batch, token, cos1, cos2, sin1, sin2, heads,
    in_batch, in_head, in_token, out_batch, out_head, out_token, half, tail,
    HEADS: tl.constexpr, HALF: tl.constexpr, TAIL: tl.constexpr,
):  # fmt: skip
    head = tl.arange(0, HEADS)
    column = tl.arange(0, HALF)
    mask = (head < heads)[:, None] & (column < half)[None, :]
    source = in_ptr + batch * in_batch + token * in_token + head[:, None] * in_head + column[None, :]
    target = out_ptr + batch * out_batch + token * out_token + head[:, None] * out_head + column[None, :]
    first = tl.load(source, mask=mask, other=0.0).to(tl.float32)
    second = tl.load(source + half, mask=mask, other=0.0).to(tl.float32)
    tl.store(target, (first * cos1 - second * sin1).to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(target + half, (second * cos2 + first * sin2).to(out_ptr.dtype.element_ty), mask=mask)
    if TAIL > 0:
        rest = tl.arange(0, TAIL)
        mask = (head < heads)[:, None] & (rest < tail)[None, :]
        source = in_ptr + batch * in_batch + token * in_token + head[:, None] * in_head + 2 * half + rest[None, :]
        target = out_ptr + batch * out_batch + token * out_token + head[:, None] * out_head + 2 * half + rest[None, :]
        tl.store(target, tl.load(source, mask=mask), mask=mask)


@triton.jit
def _rotate(
    q_ptr, k_ptr, cos_ptr, sin_ptr, q_out_ptr, k_out_ptr, tokens, q_heads, k_heads, half, tail,
    q_batch, q_head, q_token, k_batch, k_head, k_token,
    qo_batch, qo_head, qo_token, ko_batch, ko_head, ko_token, cos_batch, cos_token, sin_batch, sin_token,
    BACKWARD: tl.constexpr, Q_HEADS: tl.constexpr, K_HEADS: tl.constexpr, HALF: tl.constexpr, TAIL: tl.constexpr,
):  # fmt: skip
    batch = (tl.program_id(0) // tokens).to(tl.int64)
    token = (tl.program_id(0) % tokens).to(tl.int64)
    column = tl.arange(0, HALF)
    cos = cos_ptr + batch * cos_batch + token * cos_token + column
    sin = sin_ptr + batch * sin_batch + token * sin_token + column
    cos1 = tl.load(cos, mask=column < half, other=0.0).to(tl.float32)[None, :]
    cos2 = tl.load(cos + half, mask=column < half, other=0.0).to(tl.float32)[None, :]
    sin1 = tl.load(sin, mask=column < half, other=0.0).to(tl.float32)[None, :]
    sin2 = tl.load(sin + half, mask=column < half, other=0.0).to(tl.float32)[None, :]
    if BACKWARD:
        # The transpose of [[cos1, -sin1], [sin2, cos2]].
        sin1, sin2 = -sin2, -sin1
    _rotate_heads(
        q_ptr, q_out_ptr, batch, token, cos1, cos2, sin1, sin2, q_heads,
        q_batch, q_head, q_token, qo_batch, qo_head, qo_token, half, tail, Q_HEADS, HALF, TAIL,
    )  # fmt: skip
    _rotate_heads(
        k_ptr, k_out_ptr, batch, token, cos1, cos2, sin1, sin2, k_heads,
        k_batch, k_head, k_token, ko_batch, ko_head, ko_token, half, tail, K_HEADS, HALF, TAIL,
    )  # fmt: skip


class _Rotary(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.save_for_backward(cos, sin)
        ctx.unsqueeze_dim = unsqueeze_dim
        return rotate(q, k, cos, sin, unsqueeze_dim)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dq: torch.Tensor, dk: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return *rotate(dq, dk, *ctx.saved_tensors, ctx.unsqueeze_dim, backward=True), None, None, None


def rotary_pos_emb_triton(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """The variants ``full`` and ``partial``: the columns beyond those of *cos* pass through.

    *q* and *k* have four dimensions and differ in their heads only. *cos* and *sin* (batch or 1, tokens, rotary
    columns) get no gradient. Mixed dtypes promote as in eager.

    Raises:
        ValueError: the shapes do not belong together.
    """
    return _Rotary.apply(q, k, cos, sin, unsqueeze_dim)


def rotate(
    q: torch.Tensor,
    k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    unsqueeze_dim: int,
    *,
    backward: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate *q* and *k*, or with *backward* their gradients back, without autograd.

    Raises:
        ValueError: the shapes do not belong together.
    """
    check_device(q, k, cos, sin)
    check_shapes(q, k, cos, sin, unsqueeze_dim, partial=True)
    q, k, cos, sin = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, k, cos, sin))
    token_dim = 3 - unsqueeze_dim
    batch, tokens, width, rotary = q.shape[0], q.shape[token_dim], q.shape[-1], cos.shape[-1]
    outputs = tuple(torch.empty_like(x, dtype=torch.promote_types(x.dtype, cos.dtype)) for x in (q, k))
    half, tail = rotary // 2, width - rotary
    q_heads, k_heads = q.shape[unsqueeze_dim], k.shape[unsqueeze_dim]
    strides = (x.stride(i) for x in (q, k, *outputs) for i in (0, unsqueeze_dim, token_dim))
    angle_strides = (s for x in (cos, sin) for s in (x.stride(0) if x.shape[0] > 1 else 0, x.stride(1)))
    blocks = [block_of(size, _LARGEST_TILE) for size in (q_heads, k_heads, half)]
    if q.numel() + k.numel():
        _rotate[(batch * tokens,)](
            q, k, cos, sin, *outputs, tokens, q_heads, k_heads, half, tail, *strides, *angle_strides,
            BACKWARD=backward, Q_HEADS=blocks[0], K_HEADS=blocks[1], HALF=blocks[2],
            TAIL=triton.next_power_of_2(tail) if tail else 0, num_warps=warps_for(blocks[0] * blocks[2]),
        )  # fmt: skip
    return outputs
