"""Building a model: binding the slots of its modeling module, then constructing it."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..ops import OpsConfigSlot, OpSlot, apply_ops_config
from ..ops.kernels.moe import apply_veomni_fused_moe_patch
from ..utils.logging import get_logger
from . import transformers  # noqa: F401  registers the models
from .loader import MODELING_REGISTRY

if TYPE_CHECKING:
    from torch import nn

    from ..arguments import OpsImplementationConfig

logger = get_logger(__name__)


def build_foundation_model(
    config: Any, ops_implementation: OpsImplementationConfig, architecture: str = "ForCausalLM"
) -> nn.Module:
    """Build the model that *config* describes, with the kernels that *ops_implementation* selects.

    Raises:
        KeyError: the model type, or a selected implementation of one of its slots, does not exist.
        RuntimeError: this machine cannot run a selected implementation.
    """
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
            bound.append(f"{slot.field_name} ({slot.value})")
        elif isinstance(slot, OpSlot):
            selected = _selected(slot.op_name, ops_config)
            slot.bind(selected)
            if (slot.op_name, slot.variant) == ("moe_experts", "standard"):
                # Models whose own code calls the pointer ask the slot whether to do so.
                apply_veomni_fused_moe_patch(selected)
            bound.append(f"{slot.op_name}/{slot.variant} ({selected})")
    return bound


def _selected(op_name: str, ops_config: OpsImplementationConfig) -> str:
    """The implementation of an op; the values of ``moe_implementation`` say ``fused_`` before its name."""
    if op_name == "moe_experts":
        return ops_config.moe_implementation.removeprefix("fused_")
    return str(getattr(ops_config, f"{op_name}_implementation", "eager"))
