"""Linear layer and cross-entropy over chunks of rows, so that the logits of all rows never exist at once.

The gradients are made in the forward pass, while the logits of a chunk are there. Runs on any device; on a GPU a
Triton kernel turns the logits of a chunk into their gradient in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from ....utils.import_utils import is_package_available
from .reduction import IGNORE_INDEX, all_reduce_loss, assert_classes, global_count, predicted_labels

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup

_LOGITS_BYTES = 512 * 1024**2
"""The memory that the logits of one chunk may take: few chunks keep the matrix products large."""

_RUN = 8
"""How many chunks are added in half precision, which about doubles the error of rounding once."""

ToGradient = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def causal_lm_chunk_loss(
    hidden_states: torch.Tensor,
    weight: torch.Tensor,
    labels: torch.Tensor,
    *,
    shifted: bool = False,
    group: ProcessGroup | None = None,
) -> torch.Tensor:
    """The variant ``causal``; see ``eager.py``."""
    return seq_cls_chunk_loss(hidden_states, weight, predicted_labels(labels, shifted, group), group=group)


def seq_cls_chunk_loss(
    hidden_states: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor, *, group: ProcessGroup | None = None
) -> torch.Tensor:
    """The variant ``seq_cls``; see ``eager.py``.

    Raises:
        ValueError: there is not one label for each row.
    """
    if labels.numel() != hidden_states.shape[:-1].numel():
        raise ValueError(f"labels {tuple(labels.shape)} do not fit rows {tuple(hidden_states.shape)}")
    if not torch.is_grad_enabled():
        # An autograd.Function is asked for gradients all the same.
        hidden_states, weight = hidden_states.detach(), weight.detach()
    loss = _ChunkLoss.apply(
        hidden_states.flatten(0, -2),
        weight.to(hidden_states.dtype),
        labels.flatten(),
        global_count(labels, group).reciprocal(),
    )
    return all_reduce_loss(loss, group)


class _ChunkLoss(torch.autograd.Function):
    """The sum of the losses of all rows, times *scale*."""

    @staticmethod
    def forward(
        ctx: Any, hidden_states: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor, scale: torch.Tensor
    ) -> torch.Tensor:
        rows, size = hidden_states.shape[0], chunk_rows(weight)
        wants_hidden, wants_weight = ctx.needs_input_grad[:2]
        # float16 holds neither a gradient that is divided by the number of labels nor every sum over all rows that is
        # not: backward divides, and until then a power of two keeps a sum that might be too large within its range.
        late = hidden_states.dtype == torch.float16 and rows > 0
        shrink = _into_float16(rows * torch.linalg.vector_norm(hidden_states, torch.inf).float()) if late else 1.0
        factor = torch.ones_like(scale) if late else scale
        to_gradient = _select(hidden_states)
        if labels.is_cuda:
            # Triton reads a logit wherever a label leads; what PyTorch indexes with, it checks itself.
            assert_classes(labels, weight.shape[0])
        hidden_states = hidden_states.contiguous()
        total = torch.zeros((), dtype=torch.float32, device=hidden_states.device)
        dhidden = torch.empty_like(hidden_states) if wants_hidden else None
        dweight = _WeightGradient(weight)
        buffer = torch.empty(min(rows, size), weight.shape[0], dtype=hidden_states.dtype, device=hidden_states.device)
        for start in range(0, rows, size):
            chunk = hidden_states[start : start + size]
            logits = torch.mm(chunk, weight.t(), out=buffer[: chunk.shape[0]])
            total += to_gradient(logits, labels[start : start + size], factor).sum()
            if dhidden is not None:
                torch.mm(logits, weight, out=dhidden[start : start + size])
            if wants_weight:
                dweight.add(logits, chunk * shrink if late else chunk)
        ctx.gradients = dhidden, dweight.sum() if wants_weight else None
        ctx.factors = (scale, scale / shrink) if late else None
        return total * scale

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        if ctx.gradients is None:
            raise RuntimeError("chunk_loss hands out its gradients once; it cannot be differentiated a second time")
        gradients, ctx.gradients = ctx.gradients, None
        factors = (grad, grad) if ctx.factors is None else tuple(grad * factor for factor in ctx.factors)
        scaled = (None if x is None else _scale_(x, factor) for x, factor in zip(gradients, factors, strict=True))
        return *scaled, None, None


class _WeightGradient:
    """The sum over chunks of ``logits.T @ rows``: in the dtype of the weight, but in float32 over many chunks."""

    def __init__(self, weight: torch.Tensor) -> None:
        self._weight = weight
        self._run: torch.Tensor | None = None
        self._run_length = 0
        self._total: torch.Tensor | None = None

    def add(self, logits: torch.Tensor, rows: torch.Tensor) -> None:
        """Add a chunk."""
        if self._run_length == _RUN and self._weight.dtype in (torch.bfloat16, torch.float16):
            self._total = self._run.float() if self._total is None else self._total.add_(self._run)
            self._run, self._run_length = None, 0
        if self._run is None:
            # Products with an output keep their dtype, whatever autocast asks of others.
            self._run = torch.mm(logits.t(), rows, out=torch.empty_like(self._weight))
        else:
            self._run.addmm_(logits.t(), rows)
        self._run_length += 1

    def sum(self) -> torch.Tensor:
        """The sum of the chunks added so far, in the dtype of the weight."""
        if self._run is None:
            return torch.zeros_like(self._weight)
        if self._total is None:
            return self._run
        return self._run.copy_(self._total.add_(self._run))


def _into_float16(largest: torch.Tensor) -> torch.Tensor:
    """The greatest power of two, at most one, by which *largest* has its place in float16."""
    return (32_768 / largest).log2().floor().clamp(max=0).exp2()


def chunk_rows(weight: torch.Tensor) -> int:
    """How many rows of logits fit into the memory of one chunk, in steps of 128."""
    fitting = _LOGITS_BYTES // max(1, weight.shape[0] * weight.element_size())
    return max(128, fitting // 128 * 128)


def loss_to_gradient_(logits: torch.Tensor, labels: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Overwrite *logits* by the gradient of their losses times *scale*, and return the loss of each row."""
    counted = labels != IGNORE_INDEX
    target = torch.where(counted, labels, 0)[:, None]
    log_probabilities = logits.float().log_softmax(-1)
    losses = torch.where(counted, -log_probabilities.gather(1, target)[:, 0], 0.0)
    gradient = log_probabilities.exp_()
    gradient.scatter_add_(1, target, torch.full_like(target, -1.0, dtype=gradient.dtype))
    logits.copy_(gradient * torch.where(counted, scale, 0.0)[:, None])
    return losses


def _select(tensor: torch.Tensor) -> ToGradient:
    if tensor.is_cuda and is_package_available("triton"):
        from .triton import loss_to_gradient_triton_

        return loss_to_gradient_triton_
    return loss_to_gradient_


def _scale_(tensor: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    """Multiply in place; on a GPU without touching the memory when the factor is one, which it nearly always is."""
    if tensor.is_cuda and is_package_available("triton"):
        from .triton import scale_unless_one_

        return scale_unless_one_(tensor, factor)
    return tensor.mul_(factor)
