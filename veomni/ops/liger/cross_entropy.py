"""Fused linear layer and cross-entropy of Liger as kernels of the ``cross_entropy_loss`` slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from liger_kernel.transformers.fused_linear_cross_entropy import LigerFusedLinearCrossEntropyLoss

from ..kernels.cross_entropy.reduction import IGNORE_INDEX, all_reduce_loss, global_count, predicted_labels

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup

_sum_of_losses = LigerFusedLinearCrossEntropyLoss(ignore_index=IGNORE_INDEX, reduction="sum")


def causal_lm_loss_liger(
    hidden_states: torch.Tensor,
    weight: torch.Tensor,
    labels: torch.Tensor,
    *,
    shifted: bool = False,
    group: ProcessGroup | None = None,
) -> torch.Tensor:
    """The variant ``causal``; see the eager definition."""
    return seq_cls_loss_liger(hidden_states, weight, predicted_labels(labels, shifted, group), group=group)


def seq_cls_loss_liger(
    hidden_states: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor, *, group: ProcessGroup | None = None
) -> torch.Tensor:
    """The variant ``seq_cls``; see the eager definition."""
    total = _sum_of_losses(weight, hidden_states.flatten(0, -2), labels.flatten())
    return all_reduce_loss(total / global_count(labels, group), group)
