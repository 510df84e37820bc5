"""Selection of implementations: the legacy registry of ops and the configuration in force."""

from .registry import (
    BackendSpec,
    OpScope,
    OpSpec,
    apply_global_ops,
    apply_per_model_patches,
    get_op,
    list_ops,
    register_op,
)
from .singleton import get_ops_config, set_ops_config

__all__ = [
    "BackendSpec",
    "OpScope",
    "OpSpec",
    "apply_global_ops",
    "apply_per_model_patches",
    "get_op",
    "get_ops_config",
    "list_ops",
    "register_op",
    "set_ops_config",
]
