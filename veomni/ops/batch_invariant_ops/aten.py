"""The intercepted operators with the signatures of ATen, on the kernels of ``triton.py``.

Each returns NotImplemented for what it does not cover. Torch then computes that, or says what is wrong with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .triton import log_softmax_rows, matmul, mean_rows

_DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def mm(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> Any:
    """``aten::mm``."""
    if not (a.dim() == b.dim() == 2 and a.shape[1] == b.shape[0] and _covered(a, b, out)):
        return NotImplemented
    return _multiply(a[None], b[None], (a.shape[0], b.shape[1]), out)


def bmm(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> Any:
    """``aten::bmm``."""
    if not (_are_stacks(a, b) and _covered(a, b, out)):
        return NotImplemented
    return _multiply(a, b, (*a.shape[:2], b.shape[2]), out)


def addmm(
    bias: torch.Tensor, a: torch.Tensor, b: torch.Tensor,
    *, beta: float = 1, alpha: float = 1, out: torch.Tensor | None = None,
) -> Any:  # fmt: skip
    """``aten::addmm``."""
    if not (a.dim() == b.dim() == 2 and a.shape[1] == b.shape[0] and _covered(a, b, bias, out)):
        return NotImplemented
    return _multiply(a[None], b[None], (a.shape[0], b.shape[1]), out, bias, beta, alpha)


def addmv(
    bias: torch.Tensor, a: torch.Tensor, x: torch.Tensor,
    *, beta: float = 1, alpha: float = 1, out: torch.Tensor | None = None,
) -> Any:  # fmt: skip
    """``aten::addmv``, which ``mv`` and products with a vector call."""
    if not (a.dim() == 2 and a.shape[1:] == x.shape and _covered(a, x, bias, out)):
        return NotImplemented
    return _multiply(a[None], x[None, :, None], (a.shape[0],), out, bias, beta, alpha)


def baddbmm(
    bias: torch.Tensor, a: torch.Tensor, b: torch.Tensor,
    *, beta: float = 1, alpha: float = 1, out: torch.Tensor | None = None,
) -> Any:  # fmt: skip
    """``aten::baddbmm``."""
    if not (_are_stacks(a, b) and _covered(a, b, bias, out)):
        return NotImplemented
    return _multiply(a, b, (*a.shape[:2], b.shape[2]), out, bias, beta, alpha)


def log_softmax(x: torch.Tensor, dim: int, half_to_float: bool, *, out: torch.Tensor | None = None) -> Any:
    """``aten::_log_softmax``."""
    dtype = torch.float32 if half_to_float else x.dtype
    if not (-x.dim() <= dim < x.dim() and _covered(x) and (out is None or out.dtype == dtype)):
        return NotImplemented
    rows = log_softmax_rows(x.movedim(dim, -1).contiguous(), dtype)
    return _write(out, rows.movedim(-1, dim).contiguous())


def mean(
    x: torch.Tensor,
    dim: Sequence[int] | None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
    out: torch.Tensor | None = None,
) -> Any:
    """``aten::mean.dim``."""
    result = x.dtype if dtype is None else dtype
    dims = sorted(d + x.dim() if d < 0 else d for d in dim) if dim else list(range(x.dim()))
    is_valid = len(set(dims)) == len(dims) and all(0 <= d < x.dim() for d in dims)
    if not (is_valid and x.dim() and _covered(x) and result in _DTYPES and (out is None or out.dtype == result)):
        return NotImplemented
    kept = [d for d in range(x.dim()) if d not in dims]
    rows = x.permute(*kept, *dims).reshape(*(x.shape[d] for d in kept), math.prod(x.shape[d] for d in dims))
    averages = mean_rows(rows, result)
    if keepdim:
        averages = averages.reshape([1 if d in dims else x.shape[d] for d in range(x.dim())])
    return _write(out, averages)


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(bias: torch.Tensor, *operands: torch.Tensor, **factors: float) -> Any:
        return function(bias, *operands, **factors, out=bias)

    return run


OVERRIDES: dict[str, Callable[..., Any]] = {
    "mm": mm,
    "mm.out": mm,
    "bmm": bmm,
    "bmm.out": bmm,
    "addmm": addmm,
    "addmm.out": addmm,
    "addmm_": _in_place(addmm),
    "addmv": addmv,
    "addmv.out": addmv,
    "addmv_": _in_place(addmv),
    "baddbmm": baddbmm,
    "baddbmm.out": baddbmm,
    "baddbmm_": _in_place(baddbmm),
    "_log_softmax": log_softmax,
    "_log_softmax.out": log_softmax,
    "mean.dim": mean,
    "mean.out": mean,
}


def _covered(first: torch.Tensor, *others: torch.Tensor | None) -> bool:
    return first.dtype in _DTYPES and all(
        x is None or (x.dtype == first.dtype and x.device == first.device) for x in others
    )


def _are_stacks(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.dim() == b.dim() == 3 and a.shape[0] == b.shape[0] and a.shape[2] == b.shape[1]


def _multiply(
    a: torch.Tensor, b: torch.Tensor, shape: tuple[int, ...], out: torch.Tensor | None,
    bias: torch.Tensor | None = None, beta: float = 0, alpha: float = 1,
) -> Any:  # fmt: skip
    """``alpha * a @ b + beta * bias`` of stacks of matrices, in *shape*, which leaves out a dimension of size one."""
    if bias is not None and not (bias.shape == shape if bias is out else _expands_to(bias, shape)):
        return NotImplemented
    stack = (*a.shape[:2], b.shape[2])
    added = None if bias is None or beta == 0 else bias.expand(shape).view(stack)
    in_out = out is not None and out.shape == shape and out.is_contiguous()
    output = out if in_out else torch.empty(shape, dtype=a.dtype, device=a.device)
    matmul(a, b, output.view(stack), added, float(alpha), float(beta))
    return output if in_out else _write(out, output)


def _expands_to(bias: torch.Tensor, shape: tuple[int, ...]) -> bool:
    sizes = zip(reversed(bias.shape), reversed(shape), strict=False)
    return bias.dim() <= len(shape) and all(size in (1, wanted) for size, wanted in sizes)


def _write(out: torch.Tensor | None, result: torch.Tensor) -> torch.Tensor:
    return result if out is None else out.resize_(result.shape).copy_(result)
