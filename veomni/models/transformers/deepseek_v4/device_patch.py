"""Binds the weighted norm and the rotation angles of the DeepSeek-V4 model as configured."""

from __future__ import annotations

from types import ModuleType

from ....ops.config import BackendSpec, apply_per_model_patches
from ...patched_module import restore

_ANGLES_IN_TRITON = BackendSpec(
    entry="veomni.models.transformers.deepseek_v3.device_patch:make_deterministic_rotary_forward",
    requires=("triton",),
    replace_forward=True,
    entry_is_factory=True,
    target_override="DeepseekV4RotaryEmbedding",
)


def apply_veomni_deepseek_v4_device_patch(generated: ModuleType) -> None:
    """Patch the module *generated*, from the state in which it was made."""
    restore(generated, "DeepseekV4RMSNorm.forward", "DeepseekV4RotaryEmbedding.forward", "apply_rotary_pos_emb")
    apply_per_model_patches(
        hf_module=generated,
        model_name="DeepSeek-V4",
        targets={"rms_norm": "DeepseekV4RMSNorm", "rotary_pos_emb": "apply_rotary_pos_emb"},
        # Here triton stands for the angles: they are what differs between runs, and the rotation is small.
        extra_backends={"rotary_pos_emb": {"triton": _ANGLES_IN_TRITON}},
    )
