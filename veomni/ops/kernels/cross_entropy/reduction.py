"""The mean over all labels of a sequence, also where the sequence is cut up among ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import distributed
from torch.nn import functional

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup

IGNORE_INDEX = -100
"""The label of a position that has none."""


class _SumOverRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, loss: torch.Tensor, group: ProcessGroup) -> torch.Tensor:  # noqa: ARG004  fixed by autograd
        total = loss.clone()
        distributed.all_reduce(total, group=group)
        return total

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:  # noqa: ARG004  fixed by autograd
        # Each rank differentiates its own share; the gradients are summed over the ranks like all others.
        return grad, None


def shift_labels(labels: torch.Tensor) -> torch.Tensor:
    """Move each label of (batch, tokens) one position to the left, to where it is predicted."""
    return functional.pad(labels, (0, 1), value=IGNORE_INDEX)[..., 1:]


def predicted_labels(labels: torch.Tensor, shifted: bool, group: ProcessGroup | None) -> torch.Tensor:
    """The labels where they are predicted: moved there, unless they are *shifted* already.

    Raises:
        ValueError: they are those of part of a sequence, whose last label is on the next rank of *group*.
    """
    if shifted:
        return labels
    if group is not None:
        raise ValueError(
            "labels of part of a sequence cannot be shifted: call shift_labels on the whole sequence before it is cut "
            "up among the ranks, and the loss with shifted=True"
        )
    return shift_labels(labels)


def assert_classes(labels: torch.Tensor, classes: int) -> None:
    """End the program at a label that is neither a class nor IGNORE_INDEX; a GPU is not waited for."""
    known = (labels == IGNORE_INDEX) | (labels == labels.clamp(0, classes - 1))
    torch._assert_async(known.all(), f"a label is neither {IGNORE_INDEX} nor one of {classes} classes")


def global_count(labels: torch.Tensor, group: ProcessGroup | None) -> torch.Tensor:
    """The number of labels that count, over all ranks of *group*; at least one, so that no label gives no loss."""
    count = (labels != IGNORE_INDEX).sum().float()
    if group is not None:
        distributed.all_reduce(count, group=group)
    return count.clamp(min=1.0)


def all_reduce_loss(loss: torch.Tensor, group: ProcessGroup | None) -> torch.Tensor:
    """The sum of the shares of all ranks, of which each differentiates its own."""
    return loss if group is None else _SumOverRanks.apply(loss, group)
