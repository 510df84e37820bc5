"""Patches that give the mixture-of-experts decoder its slots on GPUs (and on CPUs, where they stay eager)."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from veomni.patchgen import PatchConfig

from ..decoder.decoder_gpu_patch_gen_config import apply_rotary_pos_emb_patched, rms_norm_forward_patched

config = PatchConfig(
    source_module="veomni.models.transformers.moe_decoder.modeling_moe_decoder",
    target_file="patched_modeling_moe_decoder_gpu.py",
    description="the mixture-of-experts decoder with slots for its kernels",
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
    veomni_load_balancing_loss = OpSlot("load_balancing_loss", "standard")
    veomni_moe_experts = OpSlot("moe_experts", "standard")
    veomni_rms_norm = OpSlot("rms_norm", "standard")
    veomni_rotary_pos_emb = OpSlot("rotary_pos_emb", "full")
    """
)

config.override_method("MoeDecoderRMSNorm.forward", replacement=rms_norm_forward_patched, description="slot rms_norm")
config.replace_function(
    "apply_rotary_pos_emb", replacement=apply_rotary_pos_emb_patched, description="slot rotary_pos_emb"
)


@config.replace_function("load_balancing_loss", description="slot load_balancing_loss")
def load_balancing_loss_patched(
    gate_logits: tuple[torch.Tensor, ...], num_experts: int, top_k: int, attention_mask: torch.Tensor | None = None
) -> torch.Tensor:
    """Experts times the sum over experts of (share of tokens routed there) times (mean probability of it)."""
    if veomni_load_balancing_loss.use_non_eager_impl:
        return veomni_load_balancing_loss(gate_logits, num_experts, top_k, attention_mask)
    probabilities = torch.cat(gate_logits).float().softmax(-1)
    chosen = torch.zeros_like(probabilities).scatter_(1, probabilities.topk(top_k, dim=-1).indices, 1.0)
    weights = torch.ones_like(probabilities[:, :1])
    if attention_mask is not None:
        weights = attention_mask.flatten().float().repeat(len(gate_logits))[:, None]
    return num_experts * ((chosen * weights).sum(0) * (probabilities * weights).sum(0)).sum() / weights.sum() ** 2


@config.override_method("MoeDecoderExperts.forward", description="slot moe_experts")
def experts_forward_patched(
    self: Any, hidden_states: torch.Tensor, top_k_index: torch.Tensor, top_k_weights: torch.Tensor
) -> torch.Tensor:
    if veomni_moe_experts.use_non_eager_impl:
        return veomni_moe_experts(self, hidden_states, top_k_index, top_k_weights)
    output = torch.zeros_like(hidden_states)
    for expert in range(self.gate_up_proj.shape[0]):
        token, choice = (top_k_index == expert).nonzero(as_tuple=True)
        gate, up = functional.linear(hidden_states[token], self.gate_up_proj[expert]).chunk(2, dim=-1)
        if self.limit is not None:
            gate, up = gate.clamp(max=self.limit), up.clamp(-self.limit, self.limit)
        rows = functional.linear(functional.silu(gate) * up, self.down_proj[expert])
        output = output.index_add(0, token, (rows * top_k_weights[token, choice, None]).to(output.dtype))
    return output


@config.override_method("MoeDecoderGptOssExperts.forward", description="slot moe_experts")
def gpt_oss_experts_forward_patched(
    self: Any, hidden_states: torch.Tensor, top_k_index: torch.Tensor, top_k_weights: torch.Tensor
) -> torch.Tensor:
    if veomni_gpt_oss_experts.use_non_eager_impl:
        return veomni_gpt_oss_experts(self, hidden_states, top_k_index, top_k_weights)
    output = torch.zeros_like(hidden_states)
    for expert in range(self.gate_up_proj.shape[0]):
        token, choice = (top_k_index == expert).nonzero(as_tuple=True)
        gate_up = hidden_states[token] @ self.gate_up_proj[expert] + self.gate_up_proj_bias[expert]
        gate, up = gate_up[..., ::2].clamp(max=self.limit), gate_up[..., 1::2].clamp(-self.limit, self.limit)
        activated = gate * torch.sigmoid(self.alpha * gate) * (up + 1)
        rows = activated @ self.down_proj[expert] + self.down_proj_bias[expert]
        output = output.index_add(0, token, (rows * top_k_weights[token, choice, None]).to(output.dtype))
    return output


@config.override_method("MoeDecoderAttention.forward", description="selected attention, exchange with other ranks")
def attention_forward_patched(
    self: Any, hidden_states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
) -> torch.Tensor:
    q, k, v = (
        projection(hidden_states).unflatten(-1, (-1, self.head_dim))
        for projection in (self.q_proj, self.k_proj, self.v_proj)
    )
    q, k = apply_rotary_pos_emb(q.transpose(1, 2), k.transpose(1, 2), cos, sin)
    output = attention_forward(veomni_attention.value, q.transpose(1, 2), k.transpose(1, 2), v)
    return self.o_proj(output.flatten(2))


@config.override_method("MoeDecoderModel.forward", description="positions in the whole sequence")
def model_forward_patched(
    self: Any, input_ids: torch.Tensor, position_ids: torch.Tensor | None = None
) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
    if position_ids is None:
        first = get_parallel_state().sp_rank * input_ids.shape[1]
        position_ids = torch.arange(first, first + input_ids.shape[1], device=input_ids.device)[None]
    hidden_states = self.embed_tokens(input_ids)
    angles = (position_ids[..., None].float() * self.inv_freq).repeat(1, 1, 2)
    cos, sin = angles.cos().to(hidden_states.dtype), angles.sin().to(hidden_states.dtype)
    gate_logits = []
    for layer in self.layers:
        hidden_states, logits = layer(hidden_states, cos, sin)
        gate_logits.append(logits)
    return self.norm(hidden_states), tuple(gate_logits)


@config.override_method("MoeDecoderForCausalLM.forward", description="slot cross_entropy_loss, loss over all ranks")
def causal_lm_forward_patched(
    self: Any, input_ids: torch.Tensor, labels: torch.Tensor | None = None, *, shifted: bool = False
) -> ModelOutput:
    """With *shifted* the labels already stand where they are predicted; the aux loss is that of this rank's share."""
    hidden_states, gate_logits = self.model(input_ids)
    if labels is None:
        return ModelOutput(None, self.lm_head(hidden_states))
    state = get_parallel_state()
    if veomni_causal_lm_loss.use_non_eager_impl:
        loss = veomni_causal_lm_loss(hidden_states, self.lm_head.weight, labels, shifted=shifted, group=state.sp_group)
    else:
        loss = causal_lm_loss_eager(hidden_states, self.lm_head.weight, labels, shifted=shifted, group=state.sp_group)
    aux_loss = load_balancing_loss(gate_logits, self.config.num_experts, self.config.num_experts_per_tok)
    return ModelOutput(loss, None, aux_loss / state.sp_size)
