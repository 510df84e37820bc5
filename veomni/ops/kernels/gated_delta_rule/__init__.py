"""Gated-delta-rule attention, in three ops.

``rms_norm_gated``: ``kernel(x, gate, weight, eps)``; ``causal_conv1d``: ``kernel(x, weight, bias=None, *,
cu_seqlens=None)``; ``chunk_gated_delta_rule``: ``kernel(q, k, v, g, beta, *, scale=None, cu_seqlens=None)``. The
definitions are in ``eager.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....utils.import_utils import PackageRequirement
from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

if TYPE_CHECKING:
    import torch

Kernel = Callable[..., "torch.Tensor"]


def _fla_norm() -> Kernel:
    from .fla import rms_norm_gated_fla

    return rms_norm_gated_fla


def _fla_conv() -> Kernel:
    from .fla import causal_conv1d_fla

    return causal_conv1d_fla


def _fla_rule() -> Kernel:
    from .fla import chunk_gated_delta_rule_fla

    return chunk_gated_delta_rule_fla


def _npu_norm() -> Kernel:
    from .npu import rms_norm_gated_npu

    return rms_norm_gated_npu


def _npu_conv() -> Kernel:
    from .npu import causal_conv1d_npu

    return causal_conv1d_npu


def _npu_rule() -> Kernel:
    from .npu import chunk_gated_delta_rule_npu

    return chunk_gated_delta_rule_npu


# Before 0.6, with Triton 3.4 to 3.6 on Hopper, the gradients of g and beta are wrong.
_FLA = PackageRequirement("fla", "fla-core", min_version="0.6")
# There fla 0.6 refuses to go backward with Triton 3.4 to 3.7.0, unless it has TileLang for it.
_HOPPER = PackageRequirement("triton", min_version="3.7.1", compute_capability=90, instead="tilelang")

for _op, _fla_factory, _npu_factory, _requires in (
    ("rms_norm_gated", _fla_norm, _npu_norm, (_FLA,)),
    ("causal_conv1d", _fla_conv, _npu_conv, (_FLA,)),
    ("chunk_gated_delta_rule", _fla_rule, _npu_rule, (_FLA, _HOPPER)),
):
    KERNEL_REGISTRY.register(
        KernelSpec(
            name="fla",
            op_name=_op,
            variant="standard",
            factory=_fla_factory,
            hardware=HardwareRequirement("gpu"),
            description="flash-linear-attention",
            requires=_requires,
        )
    )
    KERNEL_REGISTRY.register(
        KernelSpec(
            name="npu",
            op_name=_op,
            variant="standard",
            factory=_npu_factory,
            hardware=HardwareRequirement("npu"),
            description="torch_npu",
        )
    )
