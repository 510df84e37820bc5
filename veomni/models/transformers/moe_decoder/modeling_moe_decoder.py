"""A mixture-of-experts decoder in plain PyTorch, as a model library would ship it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from .configuration_moe_decoder import MoeDecoderConfig


@dataclass
class ModelOutput:
    """What the model returns; the losses are None without labels, ``logits`` where a kernel never makes them."""

    loss: torch.Tensor | None
    logits: torch.Tensor | None
    aux_loss: torch.Tensor | None = None


class MoeDecoderRMSNorm(nn.Module):
    """Root mean square normalisation of the last dimension."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.variance_epsilon = eps

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        rows = hidden_states.float()
        normalised = rows * torch.rsqrt(rows.square().mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * normalised.to(hidden_states.dtype)


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


def load_balancing_loss(
    gate_logits: tuple[torch.Tensor, ...], num_experts: int, top_k: int, attention_mask: torch.Tensor | None = None
) -> torch.Tensor:
    """Experts times the sum over experts of (share of tokens routed there) times (mean probability of it)."""
    probabilities = torch.cat(gate_logits).float().softmax(-1)
    chosen = torch.zeros_like(probabilities).scatter_(1, probabilities.topk(top_k, dim=-1).indices, 1.0)
    weights = torch.ones_like(probabilities[:, :1])
    if attention_mask is not None:
        weights = attention_mask.flatten().float().repeat(len(gate_logits))[:, None]
    return num_experts * ((chosen * weights).sum(0) * (probabilities * weights).sum(0)).sum() / weights.sum() ** 2


class MoeDecoderExperts(nn.Module):
    """Experts of the SwiGLU kind."""

    def __init__(self, config: MoeDecoderConfig) -> None:
        super().__init__()
        experts, hidden, inner = config.num_experts, config.hidden_size, config.moe_intermediate_size
        self.limit = config.swiglu_limit
        self.gate_up_proj = nn.Parameter(torch.randn(experts, 2 * inner, hidden) * hidden**-0.5)
        self.down_proj = nn.Parameter(torch.randn(experts, hidden, inner) * inner**-0.5)

    def forward(
        self, hidden_states: torch.Tensor, top_k_index: torch.Tensor, top_k_weights: torch.Tensor
    ) -> torch.Tensor:
        output = torch.zeros_like(hidden_states)
        for expert in range(self.gate_up_proj.shape[0]):
            token, choice = (top_k_index == expert).nonzero(as_tuple=True)
            gate, up = functional.linear(hidden_states[token], self.gate_up_proj[expert]).chunk(2, dim=-1)
            if self.limit is not None:
                gate, up = gate.clamp(max=self.limit), up.clamp(-self.limit, self.limit)
            rows = functional.linear(functional.silu(gate) * up, self.down_proj[expert])
            output = output.index_add(0, token, (rows * top_k_weights[token, choice, None]).to(output.dtype))
        return output


class MoeDecoderGptOssExperts(nn.Module):
    """Experts of the gpt_oss kind: with biases, and gates interleaved with the other factors."""

    def __init__(self, config: MoeDecoderConfig) -> None:
        super().__init__()
        experts, hidden, inner = config.num_experts, config.hidden_size, config.moe_intermediate_size
        self.alpha, self.limit = 1.702, 7.0
        self.gate_up_proj = nn.Parameter(torch.randn(experts, hidden, 2 * inner) * hidden**-0.5)
        self.gate_up_proj_bias = nn.Parameter(torch.zeros(experts, 2 * inner))
        self.down_proj = nn.Parameter(torch.randn(experts, inner, hidden) * inner**-0.5)
        self.down_proj_bias = nn.Parameter(torch.zeros(experts, hidden))

    def forward(
        self, hidden_states: torch.Tensor, top_k_index: torch.Tensor, top_k_weights: torch.Tensor
    ) -> torch.Tensor:
        output = torch.zeros_like(hidden_states)
        for expert in range(self.gate_up_proj.shape[0]):
            token, choice = (top_k_index == expert).nonzero(as_tuple=True)
            gate_up = hidden_states[token] @ self.gate_up_proj[expert] + self.gate_up_proj_bias[expert]
            gate, up = gate_up[..., ::2].clamp(max=self.limit), gate_up[..., 1::2].clamp(-self.limit, self.limit)
            activated = gate * torch.sigmoid(self.alpha * gate) * (up + 1)
            rows = activated @ self.down_proj[expert] + self.down_proj_bias[expert]
            output = output.index_add(0, token, (rows * top_k_weights[token, choice, None]).to(output.dtype))
        return output


class MoeDecoderBlock(nn.Module):
    """The router and its experts."""

    def __init__(self, config: MoeDecoderConfig) -> None:
        super().__init__()
        self.top_k = config.num_experts_per_tok
        self.gate = nn.Linear(config.hidden_size, config.num_experts, bias=False)
        kind = MoeDecoderExperts if config.experts == "swiglu" else MoeDecoderGptOssExperts
        self.experts = kind(config)

    def forward(self, hidden_states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        tokens = hidden_states.flatten(0, 1)
        gate_logits = self.gate(tokens)
        top_k_weights, top_k_index = gate_logits.float().softmax(-1).topk(self.top_k, dim=-1)
        top_k_weights = (top_k_weights / top_k_weights.sum(-1, keepdim=True)).to(tokens.dtype)
        return self.experts(tokens, top_k_index, top_k_weights).view_as(hidden_states), gate_logits


class MoeDecoderAttention(nn.Module):
    """Causal grouped-query attention."""

    def __init__(self, config: MoeDecoderConfig) -> None:
        super().__init__()
        self.head_dim = config.head_dim
        self.q_proj = nn.Linear(config.hidden_size, config.num_attention_heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(config.num_attention_heads * self.head_dim, config.hidden_size, bias=False)

    def forward(self, hidden_states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        q, k, v = (
            projection(hidden_states).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = apply_rotary_pos_emb(q, k, cos, sin)
        output = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o_proj(output.transpose(1, 2).flatten(2))


class MoeDecoderLayer(nn.Module):
    """Attention and experts, each behind a norm and around a residual."""

    def __init__(self, config: MoeDecoderConfig) -> None:
        super().__init__()
        self.input_layernorm = MoeDecoderRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = MoeDecoderAttention(config)
        self.post_attention_layernorm = MoeDecoderRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = MoeDecoderBlock(config)

    def forward(
        self, hidden_states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        hidden_states = hidden_states + self.self_attn(self.input_layernorm(hidden_states), cos, sin)
        output, gate_logits = self.mlp(self.post_attention_layernorm(hidden_states))
        return hidden_states + output, gate_logits


class MoeDecoderModel(nn.Module):
    """The stack of layers, from token ids to hidden states and router logits."""

    def __init__(self, config: MoeDecoderConfig) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(MoeDecoderLayer(config) for _ in range(config.num_hidden_layers))
        self.norm = MoeDecoderRMSNorm(config.hidden_size, config.rms_norm_eps)
        exponents = torch.arange(0, config.head_dim, 2, dtype=torch.float32) / config.head_dim
        self.register_buffer("inv_freq", config.rope_theta**-exponents, persistent=False)

    def forward(
        self, input_ids: torch.Tensor, position_ids: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        if position_ids is None:
            position_ids = torch.arange(input_ids.shape[1], device=input_ids.device)[None]
        hidden_states = self.embed_tokens(input_ids)
        angles = (position_ids[..., None].float() * self.inv_freq).repeat(1, 1, 2)
        cos, sin = angles.cos().to(hidden_states.dtype), angles.sin().to(hidden_states.dtype)
        gate_logits = []
        for layer in self.layers:
            hidden_states, logits = layer(hidden_states, cos, sin)
            gate_logits.append(logits)
        return self.norm(hidden_states), tuple(gate_logits)


class MoeDecoderForCausalLM(nn.Module):
    """The model with a head that predicts the next token."""

    def __init__(self, config: MoeDecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.model = MoeDecoderModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor | None = None) -> ModelOutput:
        hidden_states, gate_logits = self.model(input_ids)
        logits = self.lm_head(hidden_states)
        if labels is None:
            return ModelOutput(None, logits)
        loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten())
        aux_loss = load_balancing_loss(gate_logits, self.config.num_experts, self.config.num_experts_per_tok)
        return ModelOutput(loss, logits, aux_loss)
