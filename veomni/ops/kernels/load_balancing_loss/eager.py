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

    Raises:
        ValueError: the logits are not those of *num_experts*, *top_k* is above their number, or the mask is not one of
            their tokens.
    """
    check_router_logits(gate_logits, num_experts, top_k, attention_mask)
    probabilities = torch.cat(tuple(gate_logits)).float().softmax(-1)
    chosen = torch.zeros_like(probabilities).scatter_(1, probabilities.topk(top_k, dim=-1).indices, 1.0)
    weights = token_weights(gate_logits, attention_mask)
    share = (chosen * weights[:, None]).sum(0) / weights.sum()
    mean = (probabilities * weights[:, None]).sum(0) / weights.sum()
    return num_experts * (share * mean).sum()


def check_router_logits(
    gate_logits: Sequence[torch.Tensor], num_experts: int, top_k: int, attention_mask: torch.Tensor | None
) -> None:
    """Compare the shapes of what the loss is computed from.

    Raises:
        ValueError: they do not fit each other.
    """
    for logits in gate_logits:
        if logits.dim() != 2 or logits.shape[1] != num_experts or not 0 < top_k <= num_experts:
            raise ValueError(
                f"router logits {tuple(logits.shape)} do not fit {num_experts} experts of which {top_k} are chosen"
            )
        if attention_mask is not None and attention_mask.numel() != logits.shape[0]:
            raise ValueError(
                f"the attention mask {tuple(attention_mask.shape)} does not fit router logits {tuple(logits.shape)}"
            )


def token_weights(gate_logits: Sequence[torch.Tensor], attention_mask: torch.Tensor | None) -> torch.Tensor:
    """One weight for each token of each layer, in float32."""
    if attention_mask is None:
        return torch.ones(sum(x.shape[0] for x in gate_logits), device=gate_logits[0].device)
    return attention_mask.flatten().float().repeat(len(gate_logits))
