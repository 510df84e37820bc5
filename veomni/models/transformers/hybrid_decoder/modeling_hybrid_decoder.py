"""A hybrid decoder in plain PyTorch, as a model library would ship it; linear attention is the eager definition."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from veomni.ops.kernels.gated_delta_rule.eager import (
    causal_conv1d_eager,
    chunk_gated_delta_rule_eager,
    rms_norm_gated_eager,
)

from .configuration_hybrid_decoder import HybridDecoderConfig


@dataclass
class ModelOutput:
    """What the model returns; ``loss`` is None without labels, ``logits`` where a kernel never makes them."""

    loss: torch.Tensor | None
    logits: torch.Tensor | None


class HybridDecoderRMSNorm(nn.Module):
    """Root mean square normalisation whose weight is the distance from one."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))
        self.variance_epsilon = eps

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        rows = hidden_states.float()
        normalised = rows * torch.rsqrt(rows.square().mean(-1, keepdim=True) + self.variance_epsilon)
        return (normalised * (1.0 + self.weight.float())).to(hidden_states.dtype)


class HybridDecoderRMSNormGated(nn.Module):
    """Root mean square normalisation times a gate."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.variance_epsilon = eps

    def forward(self, hidden_states: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        return rms_norm_gated_eager(hidden_states, gate, self.weight, self.variance_epsilon)


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    """Swap the halves of the last dimension and negate what comes first."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def apply_rotary_pos_emb(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate the first columns of queries and keys by their positions."""
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    rotary = cos.shape[-1]
    q_rotated, k_rotated = (x[..., :rotary] * cos + rotate_half(x[..., :rotary]) * sin for x in (q, k))
    return torch.cat((q_rotated, q[..., rotary:]), dim=-1), torch.cat((k_rotated, k[..., rotary:]), dim=-1)


def causal_conv1d(x: torch.Tensor, weight: torch.Tensor, cu_seqlens: torch.Tensor | None) -> torch.Tensor:
    """Convolve each column over the tokens before, within its sequence."""
    return causal_conv1d_eager(x, weight, cu_seqlens=cu_seqlens)


def chunk_gated_delta_rule(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    cu_seqlens: torch.Tensor | None,
) -> torch.Tensor:
    """Linear attention within each sequence."""
    return chunk_gated_delta_rule_eager(q, k, v, g, beta, cu_seqlens=cu_seqlens)


class HybridDecoderGatedDeltaNet(nn.Module):
    """Linear attention by the gated delta rule."""

    def __init__(self, config: HybridDecoderConfig) -> None:
        super().__init__()
        self.head_dim = config.linear_head_dim
        size = config.linear_num_heads * config.linear_head_dim
        self.in_proj_qkv = nn.Linear(config.hidden_size, 3 * size, bias=False)
        self.in_proj_gate = nn.Linear(config.hidden_size, size, bias=False)
        self.in_proj_rates = nn.Linear(config.hidden_size, 2 * config.linear_num_heads, bias=False)
        self.conv_weight = nn.Parameter(torch.randn(3 * size, config.linear_conv_width) * 0.5)
        self.decay_log = nn.Parameter(torch.zeros(config.linear_num_heads))
        self.decay_bias = nn.Parameter(torch.ones(config.linear_num_heads))
        self.norm = HybridDecoderRMSNormGated(config.linear_head_dim, config.rms_norm_eps)
        self.out_proj = nn.Linear(size, config.hidden_size, bias=False)

    def forward(self, hidden_states: torch.Tensor, cu_seqlens: torch.Tensor | None) -> torch.Tensor:
        mixed = causal_conv1d(self.in_proj_qkv(hidden_states), self.conv_weight, cu_seqlens)
        q, k, v = (x.unflatten(-1, (-1, self.head_dim)) for x in mixed.chunk(3, dim=-1))
        share, rate = self.in_proj_rates(hidden_states).chunk(2, dim=-1)
        decay = -self.decay_log.float().exp() * functional.softplus(rate.float() + self.decay_bias)
        output = chunk_gated_delta_rule(q, k, v, decay, share.sigmoid(), cu_seqlens)
        gate = self.in_proj_gate(hidden_states).unflatten(-1, (-1, self.head_dim))
        return self.out_proj(self.norm(output, gate).flatten(2))


