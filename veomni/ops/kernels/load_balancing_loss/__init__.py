"""The load-balancing loss of mixture-of-experts models, behind a module-level pointer and a slot.

``kernel(gate_logits, num_experts, top_k, attention_mask=None)``. The definition is in ``eager.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ....utils.import_utils import PackageRequirement
from ...config.registry import BackendSpec, OpScope, OpSpec, register_op
from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

if TYPE_CHECKING:
    import torch

Kernel = Callable[..., "torch.Tensor"]

_load_balancing_loss: Kernel | None = None
"""Bound by ``apply_ops_config`` to the backend of ``load_balancing_loss_implementation``."""


def load_balancing_loss_func(
    gate_logits: Sequence[torch.Tensor], num_experts: int, top_k: int, attention_mask: torch.Tensor | None = None
) -> torch.Tensor:
    """Compute the loss with the backend in force.

    Raises:
        NotImplementedError: no configuration was applied yet.
    """
    if _load_balancing_loss is None:
        raise NotImplementedError("no load-balancing loss is bound; call apply_ops_config first")
    return _load_balancing_loss(gate_logits, num_experts, top_k, attention_mask)


def _triton() -> Kernel:
    from .triton import load_balancing_loss_triton

    return load_balancing_loss_triton


KERNEL_REGISTRY.register(
    KernelSpec(
        name="triton",
        op_name="load_balancing_loss",
        variant="standard",
        factory=_triton,
        hardware=HardwareRequirement("gpu"),
        description="one pass over the router logits of all layers",
        requires=(PackageRequirement("triton"),),
    )
)

register_op(
    OpSpec(
        name="load_balancing_loss",
        config_field="load_balancing_loss_implementation",
        label="load-balancing loss",
        scope=OpScope.GLOBAL,
        default="triton",
        global_slot="veomni.ops.kernels.load_balancing_loss:_load_balancing_loss",
        backends={
            "eager": BackendSpec(entry="veomni.ops.kernels.load_balancing_loss.eager:load_balancing_loss_eager"),
            "triton": BackendSpec(
                entry="veomni.ops.kernels.load_balancing_loss.triton:load_balancing_loss_triton", requires=("triton",)
            ),
        },
    )
)
