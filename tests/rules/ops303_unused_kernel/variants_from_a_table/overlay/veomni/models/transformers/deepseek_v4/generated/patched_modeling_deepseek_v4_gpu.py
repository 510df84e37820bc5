from veomni.ops.dispatch import OpSlot
from veomni.ops.kernels.mhc import names
from veomni.ops.kernels.mhc.names import OP, Variant

veomni_mhc_pre = OpSlot("mhc", "pre")
veomni_mhc_head = OpSlot(OP, Variant.HEAD)
veomni_mhc_last = OpSlot(op_name=names.OP, variant=f"{names.Variant.TAIL}")
veomni_mlp = OpSlot("swiglu_mlp", "triton")
veomni_swapped = OpSlot("standard", "rms_norm")
