"""The legacy registry of ops: global function pointers and patches of single models. New ops use slots instead."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...utils.import_utils import is_package_available, is_torch_npu_available
from ...utils.logging import get_logger
from ..kernel_registry import EAGER
from .singleton import get_ops_config

if TYPE_CHECKING:
    from ...arguments import OpsImplementationConfig

logger = get_logger(__name__)

Overrides = Mapping[str, Mapping[str, "BackendSpec | None"]]


class OpScope(StrEnum):
    """Where a backend takes effect: in one module-level pointer, or in each model that asks for it."""

    GLOBAL = "global"
    PER_MODEL = "per_model"


@dataclass(frozen=True)
class BackendSpec:
    """One backend of an op. ``entry`` and ``side_effect`` are ``"module:attribute"``, imported when selected.

    For PER_MODEL ops: ``entry_is_factory`` calls the entry to get the replacement, ``replace_forward`` puts it in the
    ``forward`` of the target class, ``target_override`` names another target than the model's own.
    """

    entry: str
    requires: tuple[str, ...] = ()
    side_effect: str | None = None
    replace_forward: bool = False
    entry_is_factory: bool = False
    target_override: str | None = None


@dataclass(frozen=True)
class OpSpec:
    """One op of the legacy registry; ``global_slot`` (``"module:attribute"``) is the pointer of a GLOBAL op.

    Raises:
        ValueError: a GLOBAL op without a pointer, or a default that is no backend.
    """

    name: str
    config_field: str
    label: str
    scope: OpScope
    default: str
    backends: dict[str, BackendSpec] = field(default_factory=dict)
    global_slot: str | None = None

    def __post_init__(self) -> None:
        if self.scope is OpScope.GLOBAL and self.global_slot is None:
            raise ValueError(f"the global op {self.name!r} needs a global_slot")
        if self.default not in self.backends and self.default != EAGER:
            raise ValueError(f"the default {self.default!r} of op {self.name!r} is none of its backends")


_OPS: dict[str, OpSpec] = {}

_REQUIRES: dict[str, Callable[[], bool]] = {
    "liger_kernel": lambda: is_package_available("liger_kernel"),
    "triton": lambda: is_package_available("triton"),
    "torch_npu": is_torch_npu_available,
}


def register_op(spec: OpSpec) -> None:
    """Add *spec*; adding the same one again does nothing.

    Raises:
        ValueError: another spec has the name.
    """
    if _OPS.setdefault(spec.name, spec) != spec:
        raise ValueError(f"the op {spec.name!r} is already registered with another spec")


def get_op(name: str) -> OpSpec:
    """The op *name*.

    Raises:
        KeyError: there is none.
    """
    return _OPS[name]


def list_ops(scope: OpScope | None = None) -> list[OpSpec]:
    """Every registered op, or those of one scope."""
    return [spec for spec in _OPS.values() if scope is None or spec.scope is scope]


def apply_global_ops(ops_config: OpsImplementationConfig) -> list[str]:
    """Point the pointer of every GLOBAL op at its selected backend and say what was bound.

    Raises:
        ValueError: the configuration selects something that is no backend.
        RuntimeError: a required package is missing.
    """
    applied = []
    for op in list_ops(OpScope.GLOBAL):
        value = getattr(ops_config, op.config_field)
        backend = op.backends.get(value)
        if backend is None:
            raise ValueError(f"{op.config_field}={value!r} is no backend of {op.name}; choose {_choices(op, {})}")
        _check_requires(backend, f"{op.config_field}={value!r}")
        module, attribute = _split(op.global_slot or "")
        setattr(importlib.import_module(module), attribute, _load(backend.entry))
        if backend.side_effect is not None:
            _load(backend.side_effect)()
        applied.append(f"{op.label} ({value})")
    return applied


def apply_per_model_patches(
    hf_module: ModuleType,
    model_name: str,
    targets: Mapping[str, str],
    *,
    extra_backends: Overrides | None = None,
    custom_patches: Callable[[OpsImplementationConfig, list[str]], None] | None = None,
) -> list[str]:
    """Patch *hf_module* as the installed configuration asks; ``targets`` maps an op to an attribute of the module.

    ``extra_backends`` adds backends for this model only; None in place of one says that the model cannot use it.
    Without an installed configuration nothing is done.

    Raises:
        KeyError: a target names no op.
        ValueError: a target is a GLOBAL op, or a selected backend does not exist for this model.
        RuntimeError: a required package is missing.
    """
    ops_config = get_ops_config()
    if ops_config is None:
        return []
    applied: list[str] = []
    for op_name, attribute in targets.items():
        op = _OPS.get(op_name)
        if op is None:
            raise KeyError(f"{model_name} patches {op_name!r}, which is no registered op")
        if op.scope is not OpScope.PER_MODEL:
            raise ValueError(f"{model_name} patches {op_name!r}, which is a {op.scope.value} op")
        value = getattr(ops_config, op.config_field)
        backend = _select(op, value, model_name, (extra_backends or {}).get(op_name, {}))
        if backend is None:
            continue
        _check_requires(backend, f"{op.config_field}={value!r}")
        _patch(hf_module, backend, attribute)
        applied.append(f"{op.label} ({value})")
    if custom_patches is not None:
        custom_patches(ops_config, applied)
    if applied:
        logger.info("%s: %s", model_name, ", ".join(applied))
    return applied


def _select(op: OpSpec, value: str, model_name: str, overrides: Mapping[str, BackendSpec | None]) -> BackendSpec | None:
    """The backend to use, None for the model's own code."""
    backend = overrides[value] if value in overrides else op.backends.get(value)
    if backend is not None or value == EAGER:
        return backend
    why = "cannot be used by" if value in overrides else "is no backend for"
    raise ValueError(f"{op.config_field}={value!r} {why} {model_name}; choose {_choices(op, overrides)}")


def _choices(op: OpSpec, overrides: Mapping[str, BackendSpec | None]) -> str:
    merged = {**op.backends, **overrides}
    return ", ".join(sorted({EAGER, *(name for name, backend in merged.items() if backend is not None)}))


def _check_requires(backend: BackendSpec, setting: str) -> None:
    for package in backend.requires:
        if package not in _REQUIRES:
            raise ValueError(f"requires names {package!r}; known are {', '.join(sorted(_REQUIRES))}")
        if not _REQUIRES[package]():
            raise RuntimeError(f"{setting} needs {package}, which this machine does not have")


def _patch(hf_module: ModuleType, backend: BackendSpec, attribute: str) -> None:
    entry = _load(backend.entry)
    replacement = entry() if backend.entry_is_factory else entry
    target = backend.target_override or attribute
    if backend.replace_forward:
        getattr(hf_module, target).forward = replacement
    else:
        setattr(hf_module, target, replacement)


def _load(entry: str) -> Any:
    module, attribute = _split(entry)
    return getattr(importlib.import_module(module), attribute)


def _split(entry: str) -> tuple[str, str]:
    module, separator, attribute = entry.partition(":")
    if not (module and separator and attribute):
        raise ValueError(f"{entry!r} is not of the form 'module:attribute'")
    return module, attribute
