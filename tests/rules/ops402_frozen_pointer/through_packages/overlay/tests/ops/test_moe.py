from veomni.ops.kernels.moe import _fused_moe_forward


def test_moe():
    assert _fused_moe_forward is None
