"""Patches that give the mixture-of-experts decoder its slots on Ascend NPUs, which have no load-balancing kernel."""

from __future__ import annotations

from veomni.patchgen import PatchConfig

from ..decoder.decoder_gpu_patch_gen_config import apply_rotary_pos_emb_patched, rms_norm_forward_patched
from .moe_decoder_gpu_patch_gen_config import (
    attention_forward_patched,
    causal_lm_forward_patched,
    experts_forward_patched,
    gpt_oss_experts_forward_patched,
    model_forward_patched,
)

config = PatchConfig(
    source_module="veomni.models.transformers.moe_decoder.modeling_moe_decoder",
    target_file="patched_modeling_moe_decoder_npu.py",
    description="the mixture-of-experts decoder with slots for the kernels that NPUs have",
)

config.add_import("veomni.distributed.parallel_state", names=["get_parallel_state"])
config.add_import("veomni.ops.kernels.attention", names=["attention_forward"])
config.add_import("veomni.ops.kernels.cross_entropy.eager", names=["causal_lm_loss_eager"])
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpsConfigSlot, OpSlot

    veomni_attention = OpsConfigSlot("attn_implementation", default="sdpa")
    veomni_causal_lm_loss = OpSlot("cross_entropy_loss", "causal")
    veomni_gpt_oss_experts = OpSlot("moe_experts", "gpt_oss")
    veomni_moe_experts = OpSlot("moe_experts", "standard")
    veomni_rms_norm = OpSlot("rms_norm", "standard")
    veomni_rotary_pos_emb = OpSlot("rotary_pos_emb", "full")
    """
)

config.override_method("MoeDecoderRMSNorm.forward", replacement=rms_norm_forward_patched, description="slot rms_norm")
config.replace_function(
    "apply_rotary_pos_emb", replacement=apply_rotary_pos_emb_patched, description="slot rotary_pos_emb"
)
config.override_method("MoeDecoderExperts.forward", replacement=experts_forward_patched, description="slot moe_experts")
config.override_method(
    "MoeDecoderGptOssExperts.forward", replacement=gpt_oss_experts_forward_patched, description="slot moe_experts"
)
config.override_method(
    "MoeDecoderAttention.forward",
    replacement=attention_forward_patched,
    description="selected attention, exchange with other ranks",
)
config.override_method(
    "MoeDecoderModel.forward", replacement=model_forward_patched, description="positions in the whole sequence"
)
config.override_method(
    "MoeDecoderForCausalLM.forward",
    replacement=causal_lm_forward_patched,
    description="slot cross_entropy_loss, loss over all ranks",
)
