"""SwiGLU of Liger as a kernel of the ``swiglu_mlp`` slot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from liger_kernel.ops.swiglu import LigerSiLUMulFunction

from ..kernels.swiglu.eager import check_gate_and_up

if TYPE_CHECKING:
    import torch


def silu_mul_liger(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """``silu(gate) * up``; in backward Liger overwrites *gate* and *up*, which no one else may need.

    Raises:
        ValueError: the inputs differ in shape or dtype.
    """
    check_gate_and_up(gate, up)
    return LigerSiLUMulFunction.apply(gate, up)
