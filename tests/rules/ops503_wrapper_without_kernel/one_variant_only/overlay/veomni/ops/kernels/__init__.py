from . import rms_norm, swiglu  # noqa: F401
from .rms_norm import qwen3_5  # noqa: F401
