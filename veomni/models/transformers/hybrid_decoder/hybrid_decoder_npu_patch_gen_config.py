"""Patches that give the hybrid decoder its slots on Ascend NPUs, which have no kernel for SwiGLU."""

from __future__ import annotations

from veomni.patchgen import PatchConfig

from .hybrid_decoder_gpu_patch_gen_config import (
    apply_rotary_pos_emb_patched,
    attention_forward_patched,
    causal_conv1d_patched,
    causal_lm_forward_patched,
    chunk_gated_delta_rule_patched,
    rms_norm_forward_patched,
    rms_norm_gated_forward_patched,
)

config = PatchConfig(
    source_module="veomni.models.transformers.hybrid_decoder.modeling_hybrid_decoder",
    target_file="patched_modeling_hybrid_decoder_npu.py",
    description="the hybrid decoder with slots for the kernels that NPUs have",
)

config.add_import("veomni.ops.kernels.attention", names=["attention_forward"])
config.add_import("veomni.ops.kernels.cross_entropy.eager", names=["causal_lm_loss_eager"])
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpsConfigSlot, OpSlot

    veomni_attention = OpsConfigSlot("attn_implementation", default="sdpa")
    veomni_causal_conv1d = OpSlot("causal_conv1d", "standard")
    veomni_causal_lm_loss = OpSlot("cross_entropy_loss", "causal")
    veomni_chunk_gated_delta_rule = OpSlot("chunk_gated_delta_rule", "standard")
    veomni_rms_norm = OpSlot("rms_norm", "qwen3_5")
    veomni_rms_norm_gated = OpSlot("rms_norm_gated", "standard")
    veomni_rotary_pos_emb = OpSlot("rotary_pos_emb", "partial")
    """
)

config.override_method(
    "HybridDecoderRMSNorm.forward", replacement=rms_norm_forward_patched, description="slot rms_norm"
)
config.override_method(
    "HybridDecoderRMSNormGated.forward", replacement=rms_norm_gated_forward_patched, description="slot rms_norm_gated"
)
config.replace_function(
    "apply_rotary_pos_emb", replacement=apply_rotary_pos_emb_patched, description="slot rotary_pos_emb"
)
config.replace_function("causal_conv1d", replacement=causal_conv1d_patched, description="slot causal_conv1d")
config.replace_function(
    "chunk_gated_delta_rule", replacement=chunk_gated_delta_rule_patched, description="slot chunk_gated_delta_rule"
)
config.override_method(
    "HybridDecoderAttention.forward", replacement=attention_forward_patched, description="selected attention"
)
config.override_method(
    "HybridDecoderForCausalLM.forward", replacement=causal_lm_forward_patched, description="slot cross_entropy_loss"
)
