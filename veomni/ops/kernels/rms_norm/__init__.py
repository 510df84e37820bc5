"""RMSNorm: ``kernel(hidden_states, weight, eps)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...config.registry import BackendSpec, OpScope, OpSpec, register_op
from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    RmsNorm = Callable[[torch.Tensor, torch.Tensor, float], torch.Tensor]


def _liger_factory() -> RmsNorm:
    from ...liger.rms_norm import rms_norm_liger

    return rms_norm_liger


def _npu_factory() -> RmsNorm:
    from .npu import rms_norm_npu

    return rms_norm_npu


KERNEL_REGISTRY.register(
    KernelSpec(
        name="liger_kernel",
        op_name="rms_norm",
        variant="standard",
        factory=_liger_factory,
        hardware=HardwareRequirement("gpu"),
        description="Liger's fused kernel",
    )
)
KERNEL_REGISTRY.register(
    KernelSpec(
        name="npu",
        op_name="rms_norm",
        variant="standard",
        factory=_npu_factory,
        hardware=HardwareRequirement("npu"),
        description="the fused kernel of torch_npu",
    )
)

register_op(
    OpSpec(
        name="rms_norm",
        config_field="rms_norm_implementation",
        label="RMSNorm",
        scope=OpScope.PER_MODEL,
        default="liger_kernel",
        backends={
            "liger_kernel": BackendSpec(
                entry="liger_kernel.transformers.rms_norm:LigerRMSNorm", requires=("liger_kernel",)
            ),
            "npu": BackendSpec(
                entry="veomni.ops.kernels.rms_norm.npu:rms_norm_forward_npu",
                requires=("torch_npu",),
                replace_forward=True,
            ),
        },
    )
)
