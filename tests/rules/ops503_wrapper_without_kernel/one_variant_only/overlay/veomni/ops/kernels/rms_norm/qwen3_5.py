from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec


def _factory():
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction

    return LigerRMSNormFunction.apply


KERNEL_REGISTRY.register(KernelSpec("liger_kernel", "rms_norm", "qwen3_5", _factory, HardwareRequirement("gpu")))
