"""Experts with the grouped products of torch_npu."""

from __future__ import annotations

import torch
import torch_npu

from .grouped import ExpertBackend, combine_rows, weighted_activation
from .routing import Routing

_ROWS_GROUPED, _INNER_GROUPED = 0, 2
_COUNTS = 1


class NpuProducts:
    """The products of torch_npu, whose groups are given by their sizes."""

    def rows(self, x: torch.Tensor, weight: torch.Tensor, routing: Routing) -> torch.Tensor:
        """Multiply the rows of each expert by its matrix (experts, in, out)."""
        return torch_npu.npu_grouped_matmul(
            [x], [weight], group_list=_counts(routing), split_item=2, group_type=_ROWS_GROUPED, group_list_type=_COUNTS
        )[0]

    def weights(self, x: torch.Tensor, y: torch.Tensor, routing: Routing) -> torch.Tensor:
        """For each expert ``x.T @ y`` over its rows."""
        return torch_npu.npu_grouped_matmul(
            [x.t()], [y], group_list=_counts(routing), split_item=3, group_type=_INNER_GROUPED, group_list_type=_COUNTS
        )[0]


def _counts(routing: Routing) -> torch.Tensor:
    return routing.starts().diff().long()


_BACKEND = ExpertBackend(NpuProducts(), weighted_activation, combine_rows)

moe_experts_npu = _BACKEND.standard
moe_experts_gpt_oss_npu = _BACKEND.gpt_oss
