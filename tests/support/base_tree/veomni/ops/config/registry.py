from dataclasses import dataclass, field
from enum import Enum


class OpScope(Enum):
    GLOBAL = "global"
    PER_MODEL = "per_model"


@dataclass(frozen=True)
class BackendSpec:
    entry: str
    requires: tuple[str, ...] = ()
    side_effect: str | None = None
    replace_forward: bool = False
    entry_is_factory: bool = False
    target_override: str | None = None


@dataclass(frozen=True)
class OpSpec:
    name: str
    config_field: str
    label: str
    scope: OpScope
    default: str
    backends: dict[str, BackendSpec] = field(default_factory=dict)
    global_slot: str | None = None


_OPS = {}


def register_op(spec):
    _OPS[spec.name] = spec


def apply_per_model_patches(hf_module, model_name, targets, **options):
    return [hf_module, model_name, targets, options]
