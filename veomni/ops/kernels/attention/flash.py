"""Attention through the flash-attention packages: 2 (``flash_attn``), 3 (``flash_attn_interface``) and 4.

flash-attn 4 lives in ``flash_attn.cute`` and makes ``flash_attn`` a namespace package, so each is looked up by the
attribute that it is called by.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch

from ....utils.import_utils import PackageRequirement
from ...kernel_registry import HardwareRequirement, unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

REQUIREMENTS = {
    "flash_attention_2": PackageRequirement("flash_attn", "flash-attn", attribute="flash_attn_func", min_version="2.1"),
    "flash_attention_3": PackageRequirement("flash_attn_interface", attribute="flash_attn_func"),
    "flash_attention_4": PackageRequirement("flash_attn.cute", "flash-attn-4", attribute="flash_attn_func"),
}
_GPU = HardwareRequirement("gpu", min_compute_capability=80)


def flash_attention(name: str) -> Callable[..., torch.Tensor]:
    """Return the attention of the package that *name* stands for.

    Raises:
        RuntimeError: the GPU is missing, or the package is missing, too old, or another one under the same name.
    """
    requirement = REQUIREMENTS[name]
    problem = unavailable(_GPU, (requirement,))
    if problem is not None:
        raise RuntimeError(f"attn_implementation={name!r} cannot be used: {problem}; choose eager, sdpa")
    function: Callable[..., Any] = getattr(import_module(requirement.module), requirement.attribute or "")

    def attention_flash(
        q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = True, scale: float | None = None
    ) -> torch.Tensor:
        """See the eager definition.

        Raises:
            ValueError: the dtype is one that no flash attention computes in.
        """
        if q.dtype not in (torch.bfloat16, torch.float16):
            raise ValueError(f"{name} computes in bfloat16 and float16, not in {q.dtype}; use sdpa")
        result = function(q, k, v, softmax_scale=scale, causal=causal)
        # Versions 3 and 4 may return the logarithms of the sums too.
        return result[0] if isinstance(result, tuple) else result

    return attention_flash
