"""Cutting sequences up among ranks, and putting them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import distributed

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, dim: int, group: ProcessGroup) -> torch.Tensor:
        ctx.dim, ctx.group = dim, group
        parts = [torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(_size(group))]
        distributed.all_gather(parts, x.contiguous(), group=group)
        return torch.cat(parts, dim=dim)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        # Every rank computes with the whole, so the gradients of a part come from all of them.
        total = grad.contiguous().clone()
        distributed.all_reduce(total, group=ctx.group)
        return slice_input_tensor(total, ctx.dim, ctx.group), None, None


def pad_to_multiple(x: torch.Tensor, multiple: int, value: int, dim: int = 1) -> torch.Tensor:
    """Append *value* until the length along *dim* is a multiple of *multiple*."""
    missing = -x.shape[dim] % multiple
    if not missing:
        return x
    shape = list(x.shape)
    shape[dim] = missing
    return torch.cat((x, torch.full(shape, value, dtype=x.dtype, device=x.device)), dim=dim)


def slice_input_tensor(x: torch.Tensor, dim: int, group: ProcessGroup | None) -> torch.Tensor:
    """The part of *x* that belongs to this rank.

    Raises:
        ValueError: *x* cannot be cut into equal parts.
    """
    if group is None:
        return x
    if x.shape[dim] % _size(group):
        raise ValueError(f"dimension {dim} of {tuple(x.shape)} cannot be divided among {_size(group)} ranks; pad it")
    return x.chunk(_size(group), dim=dim)[distributed.get_rank(group)].contiguous()


def gather_outputs(x: torch.Tensor, dim: int, group: ProcessGroup | None) -> torch.Tensor:
    """The parts of all ranks together; in backward the gradients of all ranks are added."""
    return x if group is None else _Gather.apply(x, dim, group)


def _size(group: ProcessGroup) -> int:
    return distributed.get_world_size(group)
