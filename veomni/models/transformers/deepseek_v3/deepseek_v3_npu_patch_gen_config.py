"""Patches of the DeepSeek-V3 model on Ascend NPUs, which have no kernel for SwiGLU and for sparse attention."""

from __future__ import annotations

from veomni.patchgen import PatchConfig

from .deepseek_v3_gpu_patch_gen_config import causal_lm_forward_patched, experts_patched

config = PatchConfig(
    source_module="veomni.models.transformers.deepseek_v3.modeling_deepseek_v3",
    target_file="patched_modeling_deepseek_v3_npu.py",
    description="the DeepSeek-V3 model with slots for the kernels that NPUs have",
)

config.add_import("veomni.ops", names=["fused_moe_forward"])
config.add_import("veomni.ops.kernels.cross_entropy.eager", names=["causal_lm_loss_eager"])
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot

    veomni_causal_lm_loss = OpSlot("cross_entropy_loss", "causal")
    veomni_moe_experts = OpSlot("moe_experts", "standard")
    """
)

config.override_method(
    "DeepseekV3MoE.experts", replacement=experts_patched, description="slot moe_experts, through the pointer"
)
config.override_method(
    "DeepseekV3ForCausalLM.forward", replacement=causal_lm_forward_patched, description="slot cross_entropy_loss"
)
