from veomni.ops.dispatch import OpsConfigSlot, OpSlot

veomni_norm = OpSlot("rms_norm", "standard")
veomni_norm = OpSlot(variant="standard", op_name="rms_norm")
veomni_mlp = OpSlot("swiglu_mlp", "standard")
veomni_mlp = OpSlot("swiglu_mlp", "gated")
veomni_attn = OpsConfigSlot("attn_implementation")
veomni_attn = OpsConfigSlot("attn_implementation")
veomni_loss = OpsConfigSlot("attn_implementation")
veomni_loss = OpSlot("cross_entropy_loss", "standard")


def _variant():
    return input()


veomni_asked = OpSlot("rms_norm", _variant())
veomni_asked = OpSlot("rms_norm", _variant())
