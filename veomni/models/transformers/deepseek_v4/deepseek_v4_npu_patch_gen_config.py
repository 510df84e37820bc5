"""Patches of the DeepSeek-V4 model on Ascend NPUs, which have kernels for its norm and loss only."""

from __future__ import annotations

from veomni.patchgen import PatchConfig

from ..deepseek_v3.deepseek_v3_gpu_patch_gen_config import causal_lm_forward_patched
from .deepseek_v4_gpu_patch_gen_config import unweighted_rms_norm_forward_patched

config = PatchConfig(
    source_module="veomni.models.transformers.deepseek_v4.modeling_deepseek_v4",
    target_file="patched_modeling_deepseek_v4_npu.py",
    description="the DeepSeek-V4 model with slots for the kernels that NPUs have",
)

config.add_import("veomni.ops.kernels.cross_entropy.eager", names=["causal_lm_loss_eager"])
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot

    veomni_causal_lm_loss = OpSlot("cross_entropy_loss", "causal")
    veomni_unweighted_rms_norm = OpSlot("rms_norm", "unweighted")
    """
)

config.override_method(
    "DeepseekV4UnweightedRMSNorm.forward",
    replacement=unweighted_rms_norm_forward_patched,
    description="slot rms_norm",
)
config.override_method(
    "DeepseekV4ForCausalLM.forward", replacement=causal_lm_forward_patched, description="slot cross_entropy_loss"
)
