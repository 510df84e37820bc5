from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec


def _liger_factory():
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction

    return LigerRMSNormFunction.apply


def _npu_factory():
    from .npu import rms_norm_npu

    return rms_norm_npu


KERNEL_REGISTRY.register(
    KernelSpec(
        name="liger_kernel",
        op_name="rms_norm",
        variant="standard",
        factory=_liger_factory,
        hardware=HardwareRequirement("gpu"),
    )
)
KERNEL_REGISTRY.register(
    KernelSpec(
        name="npu",
        op_name="rms_norm",
        variant="standard",
        factory=_npu_factory,
        hardware=HardwareRequirement("npu"),
    )
)
