"""Tables built of constants of another file; builders that register themselves."""

from types import MappingProxyType

from ...ops.kernels.rms_norm.names import IMPLEMENTATIONS, VARIANTS
from ...utils.device import IS_NPU_AVAILABLE
from .norms import EagerNorm, LigerNorm, NpuNorm

_BUILDERS = {}
_MORE = IMPLEMENTATIONS | {"quack"}


def _builder_of(*ops):
    def add(function):
        for op in ops:
            _BUILDERS[op] = function
        return function

    return add


def _check(variant):
    if variant == "gemma":
        raise NotImplementedError(variant)


@_builder_of("rms_norm", "layer_norm")
def _build_norm(variant, impl_name):
    _check(variant)
    match impl_name:
        case "eager" | "liger_kernel":
            return LigerNorm() if impl_name == "liger_kernel" else EagerNorm()
        case "npu":
            if not IS_NPU_AVAILABLE:
                raise RuntimeError("needs an NPU")
            return NpuNorm()
        case _:
            raise KeyError(impl_name)


_SUPPORTED_IMPLEMENTATIONS = MappingProxyType({"rms_norm": _MORE, "layer_norm": IMPLEMENTATIONS})
_SUPPORTED_VARIANTS = {
    "rms_norm": frozenset(VARIANTS),
    "layer_norm": frozenset({"standard"}),
}
_SUPPORTED_VARIANTS["rotary_pos_emb"] = frozenset({"full"})
