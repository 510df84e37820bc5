"""The last linear layer and the cross-entropy of its logits.

Variant ``causal``: ``kernel(hidden_states, weight, labels, *, shifted=False, group=None)``; ``seq_cls``: the same
without ``shifted``. The definitions are in ``eager.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....utils.import_utils import PackageRequirement
from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

if TYPE_CHECKING:
    import torch

Kernel = Callable[..., "torch.Tensor"]


def _liger_causal() -> Kernel:
    from ...liger.cross_entropy import causal_lm_loss_liger

    return causal_lm_loss_liger


def _liger_seq_cls() -> Kernel:
    from ...liger.cross_entropy import seq_cls_loss_liger

    return seq_cls_loss_liger


def _chunk_causal() -> Kernel:
    from .chunk_loss import causal_lm_chunk_loss

    return causal_lm_chunk_loss


def _chunk_seq_cls() -> Kernel:
    from .chunk_loss import seq_cls_chunk_loss

    return seq_cls_chunk_loss


_LIGER = (PackageRequirement("liger_kernel", "liger-kernel"),)

for _variant, _name, _device, _factory, _packages in (
    ("causal", "liger_kernel", "gpu", _liger_causal, _LIGER),
    ("causal", "chunk_loss", "any", _chunk_causal, ()),
    ("seq_cls", "liger_kernel", "gpu", _liger_seq_cls, _LIGER),
    ("seq_cls", "chunk_loss", "any", _chunk_seq_cls, ()),
):
    KERNEL_REGISTRY.register(
        KernelSpec(
            name=_name,
            op_name="cross_entropy_loss",
            variant=_variant,
            factory=_factory,
            hardware=HardwareRequirement(_device),
            description="fused linear layer and cross-entropy",
            requires=_packages,
        )
    )
