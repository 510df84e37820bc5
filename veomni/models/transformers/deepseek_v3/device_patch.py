"""Binds norm and rotation of the DeepSeek-V3 model as configured.

With ``triton`` the angles too are computed in a fixed order: the matrix product of the model may differ between runs.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ....ops.config import apply_per_model_patches
from ...patched_module import restore

if TYPE_CHECKING:
    import torch

    from ....arguments import OpsImplementationConfig


def apply_veomni_deepseek_v3_device_patch(generated: ModuleType) -> None:
    """Patch the module *generated*, from the state in which it was made."""
    restore(generated, "DeepseekV3RMSNorm.forward", "DeepseekV3RotaryEmbedding.forward", "apply_rotary_pos_emb")

    def bind_angles(ops_config: OpsImplementationConfig, applied: list[str]) -> None:
        if ops_config.rotary_pos_emb_implementation == "triton":
            generated.DeepseekV3RotaryEmbedding.forward = make_deterministic_rotary_forward()
            applied.append("rotation angles (triton)")

    apply_per_model_patches(
        hf_module=generated,
        model_name="DeepSeek-V3",
        targets={"rms_norm": "DeepseekV3RMSNorm", "rotary_pos_emb": "apply_rotary_pos_emb"},
        custom_patches=bind_angles,
    )


def make_deterministic_rotary_forward() -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    """Make the forward of the rotary embedding with angles from Triton."""
    from ....ops.kernels.rotary.triton_angles import rotary_angles_triton

    def forward(self: Any, x: torch.Tensor, position_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        cos, sin = rotary_angles_triton(self.inv_freq, position_ids, self.attention_scaling)
        return cos.to(x.dtype), sin.to(x.dtype)

    return forward
