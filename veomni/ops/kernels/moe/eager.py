"""Mixture-of-experts MLPs in plain PyTorch: the definitions that every other implementation is tested against."""

from __future__ import annotations

import torch
from torch.nn import functional


def moe_experts_eager(
    hidden_states: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    limit: float | None = None,
) -> torch.Tensor:
    """The variant ``standard``: SwiGLU experts without bias.

    *hidden_states* is (tokens, hidden), *top_k_index* and *top_k_weights* (tokens, top_k), *gate_up_proj*
    (experts, 2 * intermediate, hidden) with the gates first, *down_proj* (experts, hidden, intermediate). With *limit*
    the gate is clamped from above and the other factor on both sides. An index that names no expert adds nothing.
    """
    output = torch.zeros_like(hidden_states)
    for expert in range(gate_up_proj.shape[0]):
        token, choice = (top_k_index == expert).nonzero(as_tuple=True)
        gate, up = functional.linear(hidden_states[token], gate_up_proj[expert]).chunk(2, dim=-1)
        gate, up = _clamp(gate, up, limit)
        rows = functional.linear(functional.silu(gate) * up, down_proj[expert])
        output = output.index_add(0, token, (rows * top_k_weights[token, choice, None]).to(output.dtype))
    return output


def moe_experts_gpt_oss_eager(
    hidden_states: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
    gate_up_proj: torch.Tensor,
    gate_up_proj_bias: torch.Tensor,
    down_proj: torch.Tensor,
    down_proj_bias: torch.Tensor,
    alpha: float,
    limit: float,
) -> torch.Tensor:
    """The variant ``gpt_oss``: biases, gates and other factors interleaved, weights stored input-major.

    *gate_up_proj* is (experts, hidden, 2 * intermediate), *down_proj* (experts, intermediate, hidden).
    """
    output = torch.zeros_like(hidden_states)
    for expert in range(gate_up_proj.shape[0]):
        token, choice = (top_k_index == expert).nonzero(as_tuple=True)
        gate_up = hidden_states[token] @ gate_up_proj[expert] + gate_up_proj_bias[expert]
        gate, up = _clamp(gate_up[..., ::2], gate_up[..., 1::2], limit)
        rows = (gate * torch.sigmoid(alpha * gate) * (up + 1)) @ down_proj[expert] + down_proj_bias[expert]
        output = output.index_add(0, token, (rows * top_k_weights[token, choice, None]).to(output.dtype))
    return output


def _clamp(gate: torch.Tensor, up: torch.Tensor, limit: float | None) -> tuple[torch.Tensor, torch.Tensor]:
    return (gate, up) if limit is None else (gate.clamp(max=limit), up.clamp(-limit, limit))
