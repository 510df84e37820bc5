"""RMSNorm on Ascend NPUs."""

from __future__ import annotations

from typing import Any

import torch
import torch_npu


def rms_norm_npu(hidden_states: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The variant ``standard``; the kernel of torch_npu also returns the reciprocal root mean square."""
    output, _ = torch_npu.npu_rms_norm(hidden_states, weight, epsilon=eps)
    return output


def rms_norm_forward_npu(hidden_states: torch.Tensor, gamma: torch.Tensor, eps: float) -> tuple[torch.Tensor, ...]:
    """The output and the reciprocal root mean square, without autograd."""
    return torch_npu.npu_rms_norm(hidden_states, gamma, epsilon=eps)


def rms_norm_backward_npu(
    grad: torch.Tensor, hidden_states: torch.Tensor, gamma: torch.Tensor, rstd: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of the input and of *gamma*, without autograd."""
    dx, dgamma = torch_npu.npu_rms_norm_backward(grad.contiguous(), hidden_states, gamma, rstd)
    return dx, dgamma.to(gamma.dtype)


def rms_norm_qwen3_5_npu(hidden_states: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The variant ``qwen3_5``, in float32 as its definition asks."""
    output, _ = torch_npu.npu_rms_norm(hidden_states.float(), 1.0 + weight.float(), epsilon=eps)
    return output.to(hidden_states.dtype)


def rms_norm_unweighted_npu(hidden_states: torch.Tensor, eps: float) -> torch.Tensor:
    """The variant ``unweighted``: the kernel needs a weight, so it gets one of ones."""
    return rms_norm_npu(hidden_states, hidden_states.new_ones(hidden_states.shape[-1]), eps)


def rms_norm_module_forward(self: Any, hidden_states: torch.Tensor) -> torch.Tensor:
    """The variant ``standard`` as the ``forward`` of a module that holds ``weight`` and ``variance_epsilon``."""
    return rms_norm_npu(hidden_states, self.weight, self.variance_epsilon)
