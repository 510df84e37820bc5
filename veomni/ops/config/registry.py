"""The legacy registry of ops: global function pointers and patches of single models. New ops use slots instead."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...utils.import_utils import PackageRequirement
from ...utils.logging import get_logger
from ..kernel_registry import EAGER, HardwareRequirement, unavailable
from .singleton import get_ops_config

if TYPE_CHECKING:
    from ...arguments import OpsImplementationConfig

logger = get_logger(__name__)

Backends = Mapping[str, "BackendSpec | None"]
"""Backends by name; None in place of one says that a model cannot use it."""


class OpScope(StrEnum):
    """Where a backend takes effect: in one module-level pointer, or in each model that asks for it."""

    GLOBAL = "global"
    PER_MODEL = "per_model"


@dataclass(frozen=True)
class BackendSpec:
    """One backend of an op. ``entry`` and ``side_effect`` are ``"module:attribute"``, imported when selected.

    ``entry_is_factory`` calls the entry to get the replacement; ``side_effect`` is called after it is in its place.
    For PER_MODEL ops, ``replace_forward`` puts it in the ``forward`` of the target class, and ``target_override`` names
    another target than the model's own. ``requires`` are keys of ``_REQUIRES``.
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
        ValueError: a GLOBAL op without a pointer or with a target in a model, another op with a pointer, or a default
            that is no backend. ``eager`` is the model's own code; a pointer has none, so there it is a backend too.
    """

    name: str
    config_field: str
    label: str
    scope: OpScope
    default: str
    backends: dict[str, BackendSpec] = field(default_factory=dict)
    global_slot: str | None = None

    def __post_init__(self) -> None:
        is_global = OpScope(self.scope) is OpScope.GLOBAL
        if is_global != (self.global_slot is not None):
            raise ValueError(
                f"the op {self.name!r} is {self.scope}: a global op needs a global_slot, and no other has one"
            )
        if is_global and any(one.replace_forward or one.target_override for one in self.backends.values()):
            raise ValueError(f"the op {self.name!r} is global: no backend of it can have a target in a model")
        if self.default not in self.backends and (is_global or self.default != EAGER):
            raise ValueError(f"the default {self.default!r} of op {self.name!r} is none of its backends")


_OPS: dict[str, OpSpec] = {}

_REQUIRES: dict[str, HardwareRequirement] = {
    "liger_kernel": HardwareRequirement("gpu"),
    "triton": HardwareRequirement("gpu"),
    "torch_npu": HardwareRequirement("npu"),
}
"""The packages that a backend may require, and the hardware that what is made of them runs on."""


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
    return [spec for spec in _OPS.values() if scope is None or spec.scope == scope]


def apply_global_ops(ops_config: OpsImplementationConfig) -> list[str]:
    """Point the pointer of every GLOBAL op at its selected backend and say what was bound.

    Raises:
        ValueError: the configuration selects something that is no backend, or there is no such pointer.
        TypeError: the backend is nothing that can be called.
        RuntimeError: the hardware or a required package is missing. Whatever is raised, no pointer has changed.
    """
    chosen, applied = [], []
    for op in list_ops(OpScope.GLOBAL):
        value = getattr(ops_config, op.config_field)
        backend = op.backends.get(value)
        if backend is None:
            raise ValueError(f"{op.config_field}={value!r} is no backend of {op.name}; {_choices(op, op.backends)}")
        _check_requires(op, value, backend, op.backends)
        path, attribute = _split(op.global_slot or "")
        module = importlib.import_module(path)
        _check_target(module, attribute)
        chosen.append((module, attribute, backend, _replacement(backend)))
        applied.append(f"{op.label} ({value})")
    for module, attribute, backend, replacement in chosen:
        setattr(module, attribute, replacement)
        _run_side_effect(backend)
    return applied


def apply_per_model_patches(
    hf_module: ModuleType,
    model_name: str,
    targets: Mapping[str, str],
    *,
    extra_backends: Mapping[str, Backends] | None = None,
    custom_patches: Callable[[OpsImplementationConfig, list[str]], None] | None = None,
) -> list[str]:
    """Patch *hf_module* as the installed configuration asks; ``targets`` maps an op to an attribute of the module.

    ``extra_backends`` adds backends for this model only; None in place of one says that the model cannot use it.
    Without an installed configuration nothing is done.

    Raises:
        KeyError: a target names no op.
        ValueError: a target is a GLOBAL op or no attribute of the module, ``extra_backends`` names an op that is not
            patched, or a selected backend does not exist for this model.
        TypeError: the backend is nothing that can be called.
        RuntimeError: the hardware or a required package is missing.
    """
    ops_config = get_ops_config()
    if ops_config is None:
        return []
    extra = extra_backends or {}
    unused = sorted(set(extra) - set(targets))
    if unused:
        raise ValueError(f"{model_name} has extra_backends of {', '.join(unused)}, which it does not patch")
    applied: list[str] = []
    for op_name, attribute in targets.items():
        op = _OPS.get(op_name)
        if op is None:
            raise KeyError(f"{model_name} patches {op_name!r}, which is no registered op")
        if op.scope != OpScope.PER_MODEL:
            raise ValueError(f"{model_name} patches {op_name!r}, which is a {op.scope} op")
        _check_target(hf_module, attribute)
        value = getattr(ops_config, op.config_field)
        backends = {**op.backends, **extra.get(op_name, {})}
        backend = _select(op, value, model_name, backends)
        if backend is None:
            continue
        _check_requires(op, value, backend, backends)
        _patch(hf_module, backend, attribute)
        _run_side_effect(backend)
        applied.append(f"{op.label} ({value})")
    if custom_patches is not None:
        custom_patches(ops_config, applied)
    if applied:
        logger.info("%s: %s", model_name, ", ".join(applied))
    return applied


def _select(op: OpSpec, value: str, model_name: str, backends: Backends) -> BackendSpec | None:
    """The backend to use, None for the model's own code."""
    backend = backends.get(value)
    if backend is not None or value == EAGER:
        return backend
    why = "cannot be used by" if value in backends else "is no backend for"
    raise ValueError(f"{op.config_field}={value!r} {why} {model_name}; {_choices(op, backends)}")


