"""Mixture-of-experts MLPs: ``kernel(experts, hidden_states, top_k_index, top_k_weights)`` with the module *experts*.

The slot ``moe_experts`` reads the config field ``moe_implementation``, whose values begin with ``fused_``. Models with
their own forward call ``fused_moe_forward`` instead, whose pointer is bound with their slot and shared by all of them.
The definitions are in ``eager.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ....utils.import_utils import PackageRequirement
from ....utils.logging import get_logger
from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

if TYPE_CHECKING:
    import torch

logger = get_logger(__name__)

Experts = Callable[..., "torch.Tensor"]

_fused_moe_forward: Experts | None = None
"""Bound by ``apply_veomni_fused_moe_patch``; takes tensors only."""


def fused_moe_forward(
    hidden_states: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    limit: float | None = None,
) -> torch.Tensor:
    """Compute the experts with the fused kernel in force.

    Raises:
        NotImplementedError: no fused kernel is bound.
    """
    if _fused_moe_forward is None:
        raise NotImplementedError("no fused MoE kernel is bound; select one with moe_implementation")
    return _fused_moe_forward(hidden_states, top_k_index, top_k_weights, gate_up_proj, down_proj, limit)


def apply_veomni_fused_moe_patch(name: str) -> None:
    """Bind the pointer to the kernel *name* of ``moe_experts/standard``; ``eager`` unbinds it.

    Raises:
        UnknownKernelError, KernelUnavailableError: as ``KernelRegistry.resolve``.
    """
    global _fused_moe_forward
    kernel = KERNEL_REGISTRY.resolve("moe_experts", "standard", name)
    bound = None if kernel is None else _of_tensors(kernel, name)
    if bound is not None and _fused_moe_forward is not None and bound.__name__ != _fused_moe_forward.__name__:
        logger.warning(
            "fused_moe_forward changes from %s to %s for every model that calls it",
            _fused_moe_forward.__name__, bound.__name__,
        )  # fmt: skip
    _fused_moe_forward = bound


class _Experts(NamedTuple):
    """What a kernel reads of the module of the experts; a tuple, because torch.compile cannot trace a namespace."""

    gate_up_proj: torch.Tensor
    down_proj: torch.Tensor
    limit: float | None


def _of_tensors(kernel: Experts, name: str) -> Experts:
    """Make the function of tensors that the pointer has of *kernel*, which takes the module of the experts."""

    def fused_moe(
        hidden_states: torch.Tensor,
        top_k_index: torch.Tensor,
        top_k_weights: torch.Tensor,
        gate_up_proj: torch.Tensor,
        down_proj: torch.Tensor,
        limit: float | None = None,
    ) -> torch.Tensor:
        return kernel(_Experts(gate_up_proj, down_proj, limit), hidden_states, top_k_index, top_k_weights)

    fused_moe.__name__ = f"fused_moe_{name}"
    return fused_moe


def _standard(raw: Experts) -> Experts:
    def moe_experts(
        experts: Any, hidden_states: torch.Tensor, top_k_index: torch.Tensor, top_k_weights: torch.Tensor
    ) -> torch.Tensor:
        limit = getattr(experts, "limit", None)
        return raw(hidden_states, top_k_index, top_k_weights, experts.gate_up_proj, experts.down_proj, limit)

    return moe_experts


def _gpt_oss(raw: Experts) -> Experts:
    def moe_experts(
        experts: Any, hidden_states: torch.Tensor, top_k_index: torch.Tensor, top_k_weights: torch.Tensor
    ) -> torch.Tensor:
        return raw(
            hidden_states,
            top_k_index,
            top_k_weights,
            experts.gate_up_proj,
            experts.gate_up_proj_bias,
            experts.down_proj,
            experts.down_proj_bias,
            experts.alpha,
            experts.limit,
        )

    return moe_experts


def _triton_standard() -> Experts:
    from .triton import moe_experts_triton

    return _standard(moe_experts_triton)


def _triton_gpt_oss() -> Experts:
    from .triton import moe_experts_gpt_oss_triton

    return _gpt_oss(moe_experts_gpt_oss_triton)


def _quack_standard() -> Experts:
    from .quack import moe_experts_quack

    return _standard(moe_experts_quack)


def _quack_gpt_oss() -> Experts:
    from .quack import moe_experts_gpt_oss_quack

    return _gpt_oss(moe_experts_gpt_oss_quack)


def _npu_standard() -> Experts:
    from .npu import moe_experts_npu

    return _standard(moe_experts_npu)


def _npu_gpt_oss() -> Experts:
    from .npu import moe_experts_gpt_oss_npu

    return _gpt_oss(moe_experts_gpt_oss_npu)


_GPU = HardwareRequirement("gpu", min_compute_capability=80)
_HOPPER = HardwareRequirement("gpu", min_compute_capability=90)
_NPU = HardwareRequirement("npu")
_TRITON = (PackageRequirement("triton"),)
_QUACK = (PackageRequirement("quack", distribution="quack-kernels"),)

for _variant, _name, _hardware, _factory, _packages in (
    ("standard", "triton", _GPU, _triton_standard, _TRITON),
    ("standard", "quack", _HOPPER, _quack_standard, _QUACK),
    ("standard", "npu", _NPU, _npu_standard, ()),
    ("gpt_oss", "triton", _GPU, _triton_gpt_oss, _TRITON),
    ("gpt_oss", "quack", _HOPPER, _quack_gpt_oss, _QUACK),
    ("gpt_oss", "npu", _NPU, _npu_gpt_oss, ()),
):
    KERNEL_REGISTRY.register(
        KernelSpec(
            name=_name,
            op_name="moe_experts",
            variant=_variant,
            factory=_factory,
            hardware=_hardware,
            description="experts as grouped matrix products",
            requires=_packages,
        )
    )
