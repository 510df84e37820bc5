from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec


def _triton_factory():
    from .triton import swiglu_triton

    return swiglu_triton


KERNEL_REGISTRY.register(
    KernelSpec(
        name="triton",
        op_name="swiglu_mlp",
        variant="standard",
        factory=_triton_factory,
        hardware=HardwareRequirement("gpu", min_compute_capability=80),
    )
)
