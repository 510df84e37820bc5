"""Manifold-constrained hyper-connections; variants ``pre``, ``post`` and ``head``, as defined in ``eager.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....utils.import_utils import PackageRequirement
from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

Kernel = Callable[..., Any]


def _pre() -> Kernel:
    from .tilelang import mhc_pre_tilelang

    return mhc_pre_tilelang


def _post() -> Kernel:
    from .tilelang import mhc_post_tilelang

    return mhc_post_tilelang


def _head() -> Kernel:
    from .tilelang import mhc_head_tilelang

    return mhc_head_tilelang


# tile_kernels 1.0.0 imports a module that TileLang has no longer from 0.1.12 on.
_TILE_KERNELS = (PackageRequirement("tile_kernels"), PackageRequirement("tilelang", below="0.1.12"))

for _variant, _factory in (("pre", _pre), ("post", _post), ("head", _head)):
    KERNEL_REGISTRY.register(
        KernelSpec(
            name="tilelang",
            op_name="mhc",
            variant=_variant,
            factory=_factory,
            hardware=HardwareRequirement("gpu", min_compute_capability=90),
            description="the TileLang kernels of tile_kernels",
            requires=_TILE_KERNELS,
        )
    )
