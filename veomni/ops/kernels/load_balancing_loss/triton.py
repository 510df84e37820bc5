"""The load-balancing loss in Triton: one pass over the router logits forward, one backward, no one-hot tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl

from ....utils.device import get_multiprocessor_count
from ..triton_support import block_of, check_device
from .eager import check_router_logits, token_weights

_TILE = 2048
_PROGRAMS_PER_MULTIPROCESSOR = 4
_LOWEST = tl.constexpr(torch.finfo(torch.float32).min)


@triton.jit
def _softmax(logits_ptr, row, rows, expert, experts):
    mask = (row < rows)[:, None] & (expert < experts)[None, :]
    x = tl.load(logits_ptr + row[:, None] * experts + expert[None, :], mask=mask, other=float("-inf")).to(tl.float32)
    # Rows beyond the last hold -inf alone.
    x = tl.where((row < rows)[:, None], x, 0.0)
    exponential = tl.exp(x - tl.max(x, axis=1)[:, None])
    return x, exponential / tl.sum(exponential, axis=1)[:, None]


@triton.jit
def _sums(
    logits_ptr, weight_ptr, chosen_ptr, probability_ptr, rows, experts,
    HAS_WEIGHTS: tl.constexpr, TOP_K: tl.constexpr, ROWS: tl.constexpr, EXPERTS: tl.constexpr,
):  # fmt: skip
    expert = tl.arange(0, EXPERTS)
    chosen_sum = tl.zeros((EXPERTS,), tl.float32)
    probability_sum = tl.zeros((EXPERTS,), tl.float32)
    for tile in range(tl.program_id(0), tl.cdiv(rows, ROWS), tl.num_programs(0)):
        row = tile * ROWS + tl.arange(0, ROWS).to(tl.int64)
        x, probability = _softmax(logits_ptr, row, rows, expert, experts)
        if HAS_WEIGHTS:
            weight = tl.load(weight_ptr + row, mask=row < rows, other=0.0)
        else:
            weight = tl.where(row < rows, 1.0, 0.0)
        # Only what is chosen and what is no expert is -inf: an expert with a logit of -inf can be chosen, once.
        x = tl.where((expert < experts)[None, :], tl.maximum(x, _LOWEST), float("-inf"))
        chosen = tl.zeros((ROWS, EXPERTS), tl.float32)
        for _ in tl.static_range(TOP_K):
            best = expert[None, :] == tl.argmax(x, axis=1)[:, None]
            chosen += tl.where(best, 1.0, 0.0)
            x = tl.where(best, float("-inf"), x)
        chosen_sum += tl.sum(chosen * weight[:, None], axis=0)
        probability_sum += tl.sum(probability * weight[:, None], axis=0)
    at = tl.program_id(0) * experts + expert
    tl.store(chosen_ptr + at, chosen_sum, mask=expert < experts)
    tl.store(probability_ptr + at, probability_sum, mask=expert < experts)


@triton.jit
def _gradient(
    logits_ptr, weight_ptr, factor_ptr, grad_ptr, rows, experts,
    HAS_WEIGHTS: tl.constexpr, ROWS: tl.constexpr, EXPERTS: tl.constexpr,
):  # fmt: skip
    expert = tl.arange(0, EXPERTS)
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    _, probability = _softmax(logits_ptr, row, rows, expert, experts)
    factor = tl.load(factor_ptr + expert, mask=expert < experts, other=0.0)[None, :]
    gradient = probability * (factor - tl.sum(probability * factor, axis=1)[:, None])
    if HAS_WEIGHTS:
        gradient = gradient * tl.load(weight_ptr + row, mask=row < rows, other=0.0)[:, None]
    mask = (row < rows)[:, None] & (expert < experts)[None, :]
    at = row[:, None] * experts + expert[None, :]
    tl.store(grad_ptr + at, gradient.to(grad_ptr.dtype.element_ty), mask=mask)


class _LoadBalancingLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, top_k: int, weights: torch.Tensor | None, *gate_logits: torch.Tensor) -> torch.Tensor:
        logits = torch.cat(gate_logits)
        check_device(logits)
        rows, experts = logits.shape
        tile_rows, block = _tile(experts)
        programs = max(1, min(triton.cdiv(rows, tile_rows), _PROGRAMS_PER_MULTIPROCESSOR * get_multiprocessor_count()))
        chosen = torch.empty(programs, experts, dtype=torch.float32, device=logits.device)
        probability = torch.empty_like(chosen)
        _sums[(programs,)](
            logits, weights, chosen, probability, rows, experts,
            HAS_WEIGHTS=weights is not None, TOP_K=top_k, ROWS=tile_rows, EXPERTS=block, num_warps=4,
        )  # fmt: skip
        # The mean over no tokens is NaN, as in eager.
        total = (rows or math.nan) if weights is None else weights.sum()
        share = chosen.sum(0) / total
        ctx.save_for_backward(logits, weights, share * (experts / total))
        ctx.sizes = [x.shape[0] for x in gate_logits]
        return experts * (share * (probability.sum(0) / total)).sum()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        logits, weights, factor = ctx.saved_tensors
        rows, experts = logits.shape
        tile_rows, block = _tile(experts)
        gradient = torch.empty_like(logits)
        if rows:
            _gradient[(triton.cdiv(rows, tile_rows),)](
                logits, weights, factor * grad, gradient, rows, experts,
                HAS_WEIGHTS=weights is not None, ROWS=tile_rows, EXPERTS=block, num_warps=4,
            )  # fmt: skip
        return None, None, *gradient.split(ctx.sizes)


def load_balancing_loss_triton(
    gate_logits: Sequence[torch.Tensor], num_experts: int, top_k: int, attention_mask: torch.Tensor | None = None
) -> torch.Tensor:
    """See the eager definition, also for the errors."""
    check_router_logits(gate_logits, num_experts, top_k, attention_mask)
    weights = None if attention_mask is None else token_weights(gate_logits, attention_mask)
    return _LoadBalancingLoss.apply(top_k, weights, *gate_logits)


def _tile(experts: int) -> tuple[int, int]:
    block = block_of(experts, 2 * _TILE)
    return max(1, _TILE // block), block
