"""The ops package. Importing it registers every kernel and loads none: factories import what they need when called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import kernels  # noqa: F401  registers the kernels
from .config.registry import apply_global_ops
from .config.singleton import set_ops_config
from .dispatch import OpsConfigSlot, OpSlot
from .kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

if TYPE_CHECKING:
    from ..arguments import OpsImplementationConfig

__all__ = [
    "KERNEL_REGISTRY",
    "HardwareRequirement",
    "KernelSpec",
    "OpSlot",
    "OpsConfigSlot",
    "apply_ops_config",
]


def apply_ops_config(ops_config: OpsImplementationConfig) -> list[str]:
    """Make *ops_config* the configuration of this process, bind the global ops and say what was bound."""
    set_ops_config(ops_config)
    return apply_global_ops(ops_config)
