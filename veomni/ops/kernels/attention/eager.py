"""Causal attention in plain PyTorch: the definition that every other implementation is tested against."""

from __future__ import annotations

import torch


def attention_eager(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = True, scale: float | None = None
) -> torch.Tensor:
    """Softmax attention of queries (batch, tokens, heads, width) over keys and values (…, fewer heads, width).

    Each key head serves as many neighbouring query heads. With fewer queries than keys the queries are the last ones.
    The softmax is taken in float32.
    """
    groups = q.shape[2] // k.shape[2]
    k, v = (x.repeat_interleave(groups, dim=2) for x in (k, v))
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        queries, keys = scores.shape[-2:]
        hidden = torch.ones(queries, keys, dtype=torch.bool, device=q.device).triu(keys - queries + 1)
        scores = scores.masked_fill(hidden, float("-inf"))
    return torch.einsum("bhqk,bkhd->bqhd", scores.float().softmax(-1).to(q.dtype), v)
