"""Experts with the grouped products of quack-kernels (Hopper and later)."""

from __future__ import annotations

import torch
from quack.gemm_interface import gemm

from .grouped import ExpertBackend
from .routing import Routing
from .triton_rows import combine_rows_triton, weighted_activation_triton


class QuackProducts:
    """The products of quack, whose groups are given by where each begins."""

    def rows(self, x: torch.Tensor, weight: torch.Tensor, routing: Routing) -> torch.Tensor:
        """Multiply the rows of each expert by its matrix (experts, in, out)."""
        # Tuning would time the kernel for each new number of rows, in the middle of training.
        return gemm(x, weight, cu_seqlens_m=routing.starts(), tuned=False)

    def weights(self, x: torch.Tensor, y: torch.Tensor, routing: Routing) -> torch.Tensor:
        """For each expert ``x.T @ y`` over its rows."""
        return gemm(x.t(), y, cu_seqlens_k=routing.starts(), tuned=False)


_BACKEND = ExpertBackend(QuackProducts(), weighted_activation_triton, combine_rows_triton)

moe_experts_quack = _BACKEND.standard
moe_experts_gpt_oss_quack = _BACKEND.gpt_oss
