"""Patches that give the hybrid decoder its slots on GPUs (and on CPUs, where they stay eager)."""

from __future__ import annotations

from typing import Any

import torch

from veomni.patchgen import PatchConfig

from ..decoder.decoder_gpu_patch_gen_config import mlp_forward_patched

config = PatchConfig(
    source_module="veomni.models.transformers.hybrid_decoder.modeling_hybrid_decoder",
    target_file="patched_modeling_hybrid_decoder_gpu.py",
    description="the hybrid decoder with slots for its kernels",
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
    veomni_swiglu_mlp = OpSlot("swiglu_mlp", "standard")
    """
)

config.override_method("HybridDecoderMLP.forward", replacement=mlp_forward_patched, description="slot swiglu_mlp")


@config.override_method("HybridDecoderRMSNorm.forward", description="slot rms_norm")
def rms_norm_forward_patched(self: Any, hidden_states: torch.Tensor) -> torch.Tensor:
    if veomni_rms_norm.use_non_eager_impl:
        return veomni_rms_norm(hidden_states, self.weight, self.variance_epsilon)
    rows = hidden_states.float()
    normalised = rows * torch.rsqrt(rows.square().mean(-1, keepdim=True) + self.variance_epsilon)
    return (normalised * (1.0 + self.weight.float())).to(hidden_states.dtype)


@config.override_method("HybridDecoderRMSNormGated.forward", description="slot rms_norm_gated")
def rms_norm_gated_forward_patched(self: Any, hidden_states: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
    if veomni_rms_norm_gated.use_non_eager_impl:
        return veomni_rms_norm_gated(hidden_states, gate, self.weight, self.variance_epsilon)
    return rms_norm_gated_eager(hidden_states, gate, self.weight, self.variance_epsilon)


@config.replace_function("apply_rotary_pos_emb", description="slot rotary_pos_emb")
def apply_rotary_pos_emb_patched(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate the first columns of queries and keys by their positions."""
    if veomni_rotary_pos_emb.use_non_eager_impl:
        return veomni_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=unsqueeze_dim)
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    rotary = cos.shape[-1]
    q_rotated, k_rotated = (x[..., :rotary] * cos + rotate_half(x[..., :rotary]) * sin for x in (q, k))
    return torch.cat((q_rotated, q[..., rotary:]), dim=-1), torch.cat((k_rotated, k[..., rotary:]), dim=-1)


@config.replace_function("causal_conv1d", description="slot causal_conv1d")
def causal_conv1d_patched(x: torch.Tensor, weight: torch.Tensor, cu_seqlens: torch.Tensor | None) -> torch.Tensor:
    """Convolve each column over the tokens before, within its sequence."""
    if veomni_causal_conv1d.use_non_eager_impl:
        return veomni_causal_conv1d(x, weight, cu_seqlens=cu_seqlens)
    return causal_conv1d_eager(x, weight, cu_seqlens=cu_seqlens)


@config.replace_function("chunk_gated_delta_rule", description="slot chunk_gated_delta_rule")
def chunk_gated_delta_rule_patched(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    cu_seqlens: torch.Tensor | None,
) -> torch.Tensor:
    """Linear attention within each sequence."""
    if veomni_chunk_gated_delta_rule.use_non_eager_impl:
        return veomni_chunk_gated_delta_rule(q, k, v, g, beta, cu_seqlens=cu_seqlens)
    return chunk_gated_delta_rule_eager(q, k, v, g, beta, cu_seqlens=cu_seqlens)


@config.override_method("HybridDecoderAttention.forward", description="selected attention")
def attention_forward_patched(
    self: Any, hidden_states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, cu_seqlens: torch.Tensor | None
) -> torch.Tensor:
    q, k, v = (
        projection(hidden_states).unflatten(-1, (-1, self.head_dim))
        for projection in (self.q_proj, self.k_proj, self.v_proj)
    )
    q, k = (x.transpose(1, 2) for x in apply_rotary_pos_emb(q.transpose(1, 2), k.transpose(1, 2), cos, sin))
    bounds = [0, q.shape[1]] if cu_seqlens is None else cu_seqlens.tolist()
    lengths = [end - start for start, end in zip(bounds, bounds[1:], strict=False)]
    parts = zip(*(x.split(lengths, dim=1) for x in (q, k, v)), strict=True)
    outputs = [attention_forward(veomni_attention.value, *part) for part in parts]
    return self.o_proj(torch.cat(outputs, dim=1).flatten(2))


@config.override_method("HybridDecoderForCausalLM.forward", description="slot cross_entropy_loss")
def causal_lm_forward_patched(
    self: Any, input_ids: torch.Tensor, labels: torch.Tensor | None = None, cu_seqlens: torch.Tensor | None = None
) -> ModelOutput:
    hidden_states = self.encode(input_ids, cu_seqlens)
    if labels is None:
        return ModelOutput(None, self.lm_head(hidden_states))
    if veomni_causal_lm_loss.use_non_eager_impl:
        return ModelOutput(veomni_causal_lm_loss(hidden_states, self.lm_head.weight, labels), None)
    return ModelOutput(causal_lm_loss_eager(hidden_states, self.lm_head.weight, labels), None)
