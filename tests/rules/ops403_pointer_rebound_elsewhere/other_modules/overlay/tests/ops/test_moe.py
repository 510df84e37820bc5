from veomni.ops.kernels import moe


def test_moe():
    moe._fused_moe_forward = None
