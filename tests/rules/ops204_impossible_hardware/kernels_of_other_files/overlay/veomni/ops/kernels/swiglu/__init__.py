from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement
from .specs import spec


def _quack_factory():
    from .quack_swiglu import swiglu_quack

    return swiglu_quack


def _npu_factory():
    return _npu_kernel()


def _npu_kernel():
    from .npu import swiglu_npu

    return swiglu_npu


for _name, _factory, _hardware in (
    ("quack", _quack_factory, HardwareRequirement("any")),
    ("fused", _npu_factory, HardwareRequirement("gpu", 80)),
    ("npu", _npu_factory, HardwareRequirement("npu")),
):
    KERNEL_REGISTRY.register(spec(_name, _factory, _hardware))
