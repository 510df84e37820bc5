"""Linear layer and cross-entropy in plain PyTorch: the definition that every other implementation is tested against."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from .reduction import IGNORE_INDEX, all_reduce_loss, global_count, predicted_labels

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup


def causal_lm_loss_eager(
    hidden_states: torch.Tensor,
    weight: torch.Tensor,
    labels: torch.Tensor,
    *,
    shifted: bool = False,
    group: ProcessGroup | None = None,
) -> torch.Tensor:
    """The variant ``causal``: the mean loss of predicting, at each position, the label of the next one.

    With *shifted* the labels already stand where they are predicted, as they must before a sequence is cut up among
    the ranks of *group*; the mean is then that of the whole sequence, on every rank.
    """
    return seq_cls_loss_eager(hidden_states, weight, predicted_labels(labels, shifted, group), group=group)


def seq_cls_loss_eager(
    hidden_states: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor, *, group: ProcessGroup | None = None
) -> torch.Tensor:
    """The variant ``seq_cls``: the mean loss of the labels where they stand; IGNORE_INDEX stands for none."""
    logits = functional.linear(hidden_states, weight).flatten(0, -2).float()
    total = functional.cross_entropy(logits, labels.flatten(), ignore_index=IGNORE_INDEX, reduction="sum")
    return all_reduce_loss(total / global_count(labels, group), group)
