"""Attention to selected latent keys: ``kernel(q, kv, indices, value_width, scale)``, as defined in ``eager.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....utils.import_utils import PackageRequirement
from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

if TYPE_CHECKING:
    import torch


def _flashmla() -> Callable[..., torch.Tensor]:
    from .flashmla import dsa_attention_flashmla

    return dsa_attention_flashmla


KERNEL_REGISTRY.register(
    KernelSpec(
        name="flashmla",
        op_name="dsa_attention",
        variant="standard",
        factory=_flashmla,
        hardware=HardwareRequirement("gpu", min_compute_capability=90),
        description="FlashMLA forward, eager gradients",
        requires=(PackageRequirement("flash_mla"),),
    )
)
