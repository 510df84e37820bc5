"""The activation of SwiGLU in plain PyTorch: the definition that every other implementation is tested against."""

from __future__ import annotations

import torch
from torch.nn import functional


def silu_mul_eager(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """``silu(gate) * up``."""
    return functional.silu(gate) * up


def check_gate_and_up(gate: torch.Tensor, up: torch.Tensor) -> None:
    """Compare the two inputs, for kernels that take them on trust.

    Raises:
        ValueError: they differ in shape or dtype.
    """
    if gate.shape != up.shape or gate.dtype != up.dtype:
        raise ValueError(f"gate is {gate.dtype} {tuple(gate.shape)} but up is {up.dtype} {tuple(up.shape)}")
