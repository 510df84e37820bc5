"""Kernels with one tile size and one order of addition for every shape of the batch."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from ..kernels.triton_support import check_device, dot

_ROWS, _COLUMNS = 128, 128
_GROUP = 8
_BLOCK = 4096


@triton.jit
def _matmul(
    a_ptr, b_ptr, bias_ptr, out_ptr, rows, columns, inner, alpha, beta,
    a_batch, a_row, a_inner, b_batch, b_inner, b_column, bias_batch, bias_row, bias_column,
    HAS_BIAS: tl.constexpr, GROUP: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr,
):  # fmt: skip
    # Tiles of a few rows and all columns follow each other, so that the matrix b stays in the cache.
    row_tiles = tl.cdiv(rows, ROWS)
    column_tiles = tl.cdiv(columns, COLUMNS)
    batch = (tl.program_id(0) // (row_tiles * column_tiles)).to(tl.int64)
    tile = tl.program_id(0) % (row_tiles * column_tiles)
    group = tile // (GROUP * column_tiles)
    height = tl.minimum(row_tiles - group * GROUP, GROUP)
    within = tile % (GROUP * column_tiles)
    row = ((group * GROUP + within % height) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    column = ((within // height) * COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)
    k = tl.arange(0, INNER).to(tl.int64)
    a_at = a_ptr + batch * a_batch + row[:, None] * a_row + k[None, :] * a_inner
    b_at = b_ptr + batch * b_batch + k[:, None] * b_inner + column[None, :] * b_column
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, inner, INNER):
        left = inner - start
        a = tl.load(a_at + start * a_inner, mask=(row < rows)[:, None] & (k < left)[None, :], other=0.0)
        b = tl.load(b_at + start * b_inner, mask=(k < left)[:, None] & (column < columns)[None, :], other=0.0)
        total = dot(a, b, total)
    mask = (row < rows)[:, None] & (column < columns)[None, :]
    total = total * alpha
    if HAS_BIAS:
        bias_at = bias_ptr + batch * bias_batch + row[:, None] * bias_row + column[None, :] * bias_column
        total += beta * tl.load(bias_at, mask=mask, other=0.0).to(tl.float32)
    out_at = out_ptr + batch * rows * columns + row[:, None] * columns + column[None, :]
    tl.store(out_at, total.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _log_softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    highest = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        mask = start + column < columns
        x = tl.load(x_ptr + row * columns + start + column, mask=mask, other=float("-inf")).to(tl.float32)
        new_highest = tl.maximum(highest, x)
        # A lane that has seen nothing but -inf yet would compute -inf - -inf.
        base = tl.where(new_highest == float("-inf"), 0.0, new_highest)
        total = total * tl.exp(highest - base) + tl.exp(x - base)
        highest = new_highest
    maximum = tl.max(highest, axis=0)
    lse = maximum + tl.log(tl.sum(total * tl.exp(highest - maximum), axis=0))
    for start in range(0, columns, BLOCK):
        mask = start + column < columns
        at = row * columns + start + column
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + at, (x - lse).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _mean(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        total += tl.load(x_ptr + row * columns + start + column, mask=start + column < columns, other=0.0).to(
            tl.float32
        )
    tl.store(out_ptr + row, (tl.sum(total, axis=0) / columns).to(out_ptr.dtype.element_ty))


def matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    output: torch.Tensor,
    bias: torch.Tensor | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
) -> None:
    """Write ``alpha * a @ b + beta * bias`` to the contiguous *output*, which may be *bias*.

    For each matrix of (batch, rows, inner) and (batch, inner, columns); the others are (batch, rows, columns).
    """
    check_device(a, b, output)
    batch, rows, inner = a.shape
    columns = b.shape[2]
    if output.numel():
        # One axis for all: the others are limited to 65535.
        _matmul[(batch * triton.cdiv(rows, _ROWS) * triton.cdiv(columns, _COLUMNS),)](
            a, b, bias, output, rows, columns, inner, alpha, beta,
            *a.stride(), *b.stride(), *((0, 0, 0) if bias is None else bias.stride()),
            HAS_BIAS=bias is not None, GROUP=_GROUP, ROWS=_ROWS, COLUMNS=_COLUMNS,
            INNER=32 if a.dtype == torch.float32 else 64, num_warps=8, num_stages=3,
        )  # fmt: skip


def log_softmax_rows(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The log-softmax of the last dimension of the contiguous *x*."""
    check_device(x)
    output = torch.empty_like(x, dtype=dtype)
    if x.numel():
        _log_softmax[(x.numel() // x.shape[-1],)](x, output, x.shape[-1], BLOCK=_BLOCK, num_warps=8)
    return output


def mean_rows(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The mean of the last dimension; NaN where it is empty, as in torch."""
    check_device(x)
    x = x.contiguous()
    output = torch.full(x.shape[:-1], float("nan"), dtype=dtype, device=x.device)
    if x.numel():
        _mean[(output.numel(),)](x, output, x.shape[-1], BLOCK=_BLOCK, num_warps=8)
    return output
