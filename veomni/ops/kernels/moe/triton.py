"""Experts on a GPU: torch's grouped product where it applies, which is the fastest there, and Triton for all else."""

from __future__ import annotations

import torch
from torch.nn import functional

from ....utils.device import get_gpu_compute_capability
from .grouped import ExpertBackend
from .routing import Routing
from .triton_gemm import rows_product, weights_product
from .triton_rows import combine_rows_triton, weighted_activation_triton

_grouped_mm = getattr(functional, "grouped_mm", None)
_ALIGNMENT = 8
"""torch's grouped product wants rows that begin at multiples of 16 bytes."""


class GpuProducts:
    """Chooses by dtype, shape and device; both ways round as matrix products round."""

    def rows(self, x: torch.Tensor, weight: torch.Tensor, routing: Routing) -> torch.Tensor:
        """Multiply the rows of each expert by its matrix (experts, in, out)."""
        if _grouped_mm is not None and _suits_torch(x, weight.shape[1], weight.shape[2]):
            return _grouped_mm(x, weight, offs=routing.ends)
        return rows_product(x, weight, routing)

    def weights(self, x: torch.Tensor, y: torch.Tensor, routing: Routing) -> torch.Tensor:
        """For each expert ``x.T @ y`` over its rows."""
        if _grouped_mm is not None and _suits_torch(x, x.shape[1], y.shape[1]):
            return _grouped_mm(x.t(), y, offs=routing.ends)
        return weights_product(x, y, routing)


def _suits_torch(x: torch.Tensor, *sizes: int) -> bool:
    aligned = all(size % _ALIGNMENT == 0 for size in sizes)
    return x.is_cuda and x.dtype == torch.bfloat16 and x.shape[0] > 0 and aligned and get_gpu_compute_capability() >= 90


_BACKEND = ExpertBackend(GpuProducts(), weighted_activation_triton, combine_rows_triton)

moe_experts_triton = _BACKEND.standard
moe_experts_gpt_oss_triton = _BACKEND.gpt_oss
