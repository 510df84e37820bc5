"""From the experts that each token chose to rows sorted by expert, without waiting for the device."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Routing:
    """The order of the rows of all experts; a row is one choice of one token.

    ``token`` is the token of each row, ``inverse`` the row of each choice (tokens, top_k), ``expert`` the expert of
    each row, and ``ends`` (experts, int32) where the rows of each expert end. The rows of choices that name no expert
    come last. No product computes them, so whatever stands in them must reach no result.
    """

    token: torch.Tensor
    inverse: torch.Tensor
    expert: torch.Tensor
    ends: torch.Tensor

    def starts(self) -> torch.Tensor:
        """Where the rows of each expert begin, and, last, where all end."""
        return torch.nn.functional.pad(self.ends, (1, 0))

    def known_weights(self, top_k_weights: torch.Tensor) -> torch.Tensor:
        """The weights (tokens, top_k), without those of choices that name no expert."""
        return torch.where(self.inverse < self.ends[-1], top_k_weights, 0)

    def permute_weights(self, top_k_weights: torch.Tensor) -> torch.Tensor:
        """The weight of each row."""
        return torch.empty_like(top_k_weights.flatten()).index_put((self.inverse.flatten(),), top_k_weights.flatten())


def route(top_k_index: torch.Tensor, num_experts: int) -> Routing:
    """Sort the choices (tokens, top_k) by expert; those of one expert stay in the order of the tokens.

    A choice below zero or from *num_experts* on names no expert.
    """
    # Without its sign a number below zero is above every expert.
    known = (top_k_index.flatten() & torch.iinfo(top_k_index.dtype).max).clamp(max=num_experts)
    # Sorting takes a pass for each byte of the key.
    narrow = torch.int16 if num_experts < 2**15 else torch.int32
    expert, order = known.to(narrow).sort(stable=True)
    inverse = torch.empty_like(order)
    inverse[order] = torch.arange(order.shape[0], device=order.device)
    bounds = torch.arange(1, num_experts + 1, device=expert.device, dtype=expert.dtype)
    ends = torch.searchsorted(expert, bounds, out_int32=True)
    return Routing(order // top_k_index.shape[-1], inverse.view_as(top_k_index), expert.int(), ends)
