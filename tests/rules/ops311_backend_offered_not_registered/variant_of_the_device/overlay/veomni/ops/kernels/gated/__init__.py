from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec


def _factory():
    from .triton import kernel

    return kernel


for name, device in (("liger_kernel", "gpu"), ("triton", "gpu"), ("npu", "npu")):
    KERNEL_REGISTRY.register(KernelSpec(name, "rms_norm", "gated", _factory, HardwareRequirement(device)))
