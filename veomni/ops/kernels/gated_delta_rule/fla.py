"""The parts of gated-delta-rule attention from flash-linear-attention."""

from __future__ import annotations

import torch
from fla.modules.causal_conv1d import causal_conv1d
from fla.modules.norm.fused_norm_gate import rms_norm_gated
from fla.ops.gated_delta_rule import chunk_gated_delta_rule


def rms_norm_gated_fla(x: torch.Tensor, gate: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """See the eager definition."""
    return rms_norm_gated(x, gate, weight, None, activation="swish", eps=eps)


def causal_conv1d_fla(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, *, cu_seqlens: torch.Tensor | None = None
) -> torch.Tensor:
    """See the eager definition."""
    output, _ = causal_conv1d(x=x, weight=weight, bias=bias, activation="silu", cu_seqlens=cu_seqlens)
    return output


def chunk_gated_delta_rule_fla(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    *,
    scale: float | None = None,
    cu_seqlens: torch.Tensor | None = None,
) -> torch.Tensor:
    """See the eager definition."""
    output, _ = chunk_gated_delta_rule(
        q, k, v, g=g, beta=beta, scale=scale, cu_seqlens=cu_seqlens, use_qk_l2norm_in_kernel=True
    )
    return output
