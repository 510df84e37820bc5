"""The indexer of DeepSeek V4 in Triton: the scores of all heads are added tile by tile, and one sum is stored."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from ..triton_support import block_of, check_device, dot

_TOKENS, _KEYS = 64, 64
_LARGEST_WIDTH = 256


@triton.jit
def _score(
    q_ptr, k_ptr, weight_ptr, out_ptr, tokens, heads, width,
    TOKENS: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    batch = tl.program_id(2).to(tl.int64)
    token = tl.program_id(1) * TOKENS + tl.arange(0, TOKENS)
    key = tl.program_id(0) * KEYS + tl.arange(0, KEYS)
    row = batch * tokens + token
    column = tl.arange(0, WIDTH)
    total = tl.zeros((TOKENS, KEYS), tl.float32)
    inside = token < tokens
    visible = inside[:, None] & (key < tokens)[None, :] & (key[None, :] <= token[:, None])
    # Tiles above the diagonal are hidden as a whole.
    if tl.program_id(0) * KEYS <= tl.program_id(1) * TOKENS + TOKENS - 1:
        k_at = (batch * tokens + key)[:, None] * width + column[None, :]
        k = tl.load(k_ptr + k_at, mask=(key < tokens)[:, None] & (column < width)[None, :], other=0.0)
        for head in range(heads):
            q_at = (row * heads + head)[:, None] * width + column[None, :]
            q = tl.load(q_ptr + q_at, mask=inside[:, None] & (column < width)[None, :], other=0.0)
            weight = tl.load(weight_ptr + row * heads + head, mask=inside, other=0.0).to(tl.float32)
            product = dot(q, tl.trans(k), tl.zeros((TOKENS, KEYS), tl.float32))
            total += tl.maximum(product, 0.0) * weight[:, None]
    at = row[:, None] * tokens + key[None, :]
    scores = tl.where(visible, total, float("-inf"))
    tl.store(out_ptr + at, scores, mask=inside[:, None] & (key < tokens)[None, :])


class _Indexer(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, topk: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        check_device(q, k, weights)
        q, k, weights = q.contiguous(), k.contiguous(), weights.contiguous()
        batch, tokens, heads, width = q.shape
        scores = torch.empty(batch, tokens, tokens, dtype=torch.float32, device=q.device)
        if scores.numel():
            _score[(triton.cdiv(tokens, _KEYS), triton.cdiv(tokens, _TOKENS), batch)](
                q, k, weights, scores, tokens, heads, width,
                TOKENS=_TOKENS, KEYS=_KEYS, WIDTH=max(16, block_of(width, _LARGEST_WIDTH)), num_warps=4,
            )  # fmt: skip
        best = scores.topk(min(topk, tokens), dim=-1)
        indices = torch.where(best.values.isinf(), -1, best.indices)
        ctx.save_for_backward(q, k, weights, indices)
        ctx.mark_non_differentiable(indices)
        return best.values, indices

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor, _: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        q, k, weights, indices = ctx.saved_tensors
        batch = torch.arange(q.shape[0], device=q.device)[:, None, None]
        with torch.enable_grad():
            # Only the selected keys have a gradient, and those are few enough to be gathered: in float32, as
            # the gradients of a key that many tokens selected are added in the dtype that it is gathered in.
            leaves = [x.detach().requires_grad_() for x in (q, k, weights)]
            selected = leaves[1].float()[batch, indices.clamp(min=0)]
            products = torch.einsum("bthd,btkd->bthk", leaves[0].float(), selected).relu()
            scores = torch.einsum("bthk,bth->btk", products, leaves[2].float())
        return *torch.autograd.grad(scores, leaves, grad.masked_fill(indices < 0, 0.0)), None


def lightning_indexer_triton(
    q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, topk: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """See the eager definition."""
    return _Indexer.apply(q, k, weights, topk)
