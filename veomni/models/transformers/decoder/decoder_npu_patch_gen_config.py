"""Patches that give the dense decoder its slots on Ascend NPUs, which have no kernel for SwiGLU."""

from __future__ import annotations

from veomni.patchgen import PatchConfig

from .decoder_gpu_patch_gen_config import apply_rotary_pos_emb_patched, rms_norm_forward_patched

config = PatchConfig(
    source_module="veomni.models.transformers.decoder.modeling_decoder",
    target_file="patched_modeling_decoder_npu.py",
    description="the dense decoder with slots for the kernels that NPUs have",
)

config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot

    veomni_rms_norm = OpSlot("rms_norm", "standard")
    veomni_rotary_pos_emb = OpSlot("rotary_pos_emb", "full")
    """
)

config.override_method("DecoderRMSNorm.forward", replacement=rms_norm_forward_patched, description="slot rms_norm")
config.replace_function(
    "apply_rotary_pos_emb", replacement=apply_rotary_pos_emb_patched, description="slot rotary_pos_emb"
)
