"""RMSNorm of Liger as kernels of the ``rms_norm`` slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from liger_kernel.ops.rms_norm import LigerRMSNormFunction

if TYPE_CHECKING:
    import torch


def rms_norm_liger(hidden_states: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """Normalise the rows of *hidden_states* and scale them by *weight*."""
    return LigerRMSNormFunction.apply(hidden_states, weight, eps, 0.0, "llama", False)
