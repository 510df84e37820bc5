"""RMSNorm on Ascend NPUs."""

from __future__ import annotations

from typing import Any

import torch
import torch_npu


def rms_norm_npu(hidden_states: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The fused kernel of torch_npu, which also returns the reciprocal root mean square."""
    output, _ = torch_npu.npu_rms_norm(hidden_states, weight, epsilon=eps)
    return output


def rms_norm_forward_npu(self: Any, hidden_states: torch.Tensor) -> torch.Tensor:
    """The same as the ``forward`` of a module that holds ``weight`` and ``variance_epsilon``."""
    return rms_norm_npu(hidden_states, self.weight, self.variance_epsilon)
