"""A small diffusion transformer of the Wan kind. It is written here, so it needs no generated file."""

from __future__ import annotations

from ...loader import MODELING_REGISTRY
from .configuration_wan import WanConfig


@MODELING_REGISTRY.register("wan", WanConfig)
def register_wan_modeling(architecture: str) -> type:
    """Return the class of *architecture*, its module patched as configured."""
    from . import modeling_wan
    from .device_patch import apply_veomni_wan_device_patch

    apply_veomni_wan_device_patch(modeling_wan)
    return getattr(modeling_wan, f"Wan{architecture}")
