"""SwiGLU MLP: ``kernel(mlp, x)`` with the projections of the module *mlp*. NPUs use the model's own code.

The definition of the activation is in ``eager.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....utils.import_utils import PackageRequirement
from ...config.registry import BackendSpec, OpScope, OpSpec, register_op
from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

if TYPE_CHECKING:
    import torch

SiluMul = Callable[["torch.Tensor", "torch.Tensor"], "torch.Tensor"]
Mlp = Callable[[Any, "torch.Tensor"], "torch.Tensor"]


def _as_mlp(silu_mul: SiluMul) -> Mlp:
    def swiglu_mlp(mlp: Any, x: torch.Tensor) -> torch.Tensor:
        return mlp.down_proj(silu_mul(mlp.gate_proj(x), mlp.up_proj(x)))

    return swiglu_mlp


def liger_mlp() -> Mlp:
    """Make the MLP with Liger's activation."""
    from ...liger.swiglu import silu_mul_liger

    return _as_mlp(silu_mul_liger)


def triton_mlp() -> Mlp:
    """Make the MLP with our activation in Triton."""
    from .triton import silu_mul_triton

    return _as_mlp(silu_mul_triton)


_LIGER = (PackageRequirement("liger_kernel", "liger-kernel"),)
_TRITON = (PackageRequirement("triton"),)

for _name, _factory, _packages in (("liger_kernel", liger_mlp, _LIGER), ("triton", triton_mlp, _TRITON)):
    KERNEL_REGISTRY.register(
        KernelSpec(
            name=_name,
            op_name="swiglu_mlp",
            variant="standard",
            factory=_factory,
            hardware=HardwareRequirement("gpu"),
            description="SwiGLU MLP with a fused activation",
            requires=_packages,
        )
    )

register_op(
    OpSpec(
        name="swiglu_mlp",
        config_field="swiglu_mlp_implementation",
        label="SwiGLU",
        scope=OpScope.PER_MODEL,
        default="triton",
        backends={
            "liger_kernel": BackendSpec(
                entry="veomni.ops.kernels.swiglu:liger_mlp",
                requires=("liger_kernel",),
                replace_forward=True,
                entry_is_factory=True,
            ),
            "triton": BackendSpec(
                entry="veomni.ops.kernels.swiglu:triton_mlp",
                requires=("triton",),
                replace_forward=True,
                entry_is_factory=True,
            ),
        },
    )
)
