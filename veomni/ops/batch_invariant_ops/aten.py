"""The intercepted operators with the signatures of ATen, on the kernels of ``triton.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .triton import log_softmax_rows, matmul, mean_rows

_DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def mm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """``aten::mm``."""
    if not _covered(a, b):
        # The variant with an output is not intercepted.
        return torch.mm(a, b, out=torch.empty(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device))
    _check_inner(a, b)
    return matmul(a[None], b[None])[0]


def addmm(bias: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, beta: float = 1, alpha: float = 1) -> torch.Tensor:
    """``aten::addmm``."""
    if not _covered(a, b, bias):
        out = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
        return torch.addmm(bias, a, b, beta=beta, alpha=alpha, out=out)
    _check_inner(a, b)
    expanded = bias.expand(a.shape[0], b.shape[1])
    return matmul(a[None], b[None], None if beta == 0 else expanded, float(alpha), float(beta))[0]


def bmm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """``aten::bmm``."""
    if not _covered(a, b):
        shape = (a.shape[0], a.shape[1], b.shape[2])
        return torch.bmm(a, b, out=torch.empty(shape, dtype=a.dtype, device=a.device))
    if a.shape[0] != b.shape[0]:
        raise RuntimeError(f"bmm of batches of {a.shape[0]} and {b.shape[0]}")
    _check_inner(a, b)
    return matmul(a, b)


def log_softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    """``aten::_log_softmax``."""
    dtype = torch.float32 if half_to_float else x.dtype
    if not _covered(x) or x.dim() == 0:
        return torch.log_softmax(x, dim, out=torch.empty(x.shape, dtype=dtype, device=x.device))
    rows = x.movedim(dim, -1).contiguous()
    return log_softmax_rows(rows, dtype).movedim(-1, dim)


def mean(
    x: torch.Tensor, dim: Sequence[int] | None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """``aten::mean.dim``."""
    result = x.dtype if dtype is None else dtype
    if not _covered(x) or result not in _DTYPES:
        out = torch.empty(0, dtype=result, device=x.device)
        return torch.mean(x, dim, keepdim, dtype=dtype, out=out)
    dims = sorted({d % max(x.dim(), 1) for d in dim} if dim else range(x.dim()))
    kept = [d for d in range(x.dim()) if d not in dims]
    rows = x.permute(*kept, *dims).reshape(*(x.shape[d] for d in kept), -1) if x.dim() else x.reshape(1)
    averages = mean_rows(rows, result)
    return averages.reshape([1 if d in dims else x.shape[d] for d in range(x.dim())]) if keepdim else averages


OVERRIDES: dict[str, Callable[..., Any]] = {
    "mm": mm,
    "addmm": addmm,
    "bmm": bmm,
    "_log_softmax": log_softmax,
    "mean.dim": mean,
}


def _covered(*tensors: torch.Tensor) -> bool:
    return tensors[0].dtype in _DTYPES and all(x.dtype == tensors[0].dtype for x in tensors)


def _check_inner(a: torch.Tensor, b: torch.Tensor) -> None:
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({tuple(a.shape)} and {tuple(b.shape)})")
