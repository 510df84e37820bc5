"""Binds norm and rotation of the Wan transformer as configured."""

from __future__ import annotations

from types import ModuleType

from ....ops.config import BackendSpec, apply_per_model_patches
from ...patched_module import restore

_PAIRS_IN_TRITON = BackendSpec(entry="veomni.ops.kernels.rotary.triton_wan:rope_apply_wan_triton", requires=("triton",))
_PAIRS_ON_NPU = BackendSpec(entry="veomni.ops.kernels.rotary.npu:rope_apply_wan_npu", requires=("torch_npu",))


def apply_veomni_wan_device_patch(modeling: ModuleType) -> None:
    """Patch the module *modeling*, from the state in which it was written."""
    restore(modeling, "WanRMSNorm.forward", "rope_apply")
    apply_per_model_patches(
        hf_module=modeling,
        model_name="Wan",
        targets={"rms_norm": "WanRMSNorm", "rotary_pos_emb": "rope_apply"},
        # Elsewhere halves of separate queries and keys are rotated, as Liger does; here it is pairs of one tensor.
        extra_backends={"rotary_pos_emb": {"triton": _PAIRS_IN_TRITON, "liger_kernel": None, "npu": _PAIRS_ON_NPU}},
    )
