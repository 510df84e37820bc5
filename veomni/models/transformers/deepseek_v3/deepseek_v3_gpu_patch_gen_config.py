"""Patches of the DeepSeek-V3 model on GPUs. Norm and rotation are bound by ``device_patch.py``, all else by slots."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from veomni.patchgen import PatchConfig

from ..decoder.decoder_gpu_patch_gen_config import mlp_forward_patched

config = PatchConfig(
    source_module="veomni.models.transformers.deepseek_v3.modeling_deepseek_v3",
    target_file="patched_modeling_deepseek_v3_gpu.py",
    description="the DeepSeek-V3 model with slots for its kernels",
)

config.add_import("veomni.ops", names=["fused_moe_forward"])
config.add_import("veomni.ops.kernels.cross_entropy.eager", names=["causal_lm_loss_eager"])
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot

    veomni_causal_lm_loss = OpSlot("cross_entropy_loss", "causal")
    veomni_dsa_attention = OpSlot("dsa_attention", "standard")
    veomni_moe_experts = OpSlot("moe_experts", "standard")
    veomni_swiglu_mlp = OpSlot("swiglu_mlp", "standard")
    """
)

config.override_method("DeepseekV3MLP.forward", replacement=mlp_forward_patched, description="slot swiglu_mlp")


@config.replace_function("sparse_attention", description="slot dsa_attention")
def sparse_attention_patched(
    q: torch.Tensor, kv: torch.Tensor, indices: torch.Tensor, value_width: int, scale: float
) -> torch.Tensor:
    """Attend from (batch, tokens, heads, width) to the rows of (batch, keys, width) that *indices* name, or -1."""
    if veomni_dsa_attention.use_non_eager_impl:
        return veomni_dsa_attention(q, kv, indices, value_width, scale)
    batch = torch.arange(q.shape[0], device=q.device)[:, None, None]
    selected = kv.float()[batch, indices.clamp(min=0)]
    scores = torch.einsum("bthd,btkd->bthk", q.float(), selected) * scale
    weights = scores.masked_fill((indices < 0)[:, :, None], float("-inf")).softmax(-1)
    return torch.einsum("bthk,btkd->bthd", weights, selected[..., :value_width]).to(q.dtype)


@config.override_method("DeepseekV3MoE.experts", description="slot moe_experts, through the pointer")
def experts_patched(
    self: Any, hidden_states: torch.Tensor, top_k_index: torch.Tensor, top_k_weights: torch.Tensor
) -> torch.Tensor:
    """The weighted outputs of the experts that each token chose."""
    if veomni_moe_experts.use_non_eager_impl:
        # The weights belong to this module and not to one of experts, so the pointer takes them one by one.
        return fused_moe_forward(hidden_states, top_k_index, top_k_weights, self.gate_up_proj, self.down_proj)
    output = torch.zeros_like(hidden_states)
    for expert in range(self.gate_up_proj.shape[0]):
        token, choice = (top_k_index == expert).nonzero(as_tuple=True)
        gate, up = functional.linear(hidden_states[token], self.gate_up_proj[expert]).chunk(2, dim=-1)
        rows = functional.linear(functional.silu(gate) * up, self.down_proj[expert])
        output = output.index_add(0, token, (rows * top_k_weights[token, choice, None]).to(output.dtype))
    return output


@config.override_method("DeepseekV3ForCausalLM.forward", description="slot cross_entropy_loss")
def causal_lm_forward_patched(self: Any, input_ids: torch.Tensor, labels: torch.Tensor | None = None) -> ModelOutput:
    hidden_states = self.encode(input_ids)
    if labels is None:
        return ModelOutput(None, self.lm_head(hidden_states))
    if veomni_causal_lm_loss.use_non_eager_impl:
        return ModelOutput(veomni_causal_lm_loss(hidden_states, self.lm_head.weight, labels), None)
    return ModelOutput(causal_lm_loss_eager(hidden_states, self.lm_head.weight, labels), None)
