"""Building a model: binding the slots of its modeling module, then constructing it."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..ops import KERNEL_REGISTRY, OpsConfigSlot, OpSlot, apply_ops_config
from ..ops.kernel_registry import EAGER, KernelUnavailableError, UnknownKernelError
from ..ops.kernels.attention import get_attention
from ..ops.kernels.moe import apply_veomni_fused_moe_patch
from ..utils.logging import get_logger
from . import transformers  # noqa: F401  registers the models
from .loader import MODELING_REGISTRY
from .rollback import unchanged_on_failure

if TYPE_CHECKING:
    from torch import nn

    from ..arguments import OpsImplementationConfig

logger = get_logger(__name__)


def build_foundation_model(
    config: Any, ops_implementation: OpsImplementationConfig, architecture: str = "ForCausalLM"
) -> nn.Module:
    """Build the model that *config* describes, with the kernels that *ops_implementation* selects.

    A build that raises leaves the models built before it as they were.

    Raises:
        KeyError: the model type, or a selected implementation of one of its slots, does not exist.
        ValueError: a selected implementation does not exist, or cannot be used by this model.
        RuntimeError: this machine cannot run a selected implementation.
    """
    with unchanged_on_failure(MODELING_REGISTRY.loaded_module(config.model_type)):
        apply_ops_config(ops_implementation)
        model_class = MODELING_REGISTRY.load(config.model_type, architecture)
        # Before construction: a model may choose its submodules by what a slot is bound to.
        bound = _bind_veomni_ops(sys.modules[model_class.__module__], ops_implementation)
        logger.info("%s: %s", model_class.__name__, ", ".join(bound))
        return model_class(config)


def _bind_veomni_ops(modeling_module: ModuleType, ops_config: OpsImplementationConfig) -> list[str]:
    """Bind every slot among the attributes of *modeling_module* and say what each was bound to."""
    bound = []
    for name in dir(modeling_module):
        slot = getattr(modeling_module, name)
        if isinstance(slot, OpsConfigSlot):
            slot.bind(ops_config)
            if slot.field_name == "attn_implementation":
                # Imported now: a package that is missing stops the build, and not the first step.
                get_attention(slot.value)
            bound.append(f"{slot.field_name} ({slot.value})")
        elif isinstance(slot, OpSlot):
            bound.append(f"{slot.op_name}/{slot.variant} ({_bind(slot, ops_config)})")
            # Only a bound slot lets its model call the pointer, so eager leaves it to the models that use it.
            is_standard = (slot.op_name, slot.variant) == ("moe_experts", "standard")
            if is_standard and slot.use_non_eager_impl and hasattr(modeling_module, "fused_moe_forward"):
                apply_veomni_fused_moe_patch(slot.bound_name or "")
    return bound


def _bind(slot: OpSlot, ops_config: OpsImplementationConfig) -> str:
    """Bind *slot* as configured and return the name of its kernel; errors name the field, and what to choose."""
    field, prefix = f"{slot.op_name}_implementation", ""
    if slot.op_name == "moe_experts":
        # The values of this field say fused_ before the name of a kernel.
        field, prefix = "moe_implementation", "fused_"
    selected = str(getattr(ops_config, field, EAGER))
    kernel = selected.removeprefix(prefix)
    try:
        slot.bind(kernel)
    except (UnknownKernelError, KernelUnavailableError) as error:
        _, *usable = KERNEL_REGISTRY.list_usable(slot.op_name, slot.variant)
        choices = ", ".join([EAGER, *(prefix + name for name in usable)])
        raise type(error)(f"{field}={selected!r}: {error}; choose {choices}") from error
    return kernel
