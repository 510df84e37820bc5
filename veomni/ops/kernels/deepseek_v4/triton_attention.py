"""The sparse attention of DeepSeek V4 in Triton: the selected keys are read where they are, and never gathered."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from ..triton_support import block_of, check_device, dot
from .shapes import check_shapes

_HEADS, _KEYS = 16, 32
_LARGEST_WIDTH = 512


@triton.jit
def _scores(q, kv_ptr, index_ptr, batch, token, start, keys, width, selected, scale, column, KEYS: tl.constexpr):
    """A block of selected keys, which of them exist, where they are, and their scores."""
    k = start + tl.arange(0, KEYS)
    index = tl.load(index_ptr + token * selected + k, mask=k < selected, other=-1).to(tl.int64)
    # Without its sign -1 is beyond the keys, too.
    exists = index.to(tl.uint64) < keys
    at = (batch * keys + index)[:, None] * width + column[None, :]
    mask = exists[:, None] & (column < width)[None, :]
    kv = tl.load(kv_ptr + at, mask=mask, other=0.0)
    scores = dot(q, tl.trans(kv), tl.zeros((q.shape[0], KEYS), tl.float32)) * scale
    return kv, mask, at, tl.where(exists[None, :], scores, float("-inf"))


@triton.jit
def _forward(
    q_ptr, kv_ptr, sink_ptr, index_ptr, out_ptr, lse_ptr, tokens, keys, heads, width, selected, scale,
    HEADS: tl.constexpr, WIDTH: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    batch = token // tokens
    head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
    column = tl.arange(0, WIDTH)
    q_at = (token * heads + head)[:, None] * width + column[None, :]
    mask = (head < heads)[:, None] & (column < width)[None, :]
    q = tl.load(q_ptr + q_at, mask=mask, other=0.0)
    # The sink is a first key that has a score and no value.
    highest = tl.load(sink_ptr + head, mask=head < heads, other=0.0).to(tl.float32)
    total = tl.full((HEADS,), 1.0, tl.float32)
    output = tl.zeros((HEADS, WIDTH), tl.float32)
    for start in range(0, selected, KEYS):
        kv, _, _, scores = _scores(
            q, kv_ptr, index_ptr, batch, token, start, keys, width, selected, scale, column, KEYS
        )
        new_highest = tl.maximum(highest, tl.max(scores, axis=1))
        # Where neither sink nor key has a score yet, -inf - -inf would be NaN.
        base = tl.where(new_highest == float("-inf"), 0.0, new_highest)
        weights = tl.exp(scores - base[:, None])
        fading = tl.exp(highest - base)
        total = total * fading + tl.sum(weights, axis=1)
        output = dot(weights.to(kv.dtype), kv, output * fading[:, None])
        highest = new_highest
    tl.store(out_ptr + q_at, (output / total[:, None]).to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(lse_ptr + token * heads + head, highest + tl.log(total), mask=head < heads)


@triton.jit
def _backward(
    grad_ptr, q_ptr, kv_ptr, index_ptr, lse_ptr, delta_ptr, dq_ptr, dkv_ptr,
    tokens, keys, heads, width, selected, scale,
    HEADS: tl.constexpr, WIDTH: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    batch = token // tokens
    head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
    column = tl.arange(0, WIDTH)
    q_at = (token * heads + head)[:, None] * width + column[None, :]
    mask = (head < heads)[:, None] & (column < width)[None, :]
    q = tl.load(q_ptr + q_at, mask=mask, other=0.0)
    grad = tl.load(grad_ptr + q_at, mask=mask, other=0.0)
    lse = tl.load(lse_ptr + token * heads + head, mask=head < heads, other=0.0)
    delta = tl.load(delta_ptr + token * heads + head, mask=head < heads, other=0.0)
    dq = tl.zeros((HEADS, WIDTH), tl.float32)
    for start in range(0, selected, KEYS):
        kv, kv_mask, kv_at, scores = _scores(
            q, kv_ptr, index_ptr, batch, token, start, keys, width, selected, scale, column, KEYS
        )
        weights = tl.exp(scores - lse[:, None])
        dweights = dot(grad, tl.trans(kv), tl.zeros((HEADS, KEYS), tl.float32))
        dscores = (weights * (dweights - delta[:, None]) * scale).to(kv.dtype)
        dq = dot(dscores, kv, dq)
        # As keys these rows get one part of the gradient, as values the other.
        dkv = dot(tl.trans(dscores), q, tl.zeros((KEYS, WIDTH), tl.float32))
        dkv = dot(tl.trans(weights.to(kv.dtype)), grad, dkv)
        tl.atomic_add(dkv_ptr + kv_at, dkv, mask=kv_mask, sem="relaxed")
    tl.store(dq_ptr + q_at, dq.to(dq_ptr.dtype.element_ty), mask=mask)


class _SparseAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: torch.Tensor, kv: torch.Tensor, sink: torch.Tensor, indices: torch.Tensor, scale: float
    ) -> torch.Tensor:
        check_device(q, kv, sink, indices)
        q, kv, sink, indices = q.contiguous(), kv.contiguous(), sink.contiguous(), indices.contiguous()
        output = torch.empty_like(q)
        lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
        if q.numel():
            _forward[_grid(q)](
                q, kv, sink, indices, output, lse, *_sizes(q, kv, indices), scale, **_blocks(q), num_warps=4
            )  # fmt: skip
        ctx.save_for_backward(q, kv, sink, indices, output, lse)
        ctx.scale = scale
        return output

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        q, kv, sink, indices, output, lse = ctx.saved_tensors
        grad = grad.contiguous()
        delta = (grad.float() * output.float()).sum(-1)
        dq = torch.empty_like(q)
        dkv = torch.zeros_like(kv, dtype=torch.float32)
        if q.numel():
            _backward[_grid(q)](
                grad, q, kv, indices, lse, delta, dq, dkv, *_sizes(q, kv, indices), ctx.scale, **_blocks(q), num_warps=4
            )  # fmt: skip
        dsink = -((sink.float() - lse).exp() * delta).flatten(0, 1).sum(0)
        return dq, dkv.to(kv.dtype), dsink.to(sink.dtype), None, None


def sparse_attention_with_sink_triton(
    q: torch.Tensor, kv: torch.Tensor, sink: torch.Tensor, indices: torch.Tensor, scale: float
) -> torch.Tensor:
    """See the eager definition.

    The gradients of keys that several tokens selected are added in no fixed order. An index beyond the keys names none.

    Raises:
        ValueError: *q* and *kv* differ in dtype or width, or are wider than a program can hold; *sink* or *indices* do
            not fit *q*.
    """
    check_shapes(q, kv, sink, indices)
    return _SparseAttention.apply(q, kv, sink, indices, scale)


def _grid(q: torch.Tensor) -> tuple[int, int]:
    return q.shape[0] * q.shape[1], triton.cdiv(q.shape[2], _HEADS)


def _sizes(q: torch.Tensor, kv: torch.Tensor, indices: torch.Tensor) -> tuple[int, ...]:
    return q.shape[1], kv.shape[1], q.shape[2], q.shape[3], indices.shape[-1]


def _blocks(q: torch.Tensor) -> dict[str, int]:
    return {"HEADS": _HEADS, "WIDTH": max(16, block_of(q.shape[-1], _LARGEST_WIDTH)), "KEYS": _KEYS}
