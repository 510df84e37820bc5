"""One folder per op: the eager definition, the other implementations, and their registration."""

from . import (
    attention,
    cross_entropy,
    load_balancing_loss,
    moe,
    rms_norm,
    rotary,
    swiglu,
)

__all__ = ["attention", "cross_entropy", "load_balancing_loss", "moe", "rms_norm", "rotary", "swiglu"]
