"""RMSNorm of Liger as kernels of the ``rms_norm`` slots."""

from __future__ import annotations

from typing import Any

import torch
from liger_kernel.ops.rms_norm import LigerRMSNormFunction


def rms_norm_liger(hidden_states: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The variant ``standard``."""
    # Not in place: the caller may still need the gradient that backward would overwrite.
    return LigerRMSNormFunction.apply(hidden_states, weight, eps, 0.0, "llama", False)


def rms_norm_qwen3_5_liger(hidden_states: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The variant ``qwen3_5``: everything in float32, scaled by ``1 + weight``."""
    return LigerRMSNormFunction.apply(hidden_states, weight, eps, 1.0, "gemma", False)


def rms_norm_unweighted_liger(hidden_states: torch.Tensor, eps: float) -> torch.Tensor:
    """The variant ``unweighted``, with a weight of ones because older releases of Liger need one."""
    ones = torch.ones(hidden_states.shape[-1], dtype=hidden_states.dtype, device=hidden_states.device)
    return LigerRMSNormFunction.apply(hidden_states, ones, eps, 0.0, "gemma", False)


def rms_norm_module_forward(self: Any, hidden_states: torch.Tensor) -> torch.Tensor:
    """The variant ``standard`` as the ``forward`` of a module that holds ``weight`` and ``variance_epsilon``."""
    return rms_norm_liger(hidden_states, self.weight, self.variance_epsilon)
