from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec


def _factory():
    from fla.modules import kernel

    return kernel


def _npu_factory():
    from .npu import kernel

    return kernel


KERNEL_REGISTRY.register(KernelSpec("fla", "delta", "standard", _factory, HardwareRequirement("gpu")))
KERNEL_REGISTRY.register(KernelSpec("npu", "delta", "standard", _npu_factory, HardwareRequirement("npu")))
KERNEL_REGISTRY.register(KernelSpec("fla", "conv", "standard", _factory, HardwareRequirement("gpu")))
KERNEL_REGISTRY.register(
    KernelSpec("liger", "rms_norm", "gated", factory=_factory, hardware=HardwareRequirement("gpu"))
)
