"""A small model of the DeepSeek-V4 kind: hyper-connections, and attention to the keys that an indexer selects."""

from __future__ import annotations

from ....utils.device import IS_NPU_AVAILABLE
from ...loader import MODELING_REGISTRY
from .configuration_deepseek_v4 import DeepseekV4Config


@MODELING_REGISTRY.register("deepseek_v4", DeepseekV4Config)
def register_deepseek_v4_modeling(architecture: str) -> type:
    """Return the class of *architecture* from the modeling file of this device, patched as configured."""
    from .device_patch import apply_veomni_deepseek_v4_device_patch

    if IS_NPU_AVAILABLE:
        from .generated import patched_modeling_deepseek_v4_npu as generated
    else:
        from .generated import patched_modeling_deepseek_v4_gpu as generated

    apply_veomni_deepseek_v4_device_patch(generated)
    return getattr(generated, f"DeepseekV4{architecture}")
