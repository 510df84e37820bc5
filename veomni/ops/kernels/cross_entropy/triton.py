"""Cross-entropy on a chunk of logits in Triton: their gradient takes the place of the logits."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from ..triton_support import check_device
from .reduction import IGNORE_INDEX

_BLOCK = 8192


@triton.jit
def _to_gradient(
    logits_ptr, label_ptr, scale_ptr, loss_ptr, columns, row_stride, IGNORED: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(label_ptr + row)
    logits_ptr += row * row_stride
    column = tl.arange(0, BLOCK)
    dtype = logits_ptr.dtype.element_ty
    if label == IGNORED:
        for start in range(0, columns, BLOCK):
            tl.store(logits_ptr + start + column, tl.zeros((BLOCK,), dtype), mask=start + column < columns)
        tl.store(loss_ptr + row, 0.0)
    else:
        # Each lane keeps its own running maximum and sum, so that the loop holds no reduction.
        highest = tl.full((BLOCK,), float("-inf"), tl.float32)
        total = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, columns, BLOCK):
            mask = start + column < columns
            x = tl.load(logits_ptr + start + column, mask=mask, other=float("-inf")).to(tl.float32)
            new_highest = tl.maximum(highest, x)
            # A lane that has seen nothing but -inf yet would compute -inf - -inf.
            base = tl.where(new_highest == float("-inf"), 0.0, new_highest)
            total = total * tl.exp(highest - base) + tl.exp(x - base)
            highest = new_highest
        maximum = tl.max(highest, axis=0)
        lse = maximum + tl.log(tl.sum(total * tl.exp(highest - maximum), axis=0))
        tl.store(loss_ptr + row, lse - tl.load(logits_ptr + label).to(tl.float32))
        tl.debug_barrier()
        scale = tl.load(scale_ptr)
        for start in range(0, columns, BLOCK):
            mask = start + column < columns
            x = tl.load(logits_ptr + start + column, mask=mask, other=float("-inf")).to(tl.float32)
            gradient = (tl.exp(x - lse) - tl.where(start + column == label, 1.0, 0.0)) * scale
            tl.store(logits_ptr + start + column, gradient.to(dtype), mask=mask)


@triton.jit
def _scale(tensor_ptr, factor_ptr, size, BLOCK: tl.constexpr):
    factor = tl.load(factor_ptr).to(tl.float32)
    if factor != 1.0:
        at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(tensor_ptr + at, mask=at < size, other=0.0).to(tl.float32)
        tl.store(tensor_ptr + at, (x * factor).to(tensor_ptr.dtype.element_ty), mask=at < size)


def loss_to_gradient_triton_(logits: torch.Tensor, labels: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Overwrite *logits* by the gradient of their losses times *scale*, and return the loss of each row.

    *labels* are classes or IGNORE_INDEX; the caller makes sure of it.
    """
    check_device(logits, labels, scale)
    rows, columns = logits.shape
    losses = torch.empty(rows, dtype=torch.float32, device=logits.device)
    if logits.numel():
        _to_gradient[(rows,)](
            logits, labels.contiguous(), scale, losses, columns, logits.stride(0),
            IGNORED=IGNORE_INDEX, BLOCK=min(_BLOCK, triton.next_power_of_2(columns)), num_warps=8,
        )  # fmt: skip
    return losses


def scale_unless_one_(tensor: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    """Multiply the contiguous *tensor* in place by a scalar that stays on the device."""
    check_device(tensor, factor)
    if tensor.numel():
        _scale[(triton.cdiv(tensor.numel(), _BLOCK),)](tensor, factor, tensor.numel(), BLOCK=_BLOCK, num_warps=8)
    return tensor
