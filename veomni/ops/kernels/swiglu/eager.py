"""The activation of SwiGLU in plain PyTorch: the definition that every other implementation is tested against."""

from __future__ import annotations

import torch
from torch.nn import functional


def silu_mul_eager(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """``silu(gate) * up``."""
    return functional.silu(gate) * up
