"""RMSNorm in plain PyTorch: the definition that every other implementation is tested against."""

from __future__ import annotations

import torch


def rms_norm_eager(hidden_states: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """Scale each row to a root mean square of one in float32, then by *weight* in the dtype of the input."""
    rows = hidden_states.float()
    normalised = rows * torch.rsqrt(rows.square().mean(-1, keepdim=True) + eps)
    return weight * normalised.to(hidden_states.dtype)
