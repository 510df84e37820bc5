"""Attention to selected keys in latent form, in plain PyTorch: the definition for every other implementation."""

from __future__ import annotations

import torch


def dsa_attention_eager(
    q: torch.Tensor, kv: torch.Tensor, indices: torch.Tensor, value_width: int, scale: float
) -> torch.Tensor:
    """Attend from *q* (batch, tokens, heads, width) to the rows of *kv* (batch, keys, width) that *indices* name.

    *indices* is (batch, tokens, selected); -1 names none. The values are the first *value_width* columns of the keys,
    which all heads share. A token that selects nothing gets zeros.
    """
    batch = torch.arange(q.shape[0], device=q.device)[:, None, None]
    selected = kv.float()[batch, indices.clamp(min=0)]
    scores = torch.einsum("bthd,btkd->bthk", q.float(), selected) * scale
    missing = (indices < 0)[:, :, None]
    weights = scores.masked_fill(missing, float("-inf")).softmax(-1).masked_fill(missing, 0.0)
    return torch.einsum("bthk,btkd->bthd", weights, selected[..., :value_width]).to(q.dtype)
