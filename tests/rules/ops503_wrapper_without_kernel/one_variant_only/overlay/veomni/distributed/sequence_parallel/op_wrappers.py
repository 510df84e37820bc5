"""The NPU kernel is registered for one variant only, and the builder makes it for both."""

from .norms import EagerNorm, LigerNorm, NpuNorm


def _build_rms_norm(variant, impl_name):
    return {"eager": EagerNorm, "liger_kernel": LigerNorm, "npu": NpuNorm}[impl_name]()


_BUILDERS = {"rms_norm": _build_rms_norm}
_SUPPORTED_IMPLEMENTATIONS = {
    "rms_norm": frozenset(
        {
            "eager",
            "liger_kernel",
            "npu",
        }
    ),
}
_SUPPORTED_VARIANTS = {"rms_norm": frozenset({"standard", "qwen3_5"})}
_DEFAULT_VARIANTS = {"rms_norm": "standard"}
_CONFIG_FIELDS = dict(rms_norm="rms_norm_impl")
