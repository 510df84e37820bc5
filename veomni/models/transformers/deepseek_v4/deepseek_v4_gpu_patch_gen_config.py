"""Patches of the DeepSeek-V4 model on GPUs. The weighted norm and the rotation are bound by ``device_patch.py``."""

from __future__ import annotations

from typing import Any

import torch

from veomni.patchgen import PatchConfig

from ..decoder.decoder_gpu_patch_gen_config import mlp_forward_patched
from ..deepseek_v3.deepseek_v3_gpu_patch_gen_config import causal_lm_forward_patched

config = PatchConfig(
    source_module="veomni.models.transformers.deepseek_v4.modeling_deepseek_v4",
    target_file="patched_modeling_deepseek_v4_gpu.py",
    description="the DeepSeek-V4 model with slots for its kernels",
)

config.add_import("veomni.ops.kernels.cross_entropy.eager", names=["causal_lm_loss_eager"])
config.add_post_import_block(
    """
    from veomni.ops.dispatch import OpSlot

    veomni_causal_lm_loss = OpSlot("cross_entropy_loss", "causal")
    veomni_mhc_head = OpSlot("mhc", "head")
    veomni_mhc_post = OpSlot("mhc", "post")
    veomni_mhc_pre = OpSlot("mhc", "pre")
    veomni_swiglu_mlp = OpSlot("swiglu_mlp", "standard")
    veomni_unweighted_rms_norm = OpSlot("rms_norm", "unweighted")
    veomni_v4_indexer = OpSlot("v4_indexer", "standard")
    veomni_v4_sparse_attention = OpSlot("v4_sparse_attention", "standard")
    """
)

config.override_method("DeepseekV4MLP.forward", replacement=mlp_forward_patched, description="slot swiglu_mlp")
config.override_method(
    "DeepseekV4ForCausalLM.forward", replacement=causal_lm_forward_patched, description="slot cross_entropy_loss"
)


@config.override_method("DeepseekV4UnweightedRMSNorm.forward", description="slot rms_norm")
def unweighted_rms_norm_forward_patched(self: Any, hidden_states: torch.Tensor) -> torch.Tensor:
    if veomni_unweighted_rms_norm.use_non_eager_impl:
        return veomni_unweighted_rms_norm(hidden_states, self.variance_epsilon)
    rows = hidden_states.float()
    scale = torch.rsqrt(rows.square().mean(-1, keepdim=True) + self.variance_epsilon)
    return (rows * scale).to(hidden_states.dtype)


@config.replace_function("index_keys", description="slot v4_indexer")
def index_keys_patched(
    q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, topk: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The scores and indices of the keys that each token attends to."""
    if veomni_v4_indexer.use_non_eager_impl:
        return veomni_v4_indexer(q, k, weights, topk)
    return lightning_indexer_eager(q, k, weights, topk)


@config.replace_function("sparse_attention", description="slot v4_sparse_attention")
def sparse_attention_patched(
    q: torch.Tensor, kv: torch.Tensor, sink: torch.Tensor, indices: torch.Tensor, scale: float
) -> torch.Tensor:
    """Attend to the selected keys and to the sink."""
    if veomni_v4_sparse_attention.use_non_eager_impl:
        return veomni_v4_sparse_attention(q, kv, sink, indices, scale)
    return sparse_attention_with_sink_eager(q, kv, sink, indices, scale)


@config.override_method("DeepseekV4HyperConnection.forward", description="slot mhc")
def mhc_pre_patched(self: Any, streams: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if veomni_mhc_pre.use_non_eager_impl:
        return veomni_mhc_pre(streams, self.fn, self.scale, self.base, self.norm_eps, self.iters, self.eps)
    return mhc_pre_eager(streams, self.fn, self.scale, self.base, self.norm_eps, self.iters, self.eps)


@config.override_method("DeepseekV4HyperConnection.mix", description="slot mhc")
def mhc_post_patched(
    self: Any, output: torch.Tensor, streams: torch.Tensor, post: torch.Tensor, combination: torch.Tensor
) -> torch.Tensor:
    """The streams after the layer."""
    if veomni_mhc_post.use_non_eager_impl:
        return veomni_mhc_post(output, streams, post, combination)
    return mhc_post_eager(output, streams, post, combination)


@config.override_method("DeepseekV4HyperHead.forward", description="slot mhc")
def mhc_head_patched(self: Any, streams: torch.Tensor) -> torch.Tensor:
    if veomni_mhc_head.use_non_eager_impl:
        return veomni_mhc_head(streams, self.fn, self.scale, self.base, self.norm_eps, self.eps)
    return mhc_head_eager(streams, self.fn, self.scale, self.base, self.norm_eps, self.eps)
