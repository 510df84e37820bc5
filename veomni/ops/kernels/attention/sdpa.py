"""Attention through ``scaled_dot_product_attention`` of PyTorch, on any device."""

from __future__ import annotations

import torch
from torch.nn import functional


def attention_sdpa(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = True, scale: float | None = None
) -> torch.Tensor:
    """See the eager definition.

    Raises:
        ValueError: causal attention of fewer queries than keys, which PyTorch would align at the first one.
    """
    if causal and q.shape[1] != k.shape[1]:
        raise ValueError("sdpa aligns causal masks at the first key; use eager or flash attention for a cache")
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    output = functional.scaled_dot_product_attention(
        q, k, v, is_causal=causal, scale=scale, enable_gqa=q.shape[1] != k.shape[1]
    )
    return output.transpose(1, 2)
