from veomni.ops.dispatch import OpSlot

veomni_rms_norm = OpSlot("rms_norm", "standard")
veomni_gated_rms_norm = OpSlot("rms_norm", "gated")
