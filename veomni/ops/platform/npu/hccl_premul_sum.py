"""``PREMUL_SUM`` for HCCL, which knows only ``SUM``: the factor is applied to the result, as the sum is linear."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from torch import distributed
from torch.distributed import ReduceOp

_PATCHED = {"all_reduce": "tensor", "reduce_scatter": "output", "reduce_scatter_tensor": "output"}
"""The collectives that FSDP calls with a factor, and the argument that receives the result of each."""


class _ScaledWork:
    """A collective under way whose result is scaled once, when it is waited for."""

    def __init__(self, work: Any, scale: Callable[[], None]) -> None:
        self._work, self._scale = work, scale

    def wait(self, *arguments: Any) -> bool:
        """Wait for the collective, then scale."""
        done = self._work.wait(*arguments)
        scale, self._scale = self._scale, lambda: None
        scale()
        return bool(done)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)


def apply_hccl_premul_sum_patch() -> None:
    """Patch the collectives of torch.distributed; doing it again changes nothing."""
    for name, output in _PATCHED.items():
        collective = getattr(distributed, name)
        if not getattr(collective, "scales_afterwards", False):
            setattr(distributed, name, scale_afterwards(collective, output))


def scale_afterwards(collective: Callable[..., Any], output: str) -> Callable[..., Any]:
    """Wrap *collective*: ``PREMUL_SUM`` becomes ``SUM``, and its argument *output* is multiplied afterwards."""
    signature = inspect.signature(collective)

    @functools.wraps(collective)
    def scaled(*arguments: Any, **options: Any) -> Any:
        bound = signature.bind(*arguments, **options)
        operation = bound.arguments.get("op")
        factor = _factor(operation)
        if factor is None:
            return collective(*arguments, **options)
        bound.arguments["op"] = ReduceOp.SUM
        work = collective(*bound.args, **bound.kwargs)
        target = bound.arguments[output]
        if work is None:
            target.mul_(factor)
            return None
        return _ScaledWork(work, lambda: target.mul_(factor))

    scaled.scales_afterwards = True  # type: ignore[attr-defined]
    return scaled


def _factor(operation: Any) -> Any:
    """The factor of a ``PREMUL_SUM``, None for any other operation."""
    if not isinstance(operation, ReduceOp) or operation != ReduceOp.PREMUL_SUM:
        return None
    return operation.__getstate__()[1]
