"""What the kernels of the indexer share: scores are made for some rows at a time, and only the best are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_SCORES_AT_ONCE = 2**28

Score = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, int], None]
"""``score(q, k, weights, scores, first)`` fills *scores* (batch, rows, keys, float32) for the rows from *first* on."""

Gradients = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
ScoreBackward = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], Gradients]
"""``score_backward(grad, q, k, weights, indices)``; where an index is -1, *grad* (float32) is 0."""


def select_keys(
    q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, topk: int, score: Score, score_backward: ScoreBackward
) -> tuple[torch.Tensor, torch.Tensor]:
    """The indexer as the eager definition has it, by a kernel for scores and one for their gradients.

    Raises:
        ValueError: the tensors do not belong to the same tokens.
    """
    if q.shape[:2] != k.shape[:2] or q.shape[:3] != weights.shape or q.shape[3:] != k.shape[2:] or q.dtype != k.dtype:
        found = ", ".join(f"{x.dtype} {tuple(x.shape)}" for x in (q, k, weights))
        raise ValueError(f"queries, keys and weights must be of the same tokens and the same width: {found}")
    return _Indexer.apply(q, k, weights, topk, score, score_backward)


class _Indexer(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        q: torch.Tensor,
        k: torch.Tensor,
        weights: torch.Tensor,
        topk: int,
        score: Score,
        score_backward: ScoreBackward,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        q, k, weights = q.contiguous(), k.contiguous(), weights.contiguous()
        values, indices = _best(q, k, weights, min(topk, q.shape[1]), score)
        ctx.save_for_backward(q, k, weights, indices)
        ctx.mark_non_differentiable(indices)
        ctx.score_backward = score_backward
        return values, indices

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor, _: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        q, k, weights, indices = ctx.saved_tensors
        if not (q.numel() and indices.numel()):
            return torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(weights), None, None, None
        return *ctx.score_backward(grad.masked_fill(indices < 0, 0.0), q, k, weights, indices), None, None, None


def _best(
    q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, count: int, score: Score
) -> tuple[torch.Tensor, torch.Tensor]:
    batch, tokens = q.shape[:2]
    values = torch.empty(batch, tokens, count, dtype=torch.float32, device=q.device)
    indices = torch.empty(batch, tokens, count, dtype=torch.int64, device=q.device)
    rows = max(1, _SCORES_AT_ONCE // max(batch * tokens, 1))
    for first in range(0, tokens if batch else 0, rows):
        last = min(first + rows, tokens)
        scores = torch.empty(batch, last - first, tokens, dtype=torch.float32, device=q.device)
        score(q, k, weights, scores, first)
        best = scores.topk(count, dim=-1)
        values[:, first:last] = best.values
        indices[:, first:last] = best.indices.masked_fill_(best.values == float("-inf"), -1)
    return values, indices
