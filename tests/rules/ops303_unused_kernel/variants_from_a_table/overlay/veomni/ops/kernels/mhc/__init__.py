from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec
from .names import OP, VARIANTS


def _add(variant, name="tilelang"):
    KERNEL_REGISTRY.register(
        KernelSpec(name, OP, variant, lambda: max, HardwareRequirement("gpu", min_compute_capability=90))
    )


for _variant in VARIANTS:
    _add(_variant)
_add("haed")
