"""One folder per op: the eager definition, the other implementations, and their registration."""

from . import (
    attention,
    cross_entropy,
    deepseek_sparse_attention,
    deepseek_v4,
    gated_delta_rule,
    load_balancing_loss,
    mhc,
    moe,
    rms_norm,
    rotary,
    swiglu,
)

__all__ = [
    "attention",
    "cross_entropy",
    "deepseek_sparse_attention",
    "deepseek_v4",
    "gated_delta_rule",
    "load_balancing_loss",
    "mhc",
    "moe",
    "rms_norm",
    "rotary",
    "swiglu",
]
