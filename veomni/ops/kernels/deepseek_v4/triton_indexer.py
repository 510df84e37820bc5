"""The indexer of DeepSeek V4 in Triton: the scores of all heads are added tile by tile, and one sum is stored."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from ..triton_support import block_of, check_device, dot
from .indexer import Gradients, select_keys

_TOKENS, _KEYS = 64, 64
_HEADS, _SELECTED = 16, 32
_LARGEST_WIDTH = 256


def lightning_indexer_triton(
    q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, topk: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """See the eager definition.

    The gradients of keys that several tokens selected are added in no fixed order.

    Raises:
        ValueError: the tensors do not belong together, are wider than a program can hold, or not on a GPU.
    """
    check_device(q, k, weights)
    return select_keys(q, k, weights, topk, _score, _score_backward)


def _score(q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, scores: torch.Tensor, first: int) -> None:
    batch, tokens, heads, width = q.shape
    rows = scores.shape[1]
    _score_kernel[(triton.cdiv(tokens, _KEYS), triton.cdiv(rows, _TOKENS), batch)](
        q, k, weights, scores, first, rows, tokens, heads, width,
        TOKENS=_TOKENS, KEYS=_KEYS, WIDTH=max(16, block_of(width, _LARGEST_WIDTH)), num_warps=4,
    )  # fmt: skip


def _score_backward(
    grad: torch.Tensor, q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, indices: torch.Tensor
) -> Gradients:
    batch, tokens, heads, width = q.shape
    dq, dweights = torch.empty_like(q), torch.empty_like(weights)
    dk = torch.zeros_like(k, dtype=torch.float32)
    _score_backward_kernel[(batch * tokens, triton.cdiv(heads, _HEADS))](
        grad, q, k, weights, indices, dq, dk, dweights, tokens, heads, width, indices.shape[-1],
        HEADS=_HEADS, WIDTH=max(16, block_of(width, _LARGEST_WIDTH)), KEYS=_SELECTED, num_warps=4,
    )  # fmt: skip
    return dq, dk.to(k.dtype), dweights


@triton.jit
def _score_kernel(
    q_ptr, k_ptr, weight_ptr, out_ptr, first, rows, tokens, heads, width,
    TOKENS: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    batch = tl.program_id(2).to(tl.int64)
    row = tl.program_id(1) * TOKENS + tl.arange(0, TOKENS)
    token = first + row
    key = tl.program_id(0) * KEYS + tl.arange(0, KEYS)
    column = tl.arange(0, WIDTH)
    total = tl.zeros((TOKENS, KEYS), tl.float32)
    inside = row < rows
    # Tiles above the diagonal are hidden as a whole.
    if tl.program_id(0) * KEYS <= first + tl.program_id(1) * TOKENS + TOKENS - 1:
        k_at = (batch * tokens + key)[:, None] * width + column[None, :]
        k = tl.load(k_ptr + k_at, mask=(key < tokens)[:, None] & (column < width)[None, :], other=0.0)
        for head in range(heads):
            at = (batch * tokens + token) * heads + head
            q_mask = inside[:, None] & (column < width)[None, :]
            q = tl.load(q_ptr + at[:, None] * width + column[None, :], mask=q_mask, other=0.0)
            weight = tl.load(weight_ptr + at, mask=inside, other=0.0).to(tl.float32)
            product = dot(q, tl.trans(k), tl.zeros((TOKENS, KEYS), tl.float32))
            # Not tl.maximum, which loses NaN.
            total += tl.where(product < 0, 0.0, product) * weight[:, None]
    scores = tl.where(key[None, :] <= token[:, None], total, float("-inf"))
    at = (batch * rows + row)[:, None] * tokens + key[None, :]
    tl.store(out_ptr + at, scores, mask=inside[:, None] & (key < tokens)[None, :])


@triton.jit
def _score_backward_kernel(
    grad_ptr, q_ptr, k_ptr, weight_ptr, index_ptr, dq_ptr, dk_ptr, dweight_ptr, tokens, heads, width, selected,
    HEADS: tl.constexpr, WIDTH: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    batch = token // tokens
    head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
    column = tl.arange(0, WIDTH)
    q_at = (token * heads + head)[:, None] * width + column[None, :]
    q_mask = (head < heads)[:, None] & (column < width)[None, :]
    q = tl.load(q_ptr + q_at, mask=q_mask, other=0.0)
    weight = tl.load(weight_ptr + token * heads + head, mask=head < heads, other=0.0).to(tl.float32)
    dq = tl.zeros((HEADS, WIDTH), tl.float32)
    dweight = tl.zeros((HEADS,), tl.float32)
    for start in range(0, selected, KEYS):
        place = start + tl.arange(0, KEYS)
        index = tl.load(index_ptr + token * selected + place, mask=place < selected, other=-1).to(tl.int64)
        grad = tl.load(grad_ptr + token * selected + place, mask=place < selected, other=0.0)
        k_at = (batch * tokens + index)[:, None] * width + column[None, :]
        k_mask = (index >= 0)[:, None] & (column < width)[None, :]
        k = tl.load(k_ptr + k_at, mask=k_mask, other=0.0)
        product = dot(q, tl.trans(k), tl.zeros((HEADS, KEYS), tl.float32))
        dscore = tl.where(product > 0, grad[None, :], 0.0)
        dweight += tl.sum(product * dscore, axis=1)
        dproduct = (dscore * weight[:, None]).to(k.dtype)
        dq = dot(dproduct, k, dq)
        dk = dot(tl.trans(dproduct), q, tl.zeros((KEYS, WIDTH), tl.float32))
        tl.atomic_add(dk_ptr + k_at, dk, mask=k_mask, sem="relaxed")
    tl.store(dq_ptr + q_at, dq.to(dq_ptr.dtype.element_ty), mask=q_mask)
    dweight_at = dweight_ptr + token * heads + head
    tl.store(dweight_at, dweight.to(dweight_ptr.dtype.element_ty), mask=head < heads)
