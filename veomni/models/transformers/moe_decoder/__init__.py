"""A small decoder whose feed-forward layers are mixtures of experts, of the SwiGLU or of the gpt_oss kind."""

from __future__ import annotations

from ....utils.device import IS_NPU_AVAILABLE
from ...loader import MODELING_REGISTRY
from .configuration_moe_decoder import MoeDecoderConfig


@MODELING_REGISTRY.register("moe_decoder", MoeDecoderConfig)
def register_moe_decoder_modeling(architecture: str) -> type:
    """Return the class of *architecture* from the modeling file of this device."""
    if IS_NPU_AVAILABLE:
        from .generated import patched_modeling_moe_decoder_npu as generated
    else:
        from .generated import patched_modeling_moe_decoder_gpu as generated

    return getattr(generated, f"MoeDecoder{architecture}")
