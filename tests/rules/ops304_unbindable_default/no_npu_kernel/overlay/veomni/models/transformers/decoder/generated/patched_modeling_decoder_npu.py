from veomni.ops.dispatch import OpSlot

veomni_conv = OpSlot("conv", "standard")
veomni_delta = OpSlot("delta", "standard")
veomni_rms_norm = OpSlot("rms_norm", "gated")
