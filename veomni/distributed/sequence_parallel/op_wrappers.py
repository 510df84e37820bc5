"""Ops without autograd, for compound functions that compute their own gradients.

Inside an ``autograd.Function`` a slot cannot be called: its kernel would record nothing, and slots are bound model by
model. A wrapper has ``forward``, which returns the output and what must be saved, and ``backward``, which takes the
gradient of the output and what was saved.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

import torch

from ...ops.config.singleton import get_ops_config
from ...utils.device import IS_NPU_AVAILABLE

_SUPPORTED_IMPLEMENTATIONS: dict[str, frozenset[str]] = {
    "rms_norm": frozenset({"eager", "liger_kernel", "triton", "npu"}),
    "rotary_pos_emb": frozenset({"eager", "liger_kernel", "triton", "npu"}),
}

_SUPPORTED_VARIANTS: dict[str, frozenset[str]] = {
    "rms_norm": frozenset({"standard", "qwen3_5"}),
    "rotary_pos_emb": frozenset({"full", "partial"}),
}

_DEFAULT_VARIANTS: dict[str, str] = {
    "rms_norm": "standard",
    "rotary_pos_emb": "full",
}

_CONFIG_FIELDS: dict[str, str] = {
    "rms_norm": "rms_norm_implementation",
    "rotary_pos_emb": "rotary_pos_emb_implementation",
}


class OpWrapper(Protocol):
    """An op in two halves. The inputs of ``forward`` are those of the kernel."""

    def forward(self, *inputs: Any) -> tuple[Any, Any]:
        """Return the output and what ``backward`` needs."""

    def backward(self, grad: Any, saved: Any) -> tuple[torch.Tensor, ...]:
        """Return the gradients of the differentiable inputs."""


def get_op_wrapper(op: str | tuple[str, str]) -> OpWrapper:
    """Return the wrapper of *op*, a name or an (op, variant) pair, in the implementation of the configuration in force.

    Without a configuration it is the eager one.

    Raises:
        KeyError: the op, the variant or the selected implementation has no wrapper.
        ImportError: the package of the implementation is missing.
        RuntimeError: the implementation is for NPUs, and this machine has none.
    """
    op_name, variant = op if isinstance(op, tuple) else (op, _DEFAULT_VARIANTS.get(op, ""))
    if variant not in _SUPPORTED_VARIANTS.get(op_name, frozenset()):
        raise KeyError(f"there is no wrapper of {op_name}/{variant or 'any variant'}")
    config = get_ops_config()
    implementation = "eager" if config is None else getattr(config, _CONFIG_FIELDS[op_name])
    if implementation not in _SUPPORTED_IMPLEMENTATIONS[op_name]:
        choices = ", ".join(sorted(_SUPPORTED_IMPLEMENTATIONS[op_name]))
        raise KeyError(
            f"{_CONFIG_FIELDS[op_name]}={implementation!r} has no wrapper for {op_name}/{variant}; choose {choices}"
        )
    return _BUILDERS[op_name](implementation, variant)


class _Differentiated:
    """A kernel whose own gradient is recorded in ``forward`` and run in ``backward``.

    ``count`` is how many of the inputs, the first ones, have a gradient.
    """

    def __init__(self, kernel: Callable[..., Any], count: int) -> None:
        self._kernel, self._count = kernel, count

    def forward(self, *inputs: Any) -> tuple[Any, Any]:
        with torch.enable_grad():
            leaves = [x.detach().requires_grad_() for x in inputs[: self._count]]
            output = self._kernel(*leaves, *inputs[self._count :])
        detached = tuple(x.detach() for x in output) if isinstance(output, tuple) else output.detach()
        return detached, (leaves, output)

    def backward(self, grad: Any, saved: Any) -> tuple[torch.Tensor, ...]:
        leaves, output = saved
        return torch.autograd.grad(output, leaves, grad)


class _TritonRmsNorm:
    def __init__(self, kernels: ModuleType, offset: float, late_cast: bool) -> None:
        self._kernels, self._offset, self._late_cast = kernels, offset, late_cast

    def forward(self, hidden_states: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor, Any]:
        output, rstd = self._kernels.rms_norm_forward(hidden_states, weight, eps, self._offset, self._late_cast)
        return output, (hidden_states, weight, rstd)

    def backward(self, grad: torch.Tensor, saved: Any) -> tuple[torch.Tensor, ...]:
        return self._kernels.rms_norm_backward(grad, *saved, self._offset)


class _NpuRmsNorm:
    def __init__(self, kernels: ModuleType) -> None:
        self._kernels = kernels

    def forward(self, hidden_states: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor, Any]:
        output, rstd = self._kernels.rms_norm_forward_npu(hidden_states, weight, eps)
        return output, (hidden_states, weight, rstd)

    def backward(self, grad: torch.Tensor, saved: Any) -> tuple[torch.Tensor, ...]:
        return self._kernels.rms_norm_backward_npu(grad, *saved)


class _TritonRotary:
    def __init__(self, rotate: Callable[..., tuple[torch.Tensor, torch.Tensor]]) -> None:
        self._rotate = rotate

    def forward(self, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, dim: int) -> Any:
        return self._rotate(q, k, cos, sin, dim), (cos, sin, dim, q.dtype, k.dtype)

    def backward(self, grad: Any, saved: Any) -> tuple[torch.Tensor, ...]:
        *angles, dim, q_dtype, k_dtype = saved
        dq, dk = self._rotate(*grad, *angles, dim, backward=True)
        return dq.to(q_dtype), dk.to(k_dtype)


class _NpuRotary:
    def __init__(self, rotate: Callable[..., tuple[torch.Tensor, torch.Tensor]]) -> None:
        self._rotate = rotate

    def forward(self, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, dim: int) -> Any:
        return self._rotate(q, k, cos, sin, dim), (cos, sin, dim)

    def backward(self, grad: Any, saved: Any) -> tuple[torch.Tensor, ...]:
        # Both halves of the angles are the same, so the transpose of the rotation is the rotation back.
        cos, sin, dim = saved
        return self._rotate(*grad, cos, -sin, dim)


def _build_rms_norm(implementation: str, variant: str) -> OpWrapper:
    standard = variant == "standard"
    if implementation == "eager":
        from ...ops.kernels.rms_norm.eager import rms_norm_eager, rms_norm_qwen3_5_eager

        return _Differentiated(rms_norm_eager if standard else rms_norm_qwen3_5_eager, count=2)
    if implementation == "liger_kernel":
        from ...ops.liger.rms_norm import rms_norm_liger, rms_norm_qwen3_5_liger

        return _Differentiated(rms_norm_liger if standard else rms_norm_qwen3_5_liger, count=2)
    if implementation == "triton":
        from ...ops.kernels.rms_norm import triton

        return _TritonRmsNorm(triton, offset=0.0 if standard else 1.0, late_cast=not standard)
    if implementation == "npu" and IS_NPU_AVAILABLE:
        from ...ops.kernels.rms_norm import npu

        return _NpuRmsNorm(npu) if standard else _Differentiated(npu.rms_norm_qwen3_5_npu, count=2)
    raise _unavailable("rms_norm", implementation)


def _build_rotary_pos_emb(implementation: str, variant: str) -> OpWrapper:
    full = variant == "full"
    if implementation == "eager":
        from ...ops.kernels.rotary.eager import rotary_pos_emb_eager, rotary_pos_emb_partial_eager

        return _Differentiated(rotary_pos_emb_eager if full else rotary_pos_emb_partial_eager, count=2)
    if implementation == "liger_kernel":
        from ...ops.liger.rotary import rotary_pos_emb_liger, rotary_pos_emb_partial_liger

        return _Differentiated(rotary_pos_emb_liger if full else rotary_pos_emb_partial_liger, count=2)
    if implementation == "triton":
        from ...ops.kernels.rotary.triton import rotate

        return _TritonRotary(rotate)
    if implementation == "npu" and IS_NPU_AVAILABLE:
        from ...ops.kernels.rotary.npu import rotary_pos_emb_npu, rotary_pos_emb_partial_npu

        return _NpuRotary(rotary_pos_emb_npu if full else rotary_pos_emb_partial_npu)
    raise _unavailable("rotary_pos_emb", implementation)


def _unavailable(op_name: str, implementation: str) -> RuntimeError:
    choices = ", ".join(sorted(_SUPPORTED_IMPLEMENTATIONS[op_name] - {implementation}))
    return RuntimeError(
        f"{_CONFIG_FIELDS[op_name]}={implementation!r}: the wrapper {implementation!r} of {op_name} cannot be used on "
        f"this machine; choose {choices}"
    )


_BUILDERS: dict[str, Callable[[str, str], OpWrapper]] = {
    "rms_norm": _build_rms_norm,
    "rotary_pos_emb": _build_rotary_pos_emb,
}
