"""A model of the DeepSeek-V4 kind in plain PyTorch, as a model library would ship it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from veomni.ops.kernels.deepseek_v4.eager import lightning_indexer_eager, sparse_attention_with_sink_eager
from veomni.ops.kernels.mhc.eager import mhc_head_eager, mhc_post_eager, mhc_pre_eager

from .configuration_deepseek_v4 import DeepseekV4Config


@dataclass
class ModelOutput:
    """What the model returns; ``loss`` is None without labels, ``logits`` where a kernel never makes them."""

    loss: torch.Tensor | None
    logits: torch.Tensor | None


class DeepseekV4RMSNorm(nn.Module):
    """Root mean square normalisation of the last dimension."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.variance_epsilon = eps

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        rows = hidden_states.float()
        normalised = rows * torch.rsqrt(rows.square().mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * normalised.to(hidden_states.dtype)


class DeepseekV4UnweightedRMSNorm(nn.Module):
    """Root mean square normalisation without a weight."""

    def __init__(self, eps: float) -> None:
        super().__init__()
        self.variance_epsilon = eps

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        rows = hidden_states.float()
        scale = torch.rsqrt(rows.square().mean(-1, keepdim=True) + self.variance_epsilon)
        return (rows * scale).to(hidden_states.dtype)


class DeepseekV4RotaryEmbedding(nn.Module):
    """Cosines and sines of the rotation angles."""

    def __init__(self, config: DeepseekV4Config) -> None:
        super().__init__()
        exponents = torch.arange(0, config.head_dim, 2, dtype=torch.float32) / config.head_dim
        self.register_buffer("inv_freq", config.rope_theta**-exponents, persistent=False)
        self.attention_scaling = 1.0

    @torch.no_grad()
    def forward(self, x: torch.Tensor, position_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        frequencies = self.inv_freq[None, :, None].expand(position_ids.shape[0], -1, 1)
        angles = (frequencies @ position_ids[:, None, :].float()).transpose(1, 2)
        angles = torch.cat((angles, angles), dim=-1)
        return (angles.cos() * self.attention_scaling).to(x.dtype), (angles.sin() * self.attention_scaling).to(x.dtype)


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    """Swap the halves of the last dimension and negate what comes first."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def apply_rotary_pos_emb(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate queries and keys by their positions."""
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def index_keys(q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, topk: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The scores and indices of the keys that each token attends to."""
    return lightning_indexer_eager(q, k, weights, topk)


def sparse_attention(
    q: torch.Tensor, kv: torch.Tensor, sink: torch.Tensor, indices: torch.Tensor, scale: float
) -> torch.Tensor:
    """Attend to the selected keys and to the sink."""
    return sparse_attention_with_sink_eager(q, kv, sink, indices, scale)


class DeepseekV4HyperConnection(nn.Module):
    """The mixes of the residual streams around one layer."""

    def __init__(self, config: DeepseekV4Config) -> None:
        super().__init__()
        self.norm_eps, self.iters, self.eps = config.rms_norm_eps, config.hc_sinkhorn_iters, config.hc_eps
        rows = config.hc_mult * (2 + config.hc_mult)
        self.fn = nn.Parameter(torch.randn(rows, config.hc_mult * config.hidden_size) * 0.02)
        self.scale = nn.Parameter(torch.ones(3))
        self.base = nn.Parameter(torch.zeros(rows))

    def forward(self, streams: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return mhc_pre_eager(streams, self.fn, self.scale, self.base, self.norm_eps, self.iters, self.eps)

    def mix(
        self, output: torch.Tensor, streams: torch.Tensor, post: torch.Tensor, combination: torch.Tensor
    ) -> torch.Tensor:
        """The streams after the layer."""
        return mhc_post_eager(output, streams, post, combination)


class DeepseekV4HyperHead(nn.Module):
    """One stream out of all, after the last layer."""

    def __init__(self, config: DeepseekV4Config) -> None:
        super().__init__()
        self.norm_eps, self.eps = config.rms_norm_eps, config.hc_eps
        self.fn = nn.Parameter(torch.randn(config.hc_mult, config.hc_mult * config.hidden_size) * 0.02)
        self.scale = nn.Parameter(torch.ones(1))
        self.base = nn.Parameter(torch.zeros(config.hc_mult))

    def forward(self, streams: torch.Tensor) -> torch.Tensor:
        return mhc_head_eager(streams, self.fn, self.scale, self.base, self.norm_eps, self.eps)


class DeepseekV4Attention(nn.Module):
    """Attention of all heads to the selected ones of one row of keys, which are the values too, for each token."""

    def __init__(self, config: DeepseekV4Config) -> None:
        super().__init__()
        self.head_dim, self.index_dim, self.topk = config.head_dim, config.index_head_dim, config.index_topk
        self.q_proj = nn.Linear(config.hidden_size, config.num_attention_heads * self.head_dim, bias=False)
        self.kv_proj = nn.Linear(config.hidden_size, self.head_dim, bias=False)
        self.index_q_proj = nn.Linear(config.hidden_size, config.index_n_heads * self.index_dim, bias=False)
        self.index_k_proj = nn.Linear(config.hidden_size, self.index_dim, bias=False)
        self.index_weights = nn.Linear(config.hidden_size, config.index_n_heads, bias=False)
        self.q_norm = DeepseekV4UnweightedRMSNorm(config.rms_norm_eps)
        self.kv_norm = DeepseekV4RMSNorm(self.head_dim, config.rms_norm_eps)
        self.sink = nn.Parameter(torch.zeros(config.num_attention_heads))
        self.o_proj = nn.Linear(config.num_attention_heads * self.head_dim, config.hidden_size, bias=False)

    def forward(self, hidden_states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        q = self.q_norm(self.q_proj(hidden_states).unflatten(-1, (-1, self.head_dim)))
        kv = self.kv_norm(self.kv_proj(hidden_states))
        q, kv = apply_rotary_pos_emb(q.transpose(1, 2), kv[:, None], cos, sin)
        indices = self.select_keys(hidden_states)
        output = sparse_attention(q.transpose(1, 2), kv[:, 0], self.sink, indices, self.head_dim**-0.5)
        return self.o_proj(output.flatten(2))

    @torch.no_grad()
    def select_keys(self, hidden_states: torch.Tensor) -> torch.Tensor:
        """The keys that each token attends to. The indexer learns from a loss of its own, which this model has not."""
        index_q = self.index_q_proj(hidden_states).unflatten(-1, (-1, self.index_dim))
        weights = self.index_weights(hidden_states)
        return index_keys(index_q, self.index_k_proj(hidden_states), weights, self.topk)[1]


class DeepseekV4MLP(nn.Module):
    """Gated feed-forward layer."""

    def __init__(self, config: DeepseekV4Config) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class DeepseekV4DecoderLayer(nn.Module):
    """Attention and feed-forward, each between the mixes of a hyper-connection."""

    def __init__(self, config: DeepseekV4Config) -> None:
        super().__init__()
        self.attn_hc, self.mlp_hc = DeepseekV4HyperConnection(config), DeepseekV4HyperConnection(config)
        self.input_layernorm = DeepseekV4RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = DeepseekV4Attention(config)
        self.post_attention_layernorm = DeepseekV4RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = DeepseekV4MLP(config)

    def forward(self, streams: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        post, combination, collapsed = self.attn_hc(streams)
        output = self.self_attn(self.input_layernorm(collapsed), cos, sin)
        streams = self.attn_hc.mix(output, streams, post, combination)
        post, combination, collapsed = self.mlp_hc(streams)
        return self.mlp_hc.mix(self.mlp(self.post_attention_layernorm(collapsed)), streams, post, combination)


class DeepseekV4ForCausalLM(nn.Module):
    """The layers with a head that predicts the next token."""

    def __init__(self, config: DeepseekV4Config) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(DeepseekV4DecoderLayer(config) for _ in range(config.num_hidden_layers))
        self.hc_head = DeepseekV4HyperHead(config)
        self.norm = DeepseekV4RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.rotary_emb = DeepseekV4RotaryEmbedding(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def encode(self, input_ids: torch.Tensor) -> torch.Tensor:
        """From token ids to normalised hidden states."""
        hidden_states = self.embed_tokens(input_ids)
        cos, sin = self.rotary_emb(hidden_states, torch.arange(input_ids.shape[1], device=input_ids.device)[None])
        streams = hidden_states.unsqueeze(2).expand(-1, -1, self.config.hc_mult, -1)
        for layer in self.layers:
            streams = layer(streams, cos, sin)
        return self.norm(self.hc_head(streams))

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor | None = None) -> ModelOutput:
        logits = self.lm_head(self.encode(input_ids))
        loss = None
        if labels is not None:
            loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten())
        return ModelOutput(loss, logits)
