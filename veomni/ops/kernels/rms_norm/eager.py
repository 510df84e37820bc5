"""RMSNorm in plain PyTorch: the definition that every other implementation is tested against."""

from __future__ import annotations

import torch


def rms_norm_eager(hidden_states: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The variant ``standard``: the normalised row is rounded to the input dtype before it is scaled."""
    return weight * _normalise(hidden_states, eps).to(hidden_states.dtype)


def rms_norm_qwen3_5_eager(hidden_states: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The variant ``qwen3_5``: scaled by ``1 + weight`` in float32, so that a weight of zero changes nothing."""
    return (_normalise(hidden_states, eps) * (1.0 + weight.float())).to(hidden_states.dtype)


def rms_norm_unweighted_eager(hidden_states: torch.Tensor, eps: float) -> torch.Tensor:
    """The variant ``unweighted``."""
    return _normalise(hidden_states, eps).to(hidden_states.dtype)


def _normalise(hidden_states: torch.Tensor, eps: float) -> torch.Tensor:
    rows = hidden_states.float()
    return rows * torch.rsqrt(rows.square().mean(-1, keepdim=True) + eps)
