"""The attention of DeepSeek V4, in two ops: an indexer selects keys, and the heads attend to those and to a sink.

``v4_indexer``: ``kernel(q, k, weights, topk)``; ``v4_sparse_attention``: ``kernel(q, kv, sink, indices, scale)``. The
definitions are in ``eager.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....utils.import_utils import PackageRequirement
from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

Kernel = Callable[..., Any]


def _triton_indexer() -> Kernel:
    from .triton_indexer import lightning_indexer_triton

    return lightning_indexer_triton


def _triton_attention() -> Kernel:
    from .triton_attention import sparse_attention_with_sink_triton

    return sparse_attention_with_sink_triton


def _tilelang_indexer() -> Kernel:
    from .tilelang_indexer import lightning_indexer_tilelang

    return lightning_indexer_tilelang


def _tilelang_attention() -> Kernel:
    from .tilelang_attention import sparse_attention_with_sink_tilelang

    return sparse_attention_with_sink_tilelang


_TRITON = PackageRequirement("triton")
# Written for 0.1.15: the language still changes with each release.
_TILELANG = PackageRequirement("tilelang", min_version="0.1.15", below="0.2")

for _op, _triton, _tilelang, _description in (
    ("v4_indexer", _triton_indexer, _tilelang_indexer, "scores in tiles, without the products of single heads"),
    ("v4_sparse_attention", _triton_attention, _tilelang_attention, "attention that reads the selected keys in place"),
):
    KERNEL_REGISTRY.register(
        KernelSpec(
            name="triton",
            op_name=_op,
            variant="standard",
            factory=_triton,
            hardware=HardwareRequirement("gpu", min_compute_capability=80),
            description=_description,
            requires=(_TRITON,),
        )
    )
    KERNEL_REGISTRY.register(
        KernelSpec(
            name="tilelang",
            op_name=_op,
            variant="standard",
            factory=_tilelang,
            hardware=HardwareRequirement("gpu", min_compute_capability=90),
            description=f"{_description}; faster than triton where heads are many",
            requires=(_TILELANG,),
        )
    )
