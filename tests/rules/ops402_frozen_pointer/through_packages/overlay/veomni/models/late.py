def experts():
    from veomni.ops.kernels.moe.flash import _flash

    return _flash


EXPERTS = experts()
