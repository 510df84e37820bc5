"""A small model of the DeepSeek-V3 kind: latent attention, to all keys or to selected ones, and routed experts."""

from __future__ import annotations

from ....utils.device import IS_NPU_AVAILABLE
from ...loader import MODELING_REGISTRY
from .configuration_deepseek_v3 import DeepseekV3Config


@MODELING_REGISTRY.register("deepseek_v3", DeepseekV3Config)
def register_deepseek_v3_modeling(architecture: str) -> type:
    """Return the class of *architecture* from the modeling file of this device, patched as configured."""
    from .device_patch import apply_veomni_deepseek_v3_device_patch

    if IS_NPU_AVAILABLE:
        from .generated import patched_modeling_deepseek_v3_npu as generated
    else:
        from .generated import patched_modeling_deepseek_v3_gpu as generated

    apply_veomni_deepseek_v3_device_patch(generated)
    return getattr(generated, f"DeepseekV3{architecture}")
