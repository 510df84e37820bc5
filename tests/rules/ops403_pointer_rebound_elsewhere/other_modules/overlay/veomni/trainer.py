import importlib


def train(kernel):
    moe = importlib.import_module("veomni.ops.kernels.moe")
    importlib.import_module("veomni.ops.kernels.moe")._fused_moe_forward = kernel
    return moe
