"""Patches that give the dense decoder its slots on GPUs (and on CPUs, where every slot stays eager)."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from veomni.patchgen import PatchConfig

config = PatchConfig(
    source_module="veomni.models.transformers.decoder.modeling_decoder",
    target_file="patched_modeling_decoder_gpu.py",
    description="the dense decoder with slots for its kernels",
)

config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot

    veomni_rms_norm = OpSlot("rms_norm", "standard")
    veomni_rotary_pos_emb = OpSlot("rotary_pos_emb", "full")
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
