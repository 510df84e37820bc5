from ...kernel_registry import HardwareRequirement, KernelSpec

ANYWHERE = HardwareRequirement("all")


def spec(name, factory, hardware=ANYWHERE):
    return KernelSpec(name, "swiglu_mlp", "standard", factory, hardware)
