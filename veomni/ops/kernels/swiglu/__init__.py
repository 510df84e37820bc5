"""SwiGLU MLP: ``kernel(mlp, x)`` with the projections of the module *mlp*. NPUs use the model's own code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    SiluMul = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    Mlp = Callable[[Any, torch.Tensor], torch.Tensor]


def _as_mlp(silu_mul: SiluMul) -> Mlp:
    def swiglu_mlp(mlp: Any, x: torch.Tensor) -> torch.Tensor:
        return mlp.down_proj(silu_mul(mlp.gate_proj(x), mlp.up_proj(x)))

    return swiglu_mlp


def _liger_factory() -> Mlp:
    from ...liger.swiglu import silu_mul_liger

    return _as_mlp(silu_mul_liger)


KERNEL_REGISTRY.register(
    KernelSpec(
        name="liger_kernel",
        op_name="swiglu_mlp",
        variant="standard",
        factory=_liger_factory,
        hardware=HardwareRequirement("gpu"),
        description="Liger's fused activation",
    )
)
