"""Building a model: binding the slots of its modeling module, then constructing it."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..ops import OpsConfigSlot, OpSlot, apply_ops_config
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
        KeyError: the model type, or a selected implementation, does not exist.
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
            selected = getattr(ops_config, f"{slot.op_name}_implementation", "eager")
            slot.bind(selected)
            bound.append(f"{slot.op_name}/{slot.variant} ({selected})")
    return bound
