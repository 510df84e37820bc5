"""The shape of a model of the DeepSeek-V4 kind."""

from __future__ import annotations

from dataclasses import dataclass

from ...sizes import check_sizes


@dataclass
class DeepseekV4Config:
    """Sizes of the model; the defaults are tiny. ``hc_mult`` is the number of residual streams."""

    vocab_size: int = 256
    hidden_size: int = 64
    intermediate_size: int = 96
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    head_dim: int = 16
    index_n_heads: int = 2
    index_head_dim: int = 8
    index_topk: int = 16
    hc_mult: int = 4
    hc_sinkhorn_iters: int = 4
    hc_eps: float = 1e-6
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10_000.0
    model_type: str = "deepseek_v4"

    def __post_init__(self) -> None:
        check_sizes(self, multiples={"head_dim": 2})
