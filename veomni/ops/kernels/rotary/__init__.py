"""Rotary position embedding: ``kernel(q, k, cos, sin, unsqueeze_dim)`` returns the rotated *q* and *k*."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    Rotary = Callable[..., tuple[torch.Tensor, torch.Tensor]]


def _liger_factory() -> Rotary:
    from ...liger.rotary import rotary_pos_emb_liger

    return rotary_pos_emb_liger


def _npu_factory() -> Rotary:
    from .npu import rotary_pos_emb_npu

    return rotary_pos_emb_npu


for _name, _factory, _device, _description in (
    ("liger_kernel", _liger_factory, "gpu", "Liger's fused kernel"),
    ("npu", _npu_factory, "npu", "the fused kernel of torch_npu"),
):
    KERNEL_REGISTRY.register(
        KernelSpec(
            name=_name,
            op_name="rotary_pos_emb",
            variant="full",
            factory=_factory,
            hardware=HardwareRequirement(_device),
            description=_description,
        )
    )
