"""Rotary position embedding: ``kernel(q, k, cos, sin, unsqueeze_dim=1)`` returns the rotated *q* and *k*.

Variant ``full`` rotates whole heads, ``partial`` the first columns of each head. The definitions are in ``eager.py``.
The interleaved form of the Wan DiT is no slot: its ``device_patch.py`` binds functions of ``triton_wan.py`` and
``npu.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....utils.import_utils import PackageRequirement
from ...config.registry import BackendSpec, OpScope, OpSpec, register_op
from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

if TYPE_CHECKING:
    import torch

Kernel = Callable[..., "tuple[torch.Tensor, torch.Tensor]"]


def _liger_full() -> Kernel:
    from ...liger.rotary import rotary_pos_emb_liger

    return rotary_pos_emb_liger


def _liger_partial() -> Kernel:
    from ...liger.rotary import rotary_pos_emb_partial_liger

    return rotary_pos_emb_partial_liger


def _triton() -> Kernel:
    from .triton import rotary_pos_emb_triton

    return rotary_pos_emb_triton


def _npu_full() -> Kernel:
    from .npu import rotary_pos_emb_npu

    return rotary_pos_emb_npu


def _npu_partial() -> Kernel:
    from .npu import rotary_pos_emb_partial_npu

    return rotary_pos_emb_partial_npu


_GPU, _NPU = HardwareRequirement("gpu"), HardwareRequirement("npu")
_LIGER = (PackageRequirement("liger_kernel", "liger-kernel"),)
_TRITON = (PackageRequirement("triton"),)

for _variant, _name, _hardware, _factory, _packages in (
    ("full", "liger_kernel", _GPU, _liger_full, _LIGER),
    ("full", "triton", _GPU, _triton, _TRITON),
    ("full", "npu", _NPU, _npu_full, ()),
    ("partial", "liger_kernel", _GPU, _liger_partial, _LIGER),
    ("partial", "triton", _GPU, _triton, _TRITON),
    ("partial", "npu", _NPU, _npu_partial, ()),
):
    KERNEL_REGISTRY.register(
        KernelSpec(
            name=_name,
            op_name="rotary_pos_emb",
            variant=_variant,
            factory=_factory,
            hardware=_hardware,
            description=f"rotary embedding ({_variant})",
            requires=_packages,
        )
    )

register_op(
    OpSpec(
        name="rotary_pos_emb",
        config_field="rotary_pos_emb_implementation",
        label="rotary embedding",
        scope=OpScope.PER_MODEL,
        default="triton",
        backends={
            "liger_kernel": BackendSpec(
                entry="veomni.ops.liger.rotary:rotary_pos_emb_liger", requires=("liger_kernel",)
            ),
            "triton": BackendSpec(entry="veomni.ops.kernels.rotary.triton:rotary_pos_emb_triton", requires=("triton",)),
            "npu": BackendSpec(entry="veomni.ops.kernels.rotary.npu:rotary_pos_emb_npu", requires=("torch_npu",)),
        },
    )
)
