"""The registry of the program as it stands in memory, found by the names of the dialect."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from .watch import Message

_DEPTH = 4
_HARDWARE = ("device_type", "min_compute_capability", "max_compute_capability")
_BACKEND = ("entry", "requires", "side_effect", "replace_forward", "entry_is_factory", "target_override")


def kernel_specs(package: str, registry_name: str, spec_class: str) -> list[tuple[Any, Any]]:
    """Every kernel spec of the modules of *package*, each with the registry that holds it, in order of registration."""
    registries = {
        id(found): found
        for module in modules_of(package)
        if (found := vars(module).get(registry_name)) is not None and not isinstance(found, type)
    }
    return [(registry, spec) for registry in registries.values() for spec in _held(registry, spec_class)]


def op_specs(package: str, register: str, spec_class: str) -> list[Any]:
    """Every op spec that the module of the registering function keeps."""
    homes = {
        function.__module__
        for module in modules_of(package)
        if callable(function := vars(module).get(register)) and hasattr(function, "__module__")
    }
    found: dict[int, Any] = {}
    for home in sorted(homes & set(sys.modules)):
        for name, value in list(vars(sys.modules[home]).items()):
            if isinstance(value, (dict, list, tuple)) and not name.startswith("__"):
                found.update((id(spec), spec) for spec in _held(value, spec_class))
    return list(found.values())


def modules_of(package: str) -> list[Any]:
    """The loaded modules of *package*, sorted by name."""
    names = sorted(name for name in sys.modules if name == package or name.startswith(f"{package}."))
    # A module that must not be imported again is None there.
    found: list[ModuleType | None] = [sys.modules[name] for name in names]
    return [module for module in found if module is not None]


def describe_kernel_spec(spec: Any) -> Message:
    """The fields of a kernel spec, and where its factory is defined."""
    hardware = getattr(spec, "hardware", None)
    return {
        "op_name": _plain(getattr(spec, "op_name", None)),
        "variant": _plain(getattr(spec, "variant", None)),
        "name": _plain(getattr(spec, "name", None)),
        "description": _plain(getattr(spec, "description", None)),
        **{name: _plain(getattr(hardware, name, None)) for name in _HARDWARE},
        "factory": describe_callable(getattr(spec, "factory", None)),
    }


def describe_op_spec(spec: Any) -> Message:
    """The fields of an op spec."""
    backends = getattr(spec, "backends", None)
    scope = getattr(spec, "scope", None)
    return {
        "name": _plain(getattr(spec, "name", None)),
        "config_field": _plain(getattr(spec, "config_field", None)),
        "scope": str(getattr(scope, "name", scope)),
        "default": _plain(getattr(spec, "default", None)),
        "global_slot": _plain(getattr(spec, "global_slot", None)),
        "backends": {
            str(name): {key: _plain(getattr(backend, key, None)) for key in _BACKEND}
            for name, backend in (backends.items() if isinstance(backends, dict) else ())
        },
    }


def describe_callable(value: Any) -> Message:
    """What *value* is, and the place of its definition where it has one; partials and wrappers are looked through."""
    inner = value
    while isinstance(inner, functools.partial):
        inner = inner.func
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    code = getattr(inner, "__code__", None) or getattr(getattr(inner, "__func__", None), "__code__", None)
    return {
        "type": type(value).__name__,
        "module": str(getattr(inner, "__module__", "") or ""),
        "qualname": str(getattr(inner, "__qualname__", "") or ""),
        "file": code.co_filename if code is not None else "",
        "line": code.co_firstlineno if code is not None else 0,
    }


def _held(container: Any, class_name: str) -> Iterator[Any]:
    seen: set[int] = set()
    pending: list[tuple[Any, int]] = [(container, 0)]
    while pending:
        value, depth = pending.pop(0)
        if id(value) in seen or depth > _DEPTH:
            continue
        seen.add(id(value))
        if type(value).__name__ == class_name:
            yield value
        elif isinstance(value, dict):
            pending[:0] = [(one, depth + 1) for one in value.values()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            pending[:0] = [(one, depth + 1) for one in value]
        elif depth == 0 and hasattr(value, "__dict__"):
            pending[:0] = [(one, depth + 1) for one in vars(value).values()]


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, bool)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return repr(value)[:200]
