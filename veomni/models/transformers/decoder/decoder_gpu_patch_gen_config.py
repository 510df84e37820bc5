"""Patches that give the dense decoder its slots on GPUs (and on CPUs, where they stay eager)."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from veomni.patchgen import PatchConfig

config = PatchConfig(
    source_module="veomni.models.transformers.decoder.modeling_decoder",
    target_file="patched_modeling_decoder_gpu.py",
    description="the dense decoder with slots for its kernels, over sequences that may be cut up among ranks",
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
    veomni_swiglu_mlp = OpSlot("swiglu_mlp", "standard")
    """
)


@config.override_method("DecoderRMSNorm.forward", description="slot rms_norm")
def rms_norm_forward_patched(self: Any, hidden_states: torch.Tensor) -> torch.Tensor:
    if veomni_rms_norm.use_non_eager_impl:
        return veomni_rms_norm(hidden_states, self.weight, self.variance_epsilon)
    rows = hidden_states.float()
    normalised = rows * torch.rsqrt(rows.square().mean(-1, keepdim=True) + self.variance_epsilon)
    return self.weight * normalised.to(hidden_states.dtype)


@config.override_method("DecoderMLP.forward", description="slot swiglu_mlp")
def mlp_forward_patched(self: Any, x: torch.Tensor) -> torch.Tensor:
    if veomni_swiglu_mlp.use_non_eager_impl:
        return veomni_swiglu_mlp(self, x)
    return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


@config.replace_function("apply_rotary_pos_emb", description="slot rotary_pos_emb")
def apply_rotary_pos_emb_patched(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate queries and keys by their positions."""
    if veomni_rotary_pos_emb.use_non_eager_impl:
        return veomni_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=unsqueeze_dim)
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


@config.override_method("DecoderAttention.forward", description="selected attention, exchange with other ranks")
def attention_forward_patched(
    self: Any, hidden_states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
) -> torch.Tensor:
    if get_parallel_state().async_ulysses:
        return async_ulysses_attention(self, hidden_states, cos, sin, veomni_attention.value)
    q, k, v = (
        projection(hidden_states).unflatten(-1, (-1, self.head_dim))
        for projection in (self.q_proj, self.k_proj, self.v_proj)
    )
    q, k = apply_rotary_pos_emb(self.q_norm(q).transpose(1, 2), self.k_norm(k).transpose(1, 2), cos, sin)
    output = attention_forward(veomni_attention.value, q.transpose(1, 2), k.transpose(1, 2), v)
    return self.o_proj(output.flatten(2))


@config.override_method("DecoderModel.forward", description="positions in the whole sequence")
def model_forward_patched(self: Any, input_ids: torch.Tensor, position_ids: torch.Tensor | None = None) -> torch.Tensor:
    if position_ids is None:
        first = get_parallel_state().sp_rank * input_ids.shape[1]
        position_ids = torch.arange(first, first + input_ids.shape[1], device=input_ids.device)[None]
    hidden_states = self.embed_tokens(input_ids)
    cos, sin = self.rotary_emb(hidden_states, position_ids)
    for layer in self.layers:
        hidden_states = layer(hidden_states, cos, sin)
    return self.norm(hidden_states)


@config.override_method("DecoderForCausalLM.forward", description="slot cross_entropy_loss, loss over all ranks")
def causal_lm_forward_patched(
    self: Any, input_ids: torch.Tensor, labels: torch.Tensor | None = None, *, shifted: bool = False
) -> ModelOutput:
    """With *shifted* the labels already stand where they are predicted."""
    hidden_states = self.model(input_ids)
    if labels is None:
        return ModelOutput(None, self.lm_head(hidden_states))
    group = get_parallel_state().sp_group
    if veomni_causal_lm_loss.use_non_eager_impl:
        loss = veomni_causal_lm_loss(hidden_states, self.lm_head.weight, labels, shifted=shifted, group=group)
    else:
        loss = causal_lm_loss_eager(hidden_states, self.lm_head.weight, labels, shifted=shifted, group=group)
    return ModelOutput(loss, None)


@config.override_method(
    "DecoderForSequenceClassification.forward", description="slot cross_entropy_loss, loss over all ranks"
)
def seq_cls_forward_patched(self: Any, input_ids: torch.Tensor, labels: torch.Tensor | None = None) -> ModelOutput:
    hidden_states = self.model(input_ids)
    if labels is None:
        return ModelOutput(None, self.score(hidden_states))
    group = get_parallel_state().sp_group
    if veomni_seq_cls_loss.use_non_eager_impl:
        loss = veomni_seq_cls_loss(hidden_states, self.score.weight, labels, group=group)
    else:
        loss = seq_cls_loss_eager(hidden_states, self.score.weight, labels, group=group)
    return ModelOutput(loss, None)
