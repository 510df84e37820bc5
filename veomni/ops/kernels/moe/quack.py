"""Experts with the grouped products of quack-kernels (Hopper and later)."""

from __future__ import annotations

import torch
from quack.gemm_interface import gemm

from .grouped import ExpertBackend
from .routing import Routing
from .triton_rows import combine_rows_triton, weighted_activation_triton

_ALIGNMENT = 8
"""Rows begin at multiples of 16 bytes."""


class QuackProducts:
    """The products of quack, whose groups are given by where each begins."""

    def rows(self, x: torch.Tensor, weight: torch.Tensor, routing: Routing) -> torch.Tensor:
        """Multiply the rows of each expert by its matrix (experts, in, out).

        Raises:
            ValueError: quack cannot multiply the dtype or the sizes.
        """
        _check(x, *weight.shape[1:])
        # Tuning would time the kernel for each new number of rows, in the middle of training.
        return gemm(x, weight, cu_seqlens_m=routing.starts(), tuned=False)

    def weights(self, x: torch.Tensor, y: torch.Tensor, routing: Routing) -> torch.Tensor:
        """For each expert ``x.T @ y`` over its rows; errors as ``rows``."""
        _check(x, x.shape[1], y.shape[1])
        return gemm(x.t(), y, cu_seqlens_k=routing.starts(), tuned=False)


def _check(x: torch.Tensor, *sizes: int) -> None:
    if x.dtype not in (torch.bfloat16, torch.float16) or any(size % _ALIGNMENT for size in sizes):
        raise ValueError(
            f"quack multiplies bfloat16 and float16 with sizes that are multiples of {_ALIGNMENT}, "
            f"not {x.dtype} with {' and '.join(map(str, sizes))}"
        )


_BACKEND = ExpertBackend(QuackProducts(), weighted_activation_triton, combine_rows_triton)

moe_experts_quack = _BACKEND.standard
moe_experts_gpt_oss_quack = _BACKEND.gpt_oss
