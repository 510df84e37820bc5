"""The shape of a mixture-of-experts decoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ....arguments.parser import check_choices
from ...sizes import check_sizes


@dataclass
class MoeDecoderConfig:
    """Sizes of a mixture-of-experts decoder; the defaults are tiny.

    ``swiglu_limit`` clamps the gates of the SwiGLU kind; the gpt_oss kind always clamps, at 7.
    """

    vocab_size: int = 256
    hidden_size: int = 64
    moe_intermediate_size: int = 48
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    num_experts: int = 8
    num_experts_per_tok: int = 2
    experts: Literal["swiglu", "gpt_oss"] = "swiglu"
    swiglu_limit: float | None = None
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10_000.0
    model_type: str = "moe_decoder"

    def __post_init__(self) -> None:
        check_choices(self)
        check_sizes(
            self,
            multiples={
                "hidden_size": "num_attention_heads",
                "head_dim": 2,
                "num_attention_heads": "num_key_value_heads",
            },
            at_most={"num_experts_per_tok": "num_experts"},
        )

    @property
    def head_dim(self) -> int:
        """The width of one attention head."""
        return self.hidden_size // self.num_attention_heads
