from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec
from . import eager

KERNEL_REGISTRY.register(
    KernelSpec("torch", "rms_norm", "standard", lambda: eager.rms_norm, HardwareRequirement("any"))
)


def _npu_factory():
    from .npu import (
        rms_norm_npu,  # two launches
    )

    return rms_norm_npu


KERNEL_REGISTRY.register(
    KernelSpec("npu", "rms_norm", "standard", _npu_factory, HardwareRequirement("npu"))
)
