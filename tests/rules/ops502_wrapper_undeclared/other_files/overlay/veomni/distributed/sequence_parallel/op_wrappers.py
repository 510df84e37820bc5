"""Builders of another file, which hands the name on to a helper."""

from .builders import build_rms_norm

_BUILDERS = {"rms_norm": build_rms_norm}
_SUPPORTED_IMPLEMENTATIONS = {"rms_norm": frozenset({"eager", "liger_kernel", "npu"})}
_SUPPORTED_VARIANTS = {"rms_norm": frozenset({"standard"})}
_DEFAULT_VARIANTS = {"rms_norm": "standard"}


def get_op_wrapper(op_name, variant=None):
    op_name, variant = op_name if isinstance(op_name, tuple) else (op_name, variant or _DEFAULT_VARIANTS[op_name])
    return _BUILDERS[op_name](variant, "eager")
