from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec


def _triton_factory():
    from .triton import swiglu_triton

    return swiglu_triton


def _register(name, variant):
    KERNEL_REGISTRY.register(
        KernelSpec(
            name=name,
            op_name="swiglu_mlp",
            variant=variant,
            factory=_triton_factory,
            hardware=HardwareRequirement("gpu", min_compute_capability=80),
        )
    )


for variant in ("standard", "clamped"):
    _register("triton", variant)
