def test_moe():
    from veomni.ops.kernels.moe import _fused_moe_forward

    assert _fused_moe_forward is None
