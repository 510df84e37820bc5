from . import kernels  # noqa: F401
from .dispatch import OpsConfigSlot, OpSlot
from .kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

__all__ = ["KERNEL_REGISTRY", "HardwareRequirement", "KernelSpec", "OpSlot", "OpsConfigSlot"]
