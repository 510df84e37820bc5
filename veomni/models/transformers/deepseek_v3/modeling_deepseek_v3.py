"""A model of the DeepSeek-V3 kind in plain PyTorch, as a model library would ship it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from .configuration_deepseek_v3 import DeepseekV3Config


@dataclass
class ModelOutput:
    """What the model returns; ``loss`` is None without labels, ``logits`` where a kernel never makes them."""

    loss: torch.Tensor | None
    logits: torch.Tensor | None


class DeepseekV3RMSNorm(nn.Module):
    """Root mean square normalisation of the last dimension."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.variance_epsilon = eps

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        rows = hidden_states.float()
        normalised = rows * torch.rsqrt(rows.square().mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * normalised.to(hidden_states.dtype)


class DeepseekV3RotaryEmbedding(nn.Module):
    """Cosines and sines of the rotation angles."""

    def __init__(self, config: DeepseekV3Config) -> None:
        super().__init__()
        exponents = torch.arange(0, config.qk_rope_head_dim, 2, dtype=torch.float32) / config.qk_rope_head_dim
        self.register_buffer("inv_freq", config.rope_theta**-exponents, persistent=False)
        self.attention_scaling = 1.0

    @torch.no_grad()
    def forward(self, x: torch.Tensor, position_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        frequencies = self.inv_freq[None, :, None].expand(position_ids.shape[0], -1, 1)
        angles = (frequencies @ position_ids[:, None, :].float()).transpose(1, 2)
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos() * self.attention_scaling, angles.sin() * self.attention_scaling
        return cos.to(x.dtype), sin.to(x.dtype)


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


def sparse_attention(
    q: torch.Tensor, kv: torch.Tensor, indices: torch.Tensor, value_width: int, scale: float
) -> torch.Tensor:
    """Attend from (batch, tokens, heads, width) to the rows of (batch, keys, width) that *indices* name, or -1."""
    batch = torch.arange(q.shape[0], device=q.device)[:, None, None]
    selected = kv.float()[batch, indices.clamp(min=0)]
    scores = torch.einsum("bthd,btkd->bthk", q.float(), selected) * scale
    weights = scores.masked_fill((indices < 0)[:, :, None], float("-inf")).softmax(-1)
    return torch.einsum("bthk,btkd->bthd", weights, selected[..., :value_width]).to(q.dtype)


class DeepseekV3Attention(nn.Module):
    """Latent attention: all heads share one compressed row of keys and values for each token."""

    def __init__(self, config: DeepseekV3Config) -> None:
        super().__init__()
        self.heads, self.rank, self.index_topk = config.num_attention_heads, config.kv_lora_rank, config.index_topk
        self.nope, self.rope, self.value = config.qk_nope_head_dim, config.qk_rope_head_dim, config.v_head_dim
        self.q_proj = nn.Linear(config.hidden_size, self.heads * (self.nope + self.rope), bias=False)
        self.kv_a_proj = nn.Linear(config.hidden_size, self.rank + self.rope, bias=False)
        self.kv_a_layernorm = DeepseekV3RMSNorm(self.rank, config.rms_norm_eps)
        self.k_b_proj = nn.Parameter(torch.randn(self.heads, self.nope, self.rank) * self.rank**-0.5)
        self.v_b_proj = nn.Parameter(torch.randn(self.heads, self.value, self.rank) * self.rank**-0.5)
        self.o_proj = nn.Linear(self.heads * self.value, config.hidden_size, bias=False)

    def forward(self, hidden_states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        tokens = hidden_states.shape[1]
        q_nope, q_rope = self.q_proj(hidden_states).unflatten(-1, (self.heads, -1)).split((self.nope, self.rope), -1)
        latent, k_rope = self.kv_a_proj(hidden_states).split((self.rank, self.rope), dim=-1)
        q_rope, k_rope = apply_rotary_pos_emb(q_rope.transpose(1, 2), k_rope[:, None], cos, sin)
        # The keys' projection is applied to the queries, so that the attention sees the latent rows only.
        absorbed = torch.einsum("bthn,hnr->bthr", q_nope, self.k_b_proj)
        q = torch.cat((absorbed, q_rope.transpose(1, 2)), dim=-1)
        kv = torch.cat((self.kv_a_layernorm(latent), k_rope[:, 0]), dim=-1)
        indices = self.select_keys(q, kv, tokens)
        output = sparse_attention(q, kv, indices, self.rank, (self.nope + self.rope) ** -0.5)
        return self.o_proj(torch.einsum("bthr,hvr->bthv", output, self.v_b_proj).flatten(2))

    @torch.no_grad()
    def select_keys(self, q: torch.Tensor, kv: torch.Tensor, tokens: int) -> torch.Tensor:
        """The keys that each token attends to: all before it, or those that score highest over all heads."""
        visible = torch.ones(tokens, tokens, dtype=torch.bool, device=q.device).tril()
        if self.index_topk is None or self.index_topk >= tokens:
            keys = torch.arange(tokens, device=q.device)
            return torch.where(visible, keys, -1).expand(q.shape[0], -1, -1)
        scores = torch.einsum("bthd,bkd->btk", q.float(), kv.float()).masked_fill(~visible, float("-inf"))
        best = scores.topk(self.index_topk, dim=-1)
        return torch.where(best.values.isinf(), -1, best.indices)


class DeepseekV3MLP(nn.Module):
    """Gated feed-forward layer."""

    def __init__(self, config: DeepseekV3Config, intermediate_size: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, intermediate_size, bias=False)
        self.down_proj = nn.Linear(intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class DeepseekV3MoE(nn.Module):
    """Routed experts beside one that every token passes."""

    def __init__(self, config: DeepseekV3Config) -> None:
        super().__init__()
        experts, hidden, inner = config.n_routed_experts, config.hidden_size, config.moe_intermediate_size
        self.top_k = config.num_experts_per_tok
        self.gate = nn.Linear(hidden, experts, bias=False)
        self.gate_up_proj = nn.Parameter(torch.randn(experts, 2 * inner, hidden) * hidden**-0.5)
        self.down_proj = nn.Parameter(torch.randn(experts, hidden, inner) * inner**-0.5)
        self.shared_experts = DeepseekV3MLP(config, inner)

    def experts(
        self, hidden_states: torch.Tensor, top_k_index: torch.Tensor, top_k_weights: torch.Tensor
    ) -> torch.Tensor:
        """The weighted outputs of the experts that each token chose."""
        output = torch.zeros_like(hidden_states)
        for expert in range(self.gate_up_proj.shape[0]):
            token, choice = (top_k_index == expert).nonzero(as_tuple=True)
            gate, up = functional.linear(hidden_states[token], self.gate_up_proj[expert]).chunk(2, dim=-1)
            rows = functional.linear(functional.silu(gate) * up, self.down_proj[expert])
            output = output.index_add(0, token, (rows * top_k_weights[token, choice, None]).to(output.dtype))
        return output

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        tokens = hidden_states.flatten(0, 1)
        top_k_weights, top_k_index = self.gate(tokens).float().sigmoid().topk(self.top_k, dim=-1)
        top_k_weights = (top_k_weights / top_k_weights.sum(-1, keepdim=True)).to(tokens.dtype)
        routed = self.experts(tokens, top_k_index, top_k_weights)
        return (routed + self.shared_experts(tokens)).view_as(hidden_states)


class DeepseekV3DecoderLayer(nn.Module):
    """Attention and feed-forward, each behind a norm and around a residual."""

    def __init__(self, config: DeepseekV3Config, index: int) -> None:
        super().__init__()
        dense = index < config.first_k_dense_replace
        self.input_layernorm = DeepseekV3RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = DeepseekV3Attention(config)
        self.post_attention_layernorm = DeepseekV3RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = DeepseekV3MLP(config, config.intermediate_size) if dense else DeepseekV3MoE(config)

    def forward(self, hidden_states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        hidden_states = hidden_states + self.self_attn(self.input_layernorm(hidden_states), cos, sin)
        return hidden_states + self.mlp(self.post_attention_layernorm(hidden_states))


class DeepseekV3ForCausalLM(nn.Module):
    """The layers with a head that predicts the next token."""

    def __init__(self, config: DeepseekV3Config) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(DeepseekV3DecoderLayer(config, i) for i in range(config.num_hidden_layers))
        self.norm = DeepseekV3RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.rotary_emb = DeepseekV3RotaryEmbedding(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def encode(self, input_ids: torch.Tensor) -> torch.Tensor:
        """From token ids to normalised hidden states."""
        hidden_states = self.embed_tokens(input_ids)
        cos, sin = self.rotary_emb(hidden_states, torch.arange(input_ids.shape[1], device=input_ids.device)[None])
        for layer in self.layers:
            hidden_states = layer(hidden_states, cos, sin)
        return self.norm(hidden_states)

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor | None = None) -> ModelOutput:
        logits = self.lm_head(self.encode(input_ids))
        loss = None
        if labels is not None:
            loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten())
        return ModelOutput(loss, logits)
