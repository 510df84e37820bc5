"""The parts of gated-delta-rule attention on Ascend NPUs."""

from __future__ import annotations

import torch
import torch_npu
from torch.nn import functional

from .chunked import chunk_gated_delta_rule_chunked
from .eager import positions_in_sequences

chunk_gated_delta_rule_npu = chunk_gated_delta_rule_chunked
"""The chunked form: NPUs have no kernel for the rule itself, but fast ones for the products that it consists of."""


def rms_norm_gated_npu(x: torch.Tensor, gate: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """See the eager definition; the norm is the fused kernel of torch_npu."""
    normalised, _ = torch_npu.npu_rms_norm(x.float(), weight.float(), epsilon=eps)
    return (normalised * functional.silu(gate.float())).to(x.dtype)


def causal_conv1d_npu(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, *, cu_seqlens: torch.Tensor | None = None
) -> torch.Tensor:
    """See the eager definition.

    The convolution of the NPU knows no sequences, so zeros as wide as its reach are put before each of them.
    """
    _, tokens, columns = x.shape
    reach = weight.shape[1] - 1
    index = torch.arange(tokens, device=x.device)
    if cu_seqlens is None:
        sequence = torch.zeros_like(index)
    else:
        sequence = (positions_in_sequences(tokens, cu_seqlens, x.device) == 0).cumsum(0) - 1
    place = index + (sequence + 1) * reach
    # Tokens behind the last end are one sequence more, and without any token there must be something to convolve.
    count = 1 if cu_seqlens is None else cu_seqlens.shape[0]
    spread = x.new_zeros(x.shape[0], tokens + count * reach + 1, columns).index_copy(1, place, x)
    output = functional.conv1d(spread.transpose(1, 2), weight[:, None], bias, groups=columns)
    return functional.silu(output.transpose(1, 2).index_select(1, place - reach))
