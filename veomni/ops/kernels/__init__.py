"""One folder per op: the eager reference, the other implementations, and their registration."""

from . import rms_norm, rotary, swiglu  # noqa: F401  each registers its kernels
