"""Sizes of models: the defaults fit, and what would fail in the first step is refused with its name."""

from __future__ import annotations

from typing import Any

import pytest

from veomni.models import transformers  # noqa: F401  registers the models
from veomni.models.loader import MODELING_REGISTRY

MODELS = ("decoder", "moe_decoder", "hybrid_decoder", "deepseek_v3", "deepseek_v4", "wan")


@pytest.mark.parametrize("model_type", MODELS)
def test_the_defaults_fit(model_type: str) -> None:
    """Every configuration can be made without sizes."""
    assert MODELING_REGISTRY.config(model_type)().model_type == model_type


@pytest.mark.parametrize("model_type", MODELS)
@pytest.mark.parametrize(
    ("name", "value"), [("num_hidden_layers", 0), ("hidden_size", -4), ("rope_theta", float("nan"))]
)
def test_numbers_are_positive(model_type: str, name: str, value: float) -> None:
    """No configuration takes a number that is zero, negative or none at all."""
    with pytest.raises(ValueError, match=f"{name} must be positive, not {value}"):
        MODELING_REGISTRY.config(model_type)(**{name: value})


@pytest.mark.parametrize(
    ("model_type", "sizes", "message"),
    [
        ("decoder", {"num_attention_heads": 3}, "hidden_size=64 must be a multiple of num_attention_heads=3"),
        ("decoder", {"hidden_size": 12}, "head_dim=3 must be a multiple of 2"),
        ("decoder", {"num_key_value_heads": 3}, "num_attention_heads=4 must be a multiple of num_key_value_heads=3"),
        ("moe_decoder", {"num_experts_per_tok": 9}, "num_experts_per_tok=9 must not exceed num_experts=8"),
        ("hybrid_decoder", {"partial_rotary_factor": 0.2}, "rotary_dim=3 must be a multiple of 2"),
        ("hybrid_decoder", {"partial_rotary_factor": 1.5}, "rotary_dim=24 must not exceed head_dim=16"),
        ("deepseek_v3", {"qk_rope_head_dim": 7}, "qk_rope_head_dim=7 must be a multiple of 2"),
        ("deepseek_v3", {"num_experts_per_tok": 9}, "num_experts_per_tok=9 must not exceed n_routed_experts=8"),
        ("deepseek_v4", {"head_dim": 7}, "head_dim=7 must be a multiple of 2"),
        ("wan", {"num_attention_heads": 5}, "hidden_size=48 must be a multiple of num_attention_heads=5"),
    ],
)
def test_sizes_fit_each_other(model_type: str, sizes: dict[str, Any], message: str) -> None:
    """A size that another one does not divide, or exceeds, is refused by name."""
    with pytest.raises(ValueError, match=f"^{message}$"):
        MODELING_REGISTRY.config(model_type)(**sizes)


def test_a_model_may_have_only_experts() -> None:
    """The number of layers before the experts may be zero."""
    assert MODELING_REGISTRY.config("deepseek_v3")(first_k_dense_replace=0).first_k_dense_replace == 0
