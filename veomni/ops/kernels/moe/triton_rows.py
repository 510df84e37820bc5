"""What surrounds the products of experts, in Triton: the weighted activation and the sum over a token's rows."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from ..triton_support import check_device
from .routing import Routing

_COLUMNS = 1024
_ROWS = 4


@triton.jit
def _factors(gate_raw, up_raw, LIMIT: tl.constexpr, ALPHA: tl.constexpr):
    """The clamped gate, its sigmoid, and the other factor."""
    gate = gate_raw
    factor = up_raw
    if LIMIT is not None:
        gate = tl.minimum(gate_raw, LIMIT, propagate_nan=tl.PropagateNan.ALL)
        factor = tl.clamp(up_raw, -LIMIT, LIMIT, propagate_nan=tl.PropagateNan.ALL)
    if ALPHA is None:
        sigmoid = tl.sigmoid(gate)
    else:
        sigmoid = tl.sigmoid(gate * ALPHA)
        factor = factor + 1.0
    return gate, sigmoid, factor


@triton.jit
def _activate(
    gate_up_ptr, weight_ptr, out_ptr, rows, half, gate_step, up_start,
    LIMIT: tl.constexpr, ALPHA: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    mask = (row < rows)[:, None] & (column < half)[None, :]
    at = gate_up_ptr + row[:, None] * 2 * half + column[None, :] * gate_step
    gate, sigmoid, factor = _factors(
        tl.load(at, mask=mask, other=0.0).to(tl.float32),
        tl.load(at + up_start, mask=mask, other=0.0).to(tl.float32),
        LIMIT,
        ALPHA,
    )
    weight = tl.load(weight_ptr + row, mask=row < rows, other=0.0).to(tl.float32)
    output = weight[:, None] * gate * sigmoid * factor
    tl.store(out_ptr + row[:, None] * half + column[None, :], output.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _activate_backward(
    grad_ptr, gate_up_ptr, weight_ptr, dgate_up_ptr, dweight_ptr, rows, half, gate_step, up_start,
    LIMIT: tl.constexpr, ALPHA: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    weight = tl.load(weight_ptr + row, mask=row < rows, other=0.0).to(tl.float32)[:, None]
    dweight = tl.zeros((ROWS,), tl.float32)
    for start in range(0, half, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        mask = (row < rows)[:, None] & (column < half)[None, :]
        at = row[:, None] * 2 * half + column[None, :] * gate_step
        gate_raw = tl.load(gate_up_ptr + at, mask=mask, other=0.0).to(tl.float32)
        up_raw = tl.load(gate_up_ptr + at + up_start, mask=mask, other=0.0).to(tl.float32)
        gate, sigmoid, factor = _factors(gate_raw, up_raw, LIMIT, ALPHA)
        grad = tl.load(grad_ptr + row[:, None] * half + column[None, :], mask=mask, other=0.0).to(tl.float32)
        dweight += tl.sum(grad * gate * sigmoid * factor, axis=1)
        if ALPHA is None:
            slope = sigmoid * (1.0 + gate * (1.0 - sigmoid))
        else:
            slope = sigmoid * (1.0 + ALPHA * gate * (1.0 - sigmoid))
        dgate = grad * weight * factor * slope
        dup = grad * weight * gate * sigmoid
        if LIMIT is not None:
            dgate = tl.where(gate_raw <= LIMIT, dgate, 0.0)
            dup = tl.where((up_raw >= -LIMIT) & (up_raw <= LIMIT), dup, 0.0)
        tl.store(dgate_up_ptr + at, dgate.to(dgate_up_ptr.dtype.element_ty), mask=mask)
        tl.store(dgate_up_ptr + at + up_start, dup.to(dgate_up_ptr.dtype.element_ty), mask=mask)
    tl.store(dweight_ptr + row, dweight.to(dweight_ptr.dtype.element_ty), mask=row < rows)


@triton.jit
def _combine(rows_ptr, inverse_ptr, end_ptr, out_ptr, columns, TOP_K: tl.constexpr, COLUMNS: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    end = tl.load(end_ptr)
    total = tl.zeros((COLUMNS,), tl.float32)
    for choice in tl.static_range(TOP_K):
        row = tl.load(inverse_ptr + token * TOP_K + choice)
        # A row behind the last expert's has nothing to read.
        readable = tl.where(row < end, columns, 0)
        total += tl.load(rows_ptr + row * columns + column, mask=column < readable, other=0.0).to(tl.float32)
    tl.store(out_ptr + token * columns + column, total.to(out_ptr.dtype.element_ty), mask=column < columns)


class _WeightedActivation(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        gate_up: torch.Tensor,
        weights: torch.Tensor,
        limit: float | None,
        alpha: float | None,
        interleaved: bool,
    ) -> torch.Tensor:
        check_device(gate_up, weights)
        gate_up, weights = gate_up.contiguous(), weights.contiguous()
        rows, half = gate_up.shape[0], gate_up.shape[1] // 2
        layout = (2, 1) if interleaved else (1, half)
        output = torch.empty(rows, half, dtype=gate_up.dtype, device=gate_up.device)
        if output.numel():
            block = min(_COLUMNS, triton.next_power_of_2(half))
            _activate[(triton.cdiv(rows, _ROWS), triton.cdiv(half, block))](
                gate_up, weights, output, rows, half, *layout,
                LIMIT=limit, ALPHA=alpha, ROWS=_ROWS, COLUMNS=block, num_warps=8,
            )  # fmt: skip
        ctx.save_for_backward(gate_up, weights)
        ctx.layout, ctx.limit, ctx.alpha = layout, limit, alpha
        return output

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        gate_up, weights = ctx.saved_tensors
        rows, half = gate_up.shape[0], gate_up.shape[1] // 2
        dgate_up, dweights = torch.empty_like(gate_up), torch.empty_like(weights)
        if rows:
            _activate_backward[(triton.cdiv(rows, _ROWS),)](
                grad.contiguous(), gate_up, weights, dgate_up, dweights, rows, half, *ctx.layout,
                LIMIT=ctx.limit, ALPHA=ctx.alpha, ROWS=_ROWS, COLUMNS=min(_COLUMNS, triton.next_power_of_2(half)),
                num_warps=8,
            )  # fmt: skip
        return dgate_up, dweights, None, None, None


def weighted_activation_triton(
    gate_up: torch.Tensor, weights: torch.Tensor, limit: float | None, alpha: float | None, *, interleaved: bool
) -> torch.Tensor:
    """As ``grouped.weighted_activation``, in one pass forward and one backward."""
    return _WeightedActivation.apply(gate_up, weights, limit, alpha, interleaved)


def combine_rows_triton(rows: torch.Tensor, routing: Routing) -> torch.Tensor:
    """As ``grouped.combine_rows``, without a copy of the rows; the order of the sum is that of the choices."""
    check_device(rows, routing.inverse)
    rows = rows.contiguous()
    tokens, top_k = routing.inverse.shape
    output = torch.empty(tokens, rows.shape[1], dtype=rows.dtype, device=rows.device)
    if output.numel():
        block = min(_COLUMNS, triton.next_power_of_2(rows.shape[1]))
        _combine[(tokens, triton.cdiv(rows.shape[1], block))](
            rows, routing.inverse, routing.ends[-1], output, rows.shape[1], TOP_K=top_k, COLUMNS=block, num_warps=4
        )  # fmt: skip
    return output
