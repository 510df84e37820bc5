"""Patches that give the dense decoder its slots on Ascend NPUs, which have no kernel for SwiGLU."""

from __future__ import annotations

from veomni.patchgen import PatchConfig

from .decoder_gpu_patch_gen_config import (
    apply_rotary_pos_emb_patched,
    attention_forward_patched,
    causal_lm_forward_patched,
    model_forward_patched,
    rms_norm_forward_patched,
    seq_cls_forward_patched,
)

config = PatchConfig(
    source_module="veomni.models.transformers.decoder.modeling_decoder",
    target_file="patched_modeling_decoder_npu.py",
    description="the dense decoder with slots for the kernels that NPUs have",
)

config.add_import("veomni.distributed.parallel_state", names=["get_parallel_state"])
config.add_import("veomni.distributed.sequence_parallel.async_ulysses", names=["async_ulysses_attention"])
config.add_import("veomni.ops.kernels.attention", names=["attention_forward"])
config.add_import("veomni.ops.kernels.cross_entropy.eager", names=["causal_lm_loss_eager", "seq_cls_loss_eager"])
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpsConfigSlot, OpSlot

    veomni_attention = OpsConfigSlot("attn_implementation", default="sdpa")
    veomni_causal_lm_loss = OpSlot("cross_entropy_loss", "causal")
    veomni_rms_norm = OpSlot("rms_norm", "standard")
    veomni_rotary_pos_emb = OpSlot("rotary_pos_emb", "full")
    veomni_seq_cls_loss = OpSlot("cross_entropy_loss", "seq_cls")
    """
)

config.override_method("DecoderRMSNorm.forward", replacement=rms_norm_forward_patched, description="slot rms_norm")
config.replace_function(
    "apply_rotary_pos_emb", replacement=apply_rotary_pos_emb_patched, description="slot rotary_pos_emb"
)
config.override_method(
    "DecoderAttention.forward",
    replacement=attention_forward_patched,
    description="selected attention, exchange with other ranks",
)
config.override_method(
    "DecoderModel.forward", replacement=model_forward_patched, description="positions in the whole sequence"
)
config.override_method(
    "DecoderForCausalLM.forward",
    replacement=causal_lm_forward_patched,
    description="slot cross_entropy_loss, loss over all ranks",
)
config.override_method(
    "DecoderForSequenceClassification.forward",
    replacement=seq_cls_forward_patched,
    description="slot cross_entropy_loss, loss over all ranks",
)
