"""``PREMUL_SUM`` for HCCL, which knows only ``SUM``: what a rank contributes is multiplied before it is added.

After the sum would be too late, as float16 may overflow in it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import distributed
from torch.distributed import ReduceOp


def _multiply_each(tensors: list[torch.Tensor], factor: Any) -> list[torch.Tensor]:
    return [tensor * factor for tensor in tensors]


_PATCHED: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "all_reduce": ("tensor", torch.Tensor.mul_),
    "reduce_scatter": ("input_list", _multiply_each),
    "reduce_scatter_tensor": ("input", torch.mul),
}
"""The collectives that FSDP calls with a factor, the argument of each that holds what the rank contributes, and what
multiplies it: in place where the argument also receives the result."""


def apply_hccl_premul_sum_patch() -> None:
    """Patch the collectives of torch.distributed; doing it again changes nothing."""
    for name, (contribution, multiply) in _PATCHED.items():
        collective = getattr(distributed, name)
        if not getattr(collective, "multiplies_before", False):
            setattr(distributed, name, multiply_before(collective, contribution, multiply))


def multiply_before(
    collective: Callable[..., Any], contribution: str, multiply: Callable[[Any, Any], Any]
) -> Callable[..., Any]:
    """Wrap *collective*: ``PREMUL_SUM`` becomes ``SUM``, after its argument *contribution* is multiplied."""
    signature = inspect.signature(collective)

    @functools.wraps(collective)
    def multiplied(*arguments: Any, **options: Any) -> Any:
        bound = signature.bind(*arguments, **options)
        factor = _factor(bound.arguments.get("op"))
        if factor is None:
            return collective(*arguments, **options)
        bound.arguments["op"] = ReduceOp.SUM
        bound.arguments[contribution] = multiply(bound.arguments[contribution], factor)
        return collective(*bound.args, **bound.kwargs)

    multiplied.multiplies_before = True  # type: ignore[attr-defined]
    return multiplied


def _factor(operation: Any) -> Any:
    """The factor of a ``PREMUL_SUM``, None for any other operation."""
    if not isinstance(operation, ReduceOp) or operation != ReduceOp.PREMUL_SUM:
        return None
    return operation.__getstate__()[1]