class HybridDecoderAttention(nn.Module):
    """Causal grouped-query softmax attention."""

    def __init__(self, config: HybridDecoderConfig) -> None:
        super().__init__()
        self.head_dim = config.head_dim
        self.q_proj = nn.Linear(config.hidden_size, config.num_attention_heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(config.num_attention_heads * self.head_dim, config.hidden_size, bias=False)

    def forward(
        self, hidden_states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, cu_seqlens: torch.Tensor | None
    ) -> torch.Tensor:
        q, k, v = (
            projection(hidden_states).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = apply_rotary_pos_emb(q, k, cos, sin)
        bounds = [0, q.shape[2]] if cu_seqlens is None else cu_seqlens.tolist()
        lengths = [end - start for start, end in zip(bounds, bounds[1:], strict=False)]
        parts = zip(*(x.split(lengths, dim=2) for x in (q, k, v)), strict=True)
        outputs = [functional.scaled_dot_product_attention(*p, is_causal=True, enable_gqa=True) for p in parts]
        return self.o_proj(torch.cat(outputs, dim=2).transpose(1, 2).flatten(2))


class HybridDecoderMLP(nn.Module):
    """Gated feed-forward layer."""

    def __init__(self, config: HybridDecoderConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class HybridDecoderLayer(nn.Module):
    """Attention of either kind and feed-forward, each behind a norm and around a residual."""

    def __init__(self, config: HybridDecoderConfig, index: int) -> None:
        super().__init__()
        self.is_linear = (index + 1) % config.full_attention_interval != 0
        self.input_layernorm = HybridDecoderRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.attention = HybridDecoderGatedDeltaNet(config) if self.is_linear else HybridDecoderAttention(config)
        self.post_attention_layernorm = HybridDecoderRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = HybridDecoderMLP(config)

    def forward(
        self, hidden_states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, cu_seqlens: torch.Tensor | None
    ) -> torch.Tensor:
        normalised = self.input_layernorm(hidden_states)
        if self.is_linear:
            hidden_states = hidden_states + self.attention(normalised, cu_seqlens)
        else:
            hidden_states = hidden_states + self.attention(normalised, cos, sin, cu_seqlens)
        return hidden_states + self.mlp(self.post_attention_layernorm(hidden_states))


class HybridDecoderForCausalLM(nn.Module):
    """The layers with a head that predicts the next token; *cu_seqlens* says where packed sequences begin and end."""

    def __init__(self, config: HybridDecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(HybridDecoderLayer(config, i) for i in range(config.num_hidden_layers))
        self.norm = HybridDecoderRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        exponents = torch.arange(0, config.rotary_dim, 2, dtype=torch.float32) / config.rotary_dim
        self.register_buffer("inv_freq", config.rope_theta**-exponents, persistent=False)

    def encode(self, input_ids: torch.Tensor, cu_seqlens: torch.Tensor | None) -> torch.Tensor:
        """From token ids to normalised hidden states."""
        hidden_states = self.embed_tokens(input_ids)
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)[None, :, None].float()
        angles = (positions * self.inv_freq).repeat(1, 1, 2)
        cos, sin = angles.cos().to(hidden_states.dtype), angles.sin().to(hidden_states.dtype)
        for layer in self.layers:
            hidden_states = layer(hidden_states, cos, sin, cu_seqlens)
        return self.norm(hidden_states)

    def forward(
        self, input_ids: torch.Tensor, labels: torch.Tensor | None = None, cu_seqlens: torch.Tensor | None = None
    ) -> ModelOutput:
        logits = self.lm_head(self.encode(input_ids, cu_seqlens))
        loss = None
        if labels is not None:
            loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten())
        return ModelOutput(loss, logits)
