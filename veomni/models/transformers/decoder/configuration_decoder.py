"""The shape of a dense decoder."""

from __future__ import annotations

from dataclasses import dataclass

from ...sizes import check_sizes


@dataclass
class DecoderConfig:
    """Sizes of a dense decoder; the defaults are tiny."""

    vocab_size: int = 256
    hidden_size: int = 64
    intermediate_size: int = 176
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10_000.0
    num_labels: int = 2
    model_type: str = "decoder"

    def __post_init__(self) -> None:
        check_sizes(
            self,
            multiples={
                "hidden_size": "num_attention_heads",
                "head_dim": 2,
                "num_attention_heads": "num_key_value_heads",
            },
        )

    @property
    def head_dim(self) -> int:
        """The width of one attention head."""
        return self.hidden_size // self.num_attention_heads
