"""The load-balancing loss in plain PyTorch: the definition that every other implementation is tested against."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def load_balancing_loss_eager(
    gate_logits: Sequence[torch.Tensor], num_experts: int, top_k: int, attention_mask: torch.Tensor | None = None
) -> torch.Tensor:
    """Experts times the sum over experts of (share of tokens routed there) times (mean probability of it).

    *gate_logits* holds the router logits (tokens, experts) of each layer. Tokens that *attention_mask*
    (batch, tokens) marks with 0 do not count. Only the probabilities have a gradient.
    """
    probabilities = torch.cat(tuple(gate_logits)).float().softmax(-1)
    chosen = torch.zeros_like(probabilities).scatter_(1, probabilities.topk(top_k, dim=-1).indices, 1.0)
    weights = token_weights(gate_logits, attention_mask)
    share = (chosen * weights[:, None]).sum(0) / weights.sum()
    mean = (probabilities * weights[:, None]).sum(0) / weights.sum()
    return num_experts * (share * mean).sum()


def token_weights(gate_logits: Sequence[torch.Tensor], attention_mask: torch.Tensor | None) -> torch.Tensor:
    """One weight for each token of each layer, in float32."""
    if attention_mask is None:
        return torch.ones(sum(x.shape[0] for x in gate_logits), device=gate_logits[0].device)
    return attention_mask.flatten().float().repeat(len(gate_logits))
