"""A small decoder that alternates linear attention, by the gated delta rule, and softmax attention."""

from __future__ import annotations

from ....utils.device import IS_NPU_AVAILABLE
from ...loader import MODELING_REGISTRY
from .configuration_hybrid_decoder import HybridDecoderConfig


@MODELING_REGISTRY.register("hybrid_decoder", HybridDecoderConfig)
def register_hybrid_decoder_modeling(architecture: str) -> type:
    """Return the class of *architecture* from the modeling file of this device."""
    if IS_NPU_AVAILABLE:
        from .generated import patched_modeling_hybrid_decoder_npu as generated
    else:
        from .generated import patched_modeling_hybrid_decoder_gpu as generated

    return getattr(generated, f"HybridDecoder{architecture}")
