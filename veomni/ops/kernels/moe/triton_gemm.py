"""Matrix products over groups of rows in Triton, for what torch's grouped product does not cover."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from ..triton_support import check_device, dot
from .routing import Routing

_ROWS = 64
_OUT = 128
_SMALLEST = 16


@triton.jit
def _rows_product(
    x_ptr, weight_ptr, out_ptr, start_ptr, tile_end_ptr, experts, inner, columns,
    weight_expert, weight_inner, weight_column,
    EXPERTS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr,
):  # fmt: skip
    # On one axis, as the others end at 65535 programs.
    blocks = tl.cdiv(columns, COLUMNS)
    tile = tl.program_id(0) // blocks
    each = tl.arange(0, EXPERTS)
    ends = tl.load(tile_end_ptr + each, mask=each < experts, other=2**31 - 1)
    expert = tl.sum((ends <= tile).to(tl.int32), axis=0)
    if expert < experts:
        first_tile = tl.where(expert > 0, tl.load(tile_end_ptr + tl.maximum(expert - 1, 0)), 0)
        row = tl.load(start_ptr + expert) + (tile - first_tile) * ROWS + tl.arange(0, ROWS)
        row_mask = (row < tl.load(start_ptr + expert + 1))[:, None]
        column = tl.program_id(0) % blocks * COLUMNS + tl.arange(0, COLUMNS)
        column_mask = (column < columns)[None, :]
        k = tl.arange(0, INNER)
        x_at = x_ptr + row.to(tl.int64)[:, None] * inner + k[None, :]
        weight_at = weight_ptr + expert.to(tl.int64) * weight_expert
        weight_at += k.to(tl.int64)[:, None] * weight_inner + column.to(tl.int64)[None, :] * weight_column
        total = tl.zeros((ROWS, COLUMNS), tl.float32)
        for start in range(0, inner, INNER):
            x = tl.load(x_at + start, mask=row_mask & (start + k < inner)[None, :], other=0.0)
            weight = tl.load(
                weight_at + start * weight_inner, mask=column_mask & (start + k < inner)[:, None], other=0.0
            )
            total = dot(x, weight, total)
        out_at = out_ptr + row.to(tl.int64)[:, None] * columns + column[None, :]
        tl.store(out_at, total.to(out_ptr.dtype.element_ty), mask=row_mask & column_mask)


@triton.jit
def _weights_product(
    x_ptr, y_ptr, out_ptr, start_ptr, x_columns, y_columns,
    ROWS: tl.constexpr, X_COLUMNS: tl.constexpr, Y_COLUMNS: tl.constexpr,
):  # fmt: skip
    expert = tl.program_id(2)
    x_column = tl.program_id(1) * X_COLUMNS + tl.arange(0, X_COLUMNS)
    y_column = tl.program_id(0) * Y_COLUMNS + tl.arange(0, Y_COLUMNS)
    x_mask = (x_column < x_columns)[None, :]
    y_mask = (y_column < y_columns)[None, :]
    end = tl.load(start_ptr + expert + 1)
    total = tl.zeros((X_COLUMNS, Y_COLUMNS), tl.float32)
    for start in range(tl.load(start_ptr + expert), end, ROWS):
        row = start + tl.arange(0, ROWS).to(tl.int64)
        inside = (row < end)[:, None]
        x = tl.load(x_ptr + row[:, None] * x_columns + x_column[None, :], mask=inside & x_mask, other=0.0)
        y = tl.load(y_ptr + row[:, None] * y_columns + y_column[None, :], mask=inside & y_mask, other=0.0)
        total = dot(tl.trans(x), y, total)
    out_at = out_ptr + expert.to(tl.int64) * x_columns * y_columns
    out_at += x_column.to(tl.int64)[:, None] * y_columns + y_column[None, :]
    mask = (x_column < x_columns)[:, None] & y_mask
    tl.store(out_at, total.to(out_ptr.dtype.element_ty), mask=mask)


def rows_product(x: torch.Tensor, weight: torch.Tensor, routing: Routing) -> torch.Tensor:
    """Multiply the rows of each expert by its matrix (experts, in, out), which may be a transposed view.

    Raises:
        ValueError: rows and matrices differ in dtype or inner size.
    """
    check_device(x, weight)
    x = x.contiguous()
    experts, inner, columns = weight.shape
    if x.dtype != weight.dtype or x.shape[1] != inner:
        raise ValueError(f"rows {x.dtype} {tuple(x.shape)} do not fit matrices {weight.dtype} {tuple(weight.shape)}")
    output = torch.empty(x.shape[0], columns, dtype=x.dtype, device=x.device)
    if output.numel():
        starts = routing.starts()
        tile_ends = ((starts.diff() + (_ROWS - 1)) // _ROWS).cumsum(0, dtype=torch.int32)
        # Each expert can add at most one tile that is not full.
        tiles = triton.cdiv(x.shape[0], _ROWS) + experts
        block_columns, block_inner = _block(columns, _OUT), _inner_block(inner, x)
        _rows_product[(triton.cdiv(columns, block_columns) * tiles,)](
            x, weight, output, starts, tile_ends, experts, inner, columns, *weight.stride(),
            EXPERTS=triton.next_power_of_2(experts), ROWS=_ROWS, COLUMNS=block_columns, INNER=block_inner,
            num_warps=4, num_stages=3,
        )  # fmt: skip
    return output


def weights_product(x: torch.Tensor, y: torch.Tensor, routing: Routing) -> torch.Tensor:
    """For each expert ``x.T @ y`` over its rows: (experts, columns of x, columns of y)."""
    check_device(x, y)
    x, y = x.contiguous(), y.contiguous()
    experts = routing.ends.shape[0]
    output = torch.empty(experts, x.shape[1], y.shape[1], dtype=x.dtype, device=x.device)
    if output.numel():
        x_block, y_block = _block(x.shape[1], _OUT), _block(y.shape[1], _OUT)
        _weights_product[(triton.cdiv(y.shape[1], y_block), triton.cdiv(x.shape[1], x_block), experts)](
            x, y, output, routing.starts(), x.shape[1], y.shape[1],
            ROWS=32, X_COLUMNS=x_block, Y_COLUMNS=y_block, num_warps=8, num_stages=3,
        )  # fmt: skip
    return output


def _block(size: int, largest: int) -> int:
    return max(_SMALLEST, min(largest, triton.next_power_of_2(size)))


def _inner_block(size: int, x: torch.Tensor) -> int:
    return _block(size, 32 if x.dtype == torch.float32 else 64)
