from veomni.ops.kernels.swiglu import swiglu, swiglu_backward
from veomni.ops.kernels.rms_norm import rms_norm