def _choices(op: OpSpec, backends: Backends) -> str:
    """What can be selected on this machine."""
    names = {name for name, backend in backends.items() if backend is not None and _is_usable(backend)}
    if op.scope == OpScope.PER_MODEL:
        names.add(EAGER)
    return f"choose {', '.join(sorted(names))}" if names else "nothing else can run on this machine"


def _is_usable(backend: BackendSpec) -> bool:
    return all(package in _REQUIRES and _problem(package) is None for package in backend.requires)


def _problem(package: str) -> str | None:
    return unavailable(_REQUIRES[package], (PackageRequirement(package),))


def _check_requires(op: OpSpec, value: str, backend: BackendSpec, backends: Backends) -> None:
    for package in backend.requires:
        if package not in _REQUIRES:
            raise ValueError(f"requires names {package!r}; known are {', '.join(sorted(_REQUIRES))}")
        problem = _problem(package)
        if problem is not None:
            raise RuntimeError(f"{op.config_field}={value!r} cannot be used: {problem}; {_choices(op, backends)}")


def _patch(hf_module: ModuleType, backend: BackendSpec, attribute: str) -> None:
    target = backend.target_override or attribute
    _check_target(hf_module, target)
    if backend.replace_forward:
        getattr(hf_module, target).forward = _replacement(backend)
    else:
        setattr(hf_module, target, _replacement(backend))


def _check_target(hf_module: ModuleType, attribute: str) -> None:
    if not hasattr(hf_module, attribute):
        raise ValueError(f"{hf_module.__name__} has no {attribute!r} to bind a backend to")


def _replacement(backend: BackendSpec) -> Any:
    entry = _load(backend.entry)
    replacement = entry() if backend.entry_is_factory else entry
    if not callable(replacement):
        raise TypeError(f"the backend {backend.entry} is {replacement!r}, which cannot be called")
    return replacement


def _run_side_effect(backend: BackendSpec) -> None:
    if backend.side_effect is not None:
        _load(backend.side_effect)()


def _load(entry: str) -> Any:
    module, attribute = _split(entry)
    return getattr(importlib.import_module(module), attribute)


def _split(entry: str) -> tuple[str, str]:
    module, separator, attribute = entry.partition(":")
    if not (module and separator and attribute):
        raise ValueError(f"{entry!r} is not of the form 'module:attribute'")
    return module, attribute
