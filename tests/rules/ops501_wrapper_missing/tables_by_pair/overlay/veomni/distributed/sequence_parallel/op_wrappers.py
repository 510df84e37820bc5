"""Tables keyed by op and variant; the builder looks the wrapper up by the same pair."""

from typing import Final

from .norms import EagerNorm, LigerNorm, NpuNorm

_NORMS: Final = {
    ("standard", "eager"): EagerNorm,
    ("standard", "liger_kernel"): LigerNorm,
    ("qwen3_5", "eager"): EagerNorm,
}


def _build_rms_norm(impl_name, variant):
    try:
        wrapper = _NORMS[variant, impl_name]
    except KeyError:
        raise ValueError(f"no wrapper {impl_name}/{variant}") from None
    return wrapper()


_BUILDERS = {"rms_norm": _build_rms_norm, "layer_norm": lambda impl_name, variant: NpuNorm()}

_SUPPORTED_IMPLEMENTATIONS = {
    ("rms_norm", "standard"): frozenset({"eager", "liger_kernel", "npu"}),
    ("rms_norm", "qwen3_5"): frozenset(
        {
            "eager",
            "liger_kernel",
        }
    ),
    ("layer_norm", "standard"): frozenset({"npu"}),
}


def get_op_wrapper(op, variant, impl_name):
    return _BUILDERS[op](impl_name, variant)
