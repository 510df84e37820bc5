"""The shape of a model of the DeepSeek-V3 kind."""

from __future__ import annotations

from dataclasses import dataclass

from ...sizes import check_sizes


@dataclass
class DeepseekV3Config:
    """Sizes of the model; the defaults are tiny. With ``index_topk`` each token attends to that many keys only."""

    vocab_size: int = 256
    hidden_size: int = 64
    intermediate_size: int = 96
    moe_intermediate_size: int = 32
    num_hidden_layers: int = 2
    first_k_dense_replace: int = 1
    num_attention_heads: int = 4
    kv_lora_rank: int = 24
    qk_nope_head_dim: int = 16
    qk_rope_head_dim: int = 8
    v_head_dim: int = 16
    n_routed_experts: int = 8
    num_experts_per_tok: int = 2
    index_topk: int | None = None
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10_000.0
    model_type: str = "deepseek_v3"

    def __post_init__(self) -> None:
        check_sizes(
            self,
            multiples={"qk_rope_head_dim": 2},
            at_most={"num_experts_per_tok": "n_routed_experts"},
            may_be_zero="first_k_dense_replace",
        )
