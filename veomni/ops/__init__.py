"""The ops package. Importing it registers every kernel and loads none: factories import what they need when called."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..utils.logging import get_logger
from .config.registry import apply_global_ops
from .config.singleton import get_ops_config, set_ops_config
from .dispatch import OpsConfigSlot, OpSlot
from .kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec
from .kernels import load_balancing_loss, moe
from .kernels.load_balancing_loss import load_balancing_loss_func
from .kernels.moe import fused_moe_forward

if TYPE_CHECKING:
    from ..arguments import OpsImplementationConfig

__all__ = [
    "KERNEL_REGISTRY",
    "HardwareRequirement",
    "KernelSpec",
    "OpSlot",
    "OpsConfigSlot",
    "apply_ops_config",
    "apply_ops_patch",
    "build_ALL_OPS",
    "format_kernel_functions",
    "fused_moe_forward",
    "load_balancing_loss_func",
]

logger = get_logger(__name__)


def apply_ops_patch() -> None:
    """Apply what depends on the machine and on no configuration; a job calls it once, before its process groups."""
    from .platform import apply_platform_patch

    apply_platform_patch()


def apply_ops_config(ops_config: OpsImplementationConfig) -> list[str]:
    """Make *ops_config* the configuration of this process, bind the pointers of global ops and say what was bound.

    Raises:
        ValueError, TypeError, RuntimeError: as ``apply_global_ops``; then nothing has changed.
    """
    before = get_ops_config()
    # First, because a factory or a side effect may ask for it.
    set_ops_config(ops_config)
    try:
        applied = apply_global_ops(ops_config)
    except BaseException:
        set_ops_config(before)
        raise
    logger.info("global ops: %s", ", ".join(applied))
    return applied


def build_ALL_OPS() -> list[tuple[str, Callable[..., Any] | None]]:  # noqa: N802  the name it has upstream
    """Every module-level pointer and what it points at now."""
    return [
        ("_fused_moe_forward", moe._fused_moe_forward),
        ("_load_balancing_loss", load_balancing_loss._load_balancing_loss),
    ]


def format_kernel_functions() -> str:
    """One line for each pointer, as logs show them."""
    return "\n".join(f"{name} = {getattr(function, '__name__', function)}" for name, function in build_ALL_OPS())
