"""Attention to selected keys through FlashMLA, which has no backward: gradients come from the eager definition."""

from __future__ import annotations

from typing import Any

import torch
from flash_mla import flash_mla_sparse_fwd
from torch.nn import functional

from .eager import dsa_attention_eager

_SELECTED_MULTIPLE = 128


class _FlashMla(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: torch.Tensor, kv: torch.Tensor, indices: torch.Tensor, value_width: int, scale: float
    ) -> torch.Tensor:
        ctx.save_for_backward(q, kv, indices)
        ctx.value_width, ctx.scale = value_width, scale
        batch, tokens, heads, width = q.shape
        first = torch.arange(batch, device=q.device)[:, None, None] * kv.shape[1]
        rows = torch.where(indices < 0, -1, indices + first).int()
        rows = functional.pad(rows, (0, -rows.shape[-1] % _SELECTED_MULTIPLE), value=-1)
        output, *_ = flash_mla_sparse_fwd(
            q.reshape(batch * tokens, heads, width).contiguous(),
            kv.reshape(-1, 1, width).contiguous(),
            rows.reshape(batch * tokens, 1, -1).contiguous(),
            scale,
            d_v=value_width,
        )
        return output.view(batch, tokens, heads, value_width)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        q, kv, indices = ctx.saved_tensors
        with torch.enable_grad():
            inputs = q.detach().requires_grad_(), kv.detach().requires_grad_()
            output = dsa_attention_eager(*inputs, indices, ctx.value_width, ctx.scale)
        return *torch.autograd.grad(output, inputs, grad), None, None, None


def dsa_attention_flashmla(
    q: torch.Tensor, kv: torch.Tensor, indices: torch.Tensor, value_width: int, scale: float
) -> torch.Tensor:
    """See the eager definition.

    Raises:
        ValueError: another dtype than bfloat16.
    """
    if q.dtype != torch.bfloat16 or kv.dtype != torch.bfloat16:
        raise ValueError(f"FlashMLA computes in bfloat16, not {q.dtype} and {kv.dtype}")
    return _FlashMla.apply(q, kv, indices, value_width, scale)
