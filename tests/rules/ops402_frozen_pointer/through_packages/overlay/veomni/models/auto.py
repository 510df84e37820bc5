from veomni.ops.kernels.moe.flash import _flash


class Experts:
    kernels = [_flash]
