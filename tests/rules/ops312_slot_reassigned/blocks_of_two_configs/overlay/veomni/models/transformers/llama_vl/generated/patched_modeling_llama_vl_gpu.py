from veomni.ops.dispatch import OpSlot

veomni_rms_norm = OpSlot("rms_norm", "standard")
veomni_swiglu_mlp = OpSlot("swiglu_mlp", "standard")

veomni_swiglu_mlp = OpSlot("swiglu_mlp", "gated")
