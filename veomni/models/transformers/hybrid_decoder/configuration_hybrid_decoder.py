"""The shape of a hybrid decoder."""

from __future__ import annotations

from dataclasses import dataclass

from ...sizes import check_sizes


@dataclass
class HybridDecoderConfig:
    """Sizes of a hybrid decoder; the defaults are tiny.

    Every ``full_attention_interval``-th layer has softmax attention, the others linear attention.
    """

    vocab_size: int = 256
    hidden_size: int = 64
    intermediate_size: int = 176
    num_hidden_layers: int = 4
    full_attention_interval: int = 2
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    partial_rotary_factor: float = 0.5
    linear_num_heads: int = 4
    linear_head_dim: int = 16
    linear_conv_width: int = 4
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10_000.0
    model_type: str = "hybrid_decoder"

    def __post_init__(self) -> None:
        check_sizes(
            self,
            multiples={
                "hidden_size": "num_attention_heads",
                "rotary_dim": 2,
                "num_attention_heads": "num_key_value_heads",
            },
            at_most={"rotary_dim": "head_dim"},
        )

    @property
    def head_dim(self) -> int:
        """The width of one head of softmax attention."""
        return self.hidden_size // self.num_attention_heads

    @property
    def rotary_dim(self) -> int:
        """How many columns of a head are rotated."""
        return int(self.head_dim * self.partial_rotary_factor)
