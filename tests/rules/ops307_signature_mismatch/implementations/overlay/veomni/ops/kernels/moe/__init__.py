from functools import partial

from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec
from .eager import Experts, eager_experts


def _adapted(raw):
    def adapter(module, hidden_states, indices):
        return raw(hidden_states, indices)

    return adapter


def _triton_factory():
    from .triton import triton_experts

    return _adapted(triton_experts)


def _npu_factory():
    from .npu import npu_experts

    return partial(npu_experts, group=None)


KERNEL_REGISTRY.register(
    KernelSpec("triton", "moe_experts", "standard", _triton_factory, HardwareRequirement("gpu"))
)
KERNEL_REGISTRY.register(KernelSpec("npu", "moe_experts", "standard", _npu_factory, HardwareRequirement("npu")))
KERNEL_REGISTRY.register(
    KernelSpec("plain", "moe_experts", "standard", lambda: eager_experts, HardwareRequirement("any"))
)
KERNEL_REGISTRY.register(
    KernelSpec("module", "moe_experts", "standard", lambda: Experts.apply, HardwareRequirement("gpu"))
)
