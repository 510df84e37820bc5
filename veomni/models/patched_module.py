"""Modules that are patched by configuration must be the same again for the next configuration."""

from __future__ import annotations

from types import ModuleType

_ORIGINALS = "_unpatched"


def restore(module: ModuleType, *targets: str) -> None:
    """Put back what *targets* (``name`` or ``Class.method``) were when this was first called for *module*."""
    originals = module.__dict__.setdefault(_ORIGINALS, {})
    for target in targets:
        owner, _, name = target.rpartition(".")
        holder = getattr(module, owner) if owner else module
        setattr(holder, name, originals.setdefault(target, getattr(holder, name)))
