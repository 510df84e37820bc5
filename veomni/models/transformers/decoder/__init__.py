"""A small dense decoder: grouped-query attention, RMSNorm, rotary embedding, SwiGLU."""

from __future__ import annotations

from ....utils.device import IS_NPU_AVAILABLE
from ...loader import MODELING_REGISTRY
from .configuration_decoder import DecoderConfig


@MODELING_REGISTRY.register("decoder", DecoderConfig)
def register_decoder_modeling(architecture: str) -> type:
    """Return the class of *architecture* from the modeling file of this device."""
    if IS_NPU_AVAILABLE:
        from .generated import patched_modeling_decoder_npu as generated
    else:
        from .generated import patched_modeling_decoder_gpu as generated

    return getattr(generated, f"Decoder{architecture}")
