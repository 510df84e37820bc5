from . import mhc, rms_norm, swiglu  # noqa: F401
