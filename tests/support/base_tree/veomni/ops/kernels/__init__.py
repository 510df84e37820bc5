from . import rms_norm, swiglu  # noqa: F401
