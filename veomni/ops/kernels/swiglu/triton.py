"""The activation of SwiGLU in Triton: one pass forward and one backward, bound by memory alone."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from ..triton_support import check_device
from .eager import check_gate_and_up

_BLOCK = 4096


@triton.jit
def _forward(gate_ptr, up_ptr, out_ptr, size, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < size
    gate = tl.load(gate_ptr + at, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, (gate * tl.sigmoid(gate) * up).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _backward(grad_ptr, gate_ptr, up_ptr, dgate_ptr, dup_ptr, size, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < size
    grad = tl.load(grad_ptr + at, mask=mask, other=0.0).to(tl.float32)
    gate = tl.load(gate_ptr + at, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + at, mask=mask, other=0.0).to(tl.float32)
    sigmoid = tl.sigmoid(gate)
    silu = gate * sigmoid
    dgate = grad * up * (sigmoid + silu * (1.0 - sigmoid))
    tl.store(dgate_ptr + at, dgate.to(dgate_ptr.dtype.element_ty), mask=mask)
    tl.store(dup_ptr + at, (grad * silu).to(dup_ptr.dtype.element_ty), mask=mask)


class _SiluMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        check_device(gate, up)
        gate, up = gate.contiguous(), up.contiguous()
        output = torch.empty_like(gate)
        if gate.numel():
            _forward[_grid(gate)](gate, up, output, gate.numel(), BLOCK=_BLOCK, num_warps=8)
        ctx.save_for_backward(gate, up)
        return output

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        gate, up = ctx.saved_tensors
        dgate, dup = torch.empty_like(gate), torch.empty_like(up)
        if gate.numel():
            _backward[_grid(gate)](
                grad.contiguous(), gate, up, dgate, dup, gate.numel(), BLOCK=_BLOCK, num_warps=8
            )  # fmt: skip
        return dgate, dup


def silu_mul_triton(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """``silu(gate) * up``, computed in float32 and rounded once; the inputs stay as they are.

    Raises:
        ValueError: the inputs differ in shape or dtype.
    """
    check_gate_and_up(gate, up)
    return _SiluMul.apply(gate, up)


def _grid(tensor: torch.Tensor) -> tuple[int]:
    return (triton.cdiv(tensor.numel(), _BLOCK),)
