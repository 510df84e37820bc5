from . import gated, rms_norm, swiglu
