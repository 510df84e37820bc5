"""The shape of a diffusion transformer of the Wan kind."""

from __future__ import annotations

from dataclasses import dataclass

from ...sizes import check_sizes


@dataclass
class WanConfig:
    """Sizes of the transformer; the defaults are tiny. A video is cut into patches of 1 x 2 x 2."""

    in_channels: int = 4
    hidden_size: int = 48
    intermediate_size: int = 96
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10_000.0
    model_type: str = "wan"

    def __post_init__(self) -> None:
        check_sizes(self, multiples={"hidden_size": "num_attention_heads", "head_dim": 2})

    @property
    def head_dim(self) -> int:
        """The width of one attention head."""
        return self.hidden_size // self.num_attention_heads
