"""RMSNorm.

Variants ``standard`` and ``qwen3_5``: ``kernel(hidden_states, weight, eps)``; ``unweighted``:
``kernel(hidden_states, eps)``. The definitions are in ``eager.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....utils.import_utils import PackageRequirement
from ...config.registry import BackendSpec, OpScope, OpSpec, register_op
from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

if TYPE_CHECKING:
    import torch

Kernel = Callable[..., "torch.Tensor"]


def _liger_standard() -> Kernel:
    from ...liger.rms_norm import rms_norm_liger

    return rms_norm_liger


def _liger_qwen3_5() -> Kernel:
    from ...liger.rms_norm import rms_norm_qwen3_5_liger

    return rms_norm_qwen3_5_liger


def _liger_unweighted() -> Kernel:
    from ...liger.rms_norm import rms_norm_unweighted_liger

    return rms_norm_unweighted_liger


def _triton_standard() -> Kernel:
    from .triton import rms_norm_triton

    return rms_norm_triton


def _triton_qwen3_5() -> Kernel:
    from .triton import rms_norm_qwen3_5_triton

    return rms_norm_qwen3_5_triton


def _triton_unweighted() -> Kernel:
    from .triton import rms_norm_unweighted_triton

    return rms_norm_unweighted_triton


def _npu_standard() -> Kernel:
    from .npu import rms_norm_npu

    return rms_norm_npu


def _npu_qwen3_5() -> Kernel:
    from .npu import rms_norm_qwen3_5_npu

    return rms_norm_qwen3_5_npu


def _npu_unweighted() -> Kernel:
    from .npu import rms_norm_unweighted_npu

    return rms_norm_unweighted_npu


_GPU, _NPU = HardwareRequirement("gpu"), HardwareRequirement("npu")
_LIGER = (PackageRequirement("liger_kernel", "liger-kernel"),)
_TRITON = (PackageRequirement("triton"),)

for _variant, _name, _hardware, _factory, _packages in (
    ("standard", "liger_kernel", _GPU, _liger_standard, _LIGER),
    ("standard", "triton", _GPU, _triton_standard, _TRITON),
    ("standard", "npu", _NPU, _npu_standard, ()),
    ("qwen3_5", "liger_kernel", _GPU, _liger_qwen3_5, _LIGER),
    ("qwen3_5", "triton", _GPU, _triton_qwen3_5, _TRITON),
    ("qwen3_5", "npu", _NPU, _npu_qwen3_5, ()),
    ("unweighted", "liger_kernel", _GPU, _liger_unweighted, _LIGER),
    ("unweighted", "triton", _GPU, _triton_unweighted, _TRITON),
    ("unweighted", "npu", _NPU, _npu_unweighted, ()),
):
    KERNEL_REGISTRY.register(
        KernelSpec(
            name=_name,
            op_name="rms_norm",
            variant=_variant,
            factory=_factory,
            hardware=_hardware,
            description=f"RMSNorm ({_variant})",
            requires=_packages,
        )
    )

register_op(
    OpSpec(
        name="rms_norm",
        config_field="rms_norm_implementation",
        label="RMSNorm",
        scope=OpScope.PER_MODEL,
        default="triton",
        backends={
            "liger_kernel": BackendSpec(
                entry="veomni.ops.liger.rms_norm:rms_norm_module_forward",
                requires=("liger_kernel",),
                replace_forward=True,
            ),
            "triton": BackendSpec(
                entry="veomni.ops.kernels.rms_norm.triton:rms_norm_module_forward",
                requires=("triton",),
                replace_forward=True,
            ),
            "npu": BackendSpec(
                entry="veomni.ops.kernels.rms_norm.npu:rms_norm_module_forward",
                requires=("torch_npu",),
                replace_forward=True,
            ),
        },
    )
)
