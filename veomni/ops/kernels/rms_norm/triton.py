"""RMSNorm in Triton. A row is normalised by one program in one fixed order, so no other row changes its result."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from ....utils.device import get_multiprocessor_count
from ..triton_support import block_of, check_device, warps_for

_LARGEST_ROW = 65_536
_TILE = 2048
_WARPS_PER_MULTIPROCESSOR = 24
"""As many as fit with the registers of the backward kernel: more programs than run at once would leave a tail."""


@triton.jit
def _forward(
    x_ptr, weight_ptr, y_ptr, rstd_ptr, rows, columns, eps,
    HAS_WEIGHT: tl.constexpr, OFFSET: tl.constexpr, LATE_CAST: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    mask = (row < rows)[:, None] & (column < columns)[None, :]
    at = row[:, None] * columns + column[None, :]
    stored = tl.load(x_ptr + at, mask=mask, other=0.0)
    x = stored.to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=1) / columns + eps)
    y = x * rstd[:, None]
    if HAS_WEIGHT:
        weight = tl.load(weight_ptr + column, mask=column < columns, other=0.0).to(tl.float32)
        if not LATE_CAST:
            y = y.to(stored.dtype).to(tl.float32)
        y = y * (weight + OFFSET)[None, :]
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=mask)
    tl.store(rstd_ptr + row, rstd, mask=row < rows)


@triton.jit
def _backward(
    dy_ptr, x_ptr, weight_ptr, rstd_ptr, dx_ptr, partial_ptr, rows, columns,
    HAS_WEIGHT: tl.constexpr, OFFSET: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    column = tl.arange(0, BLOCK)
    inside = column < columns
    if HAS_WEIGHT:
        weight = tl.load(weight_ptr + column, mask=inside, other=0.0).to(tl.float32) + OFFSET
        dweight = tl.zeros((BLOCK,), tl.float32)
    for tile in range(tl.program_id(0), tl.cdiv(rows, ROWS), tl.num_programs(0)):
        row = tile * ROWS + tl.arange(0, ROWS).to(tl.int64)
        mask = (row < rows)[:, None] & inside[None, :]
        at = row[:, None] * columns + column[None, :]
        dy = tl.load(dy_ptr + at, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row, mask=row < rows, other=0.0)
        normalised = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32) * rstd[:, None]
        if HAS_WEIGHT:
            dweight += tl.sum(dy * normalised, axis=0)
            dy = dy * weight[None, :]
        projection = tl.sum(dy * normalised, axis=1) / columns
        dx = (dy - normalised * projection[:, None]) * rstd[:, None]
        tl.store(dx_ptr + at, dx.to(dx_ptr.dtype.element_ty), mask=mask)
    if HAS_WEIGHT:
        tl.store(partial_ptr + tl.program_id(0) * columns + column, dweight, mask=inside)


class _RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden_states: torch.Tensor, weight: torch.Tensor | None, eps: float, offset: float, late_cast: bool
    ) -> torch.Tensor:
        output, rstd = rms_norm_forward(hidden_states, weight, eps, offset, late_cast)
        ctx.save_for_backward(hidden_states, weight, rstd)
        ctx.offset = offset
        return output

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return *rms_norm_backward(grad, *ctx.saved_tensors, ctx.offset), None, None, None


def rms_norm_triton(hidden_states: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The variant ``standard``: the normalised row is rounded to the input dtype before it is scaled."""
    return _RmsNorm.apply(hidden_states, weight, eps, 0.0, False)


def rms_norm_qwen3_5_triton(hidden_states: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The variant ``qwen3_5``: scaled by ``1 + weight`` in float32."""
    return _RmsNorm.apply(hidden_states, weight, eps, 1.0, True)


def rms_norm_unweighted_triton(hidden_states: torch.Tensor, eps: float) -> torch.Tensor:
    """The variant ``unweighted``."""
    return _RmsNorm.apply(hidden_states, None, eps, 0.0, True)


def rms_norm_module_forward(self: Any, hidden_states: torch.Tensor) -> torch.Tensor:
    """The variant ``standard`` as the ``forward`` of a module that holds ``weight`` and ``variance_epsilon``."""
    return rms_norm_triton(hidden_states, self.weight, self.variance_epsilon)


def rms_norm_forward(
    hidden_states: torch.Tensor, weight: torch.Tensor | None, eps: float, offset: float, late_cast: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the output and the reciprocal root mean square of each row, without autograd.

    Raises:
        ValueError: the weight does not have one element for each column, or a row is too long.
    """
    check_device(hidden_states)
    rows, columns, block, tile_rows = _shape(hidden_states)
    if weight is not None and weight.shape != (columns,):
        raise ValueError(f"a weight {tuple(weight.shape)} does not fit rows of {columns} columns")
    x, weight = hidden_states.contiguous(), _dense(weight)
    dtype = x.dtype if weight is None or late_cast else torch.promote_types(x.dtype, weight.dtype)
    output = torch.empty_like(x, dtype=dtype)
    rstd = torch.empty(rows, dtype=torch.float32, device=x.device)
    if x.numel():
        _forward[(triton.cdiv(rows, tile_rows),)](
            x, weight, output, rstd, rows, columns, eps,
            HAS_WEIGHT=weight is not None, OFFSET=offset, LATE_CAST=late_cast, ROWS=tile_rows, BLOCK=block,
            num_warps=warps_for(block * tile_rows),
        )  # fmt: skip
    return output, rstd


def rms_norm_backward(
    grad: torch.Tensor, hidden_states: torch.Tensor, weight: torch.Tensor | None, rstd: torch.Tensor, offset: float
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return the gradients of the input and of the weight, without autograd."""
    rows, columns, block, tile_rows = _shape(hidden_states)
    x, grad, weight = hidden_states.contiguous(), grad.contiguous(), _dense(weight)
    dx = torch.empty_like(x)
    warps = warps_for(block * tile_rows)
    resident = max(1, _WARPS_PER_MULTIPROCESSOR // warps) * get_multiprocessor_count()
    programs = min(triton.cdiv(rows, tile_rows), resident)
    partial = None if weight is None else torch.empty(programs, columns, dtype=torch.float32, device=x.device)
    if x.numel():
        _backward[(programs,)](
            grad, x, weight, rstd, dx, partial, rows, columns,
            HAS_WEIGHT=weight is not None, OFFSET=offset, ROWS=tile_rows, BLOCK=block, num_warps=warps,
        )  # fmt: skip
    return dx, None if weight is None or partial is None else partial.sum(0).to(weight.dtype)


def _shape(hidden_states: torch.Tensor) -> tuple[int, int, int, int]:
    """Rows, columns, and the tile: it depends on the columns only, or a row's result would depend on the batch."""
    columns = hidden_states.shape[-1]
    block = block_of(columns, _LARGEST_ROW)
    return hidden_states.numel() // max(columns, 1), columns, block, max(1, _TILE // block)


def _dense(weight: torch.Tensor | None) -> torch.Tensor | None:
    return None if weight is None else weight.contiguous()
