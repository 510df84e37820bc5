"""Manifold-constrained hyper-connections through the TileLang kernels of tile_kernels (Hopper and later)."""

from __future__ import annotations

from typing import Any

import torch
from tile_kernels.modeling.mhc import ops
from torch.nn import functional

_STREAMS = 4
_POST_FACTOR = 2.0


def mhc_pre_tilelang(
    streams: torch.Tensor,
    fn: torch.Tensor,
    scale: torch.Tensor,
    base: torch.Tensor,
    norm_eps: float,
    sinkhorn_iters: int,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """See the eager definition."""
    streams = _check(streams)
    mixes = ops.mhc_pre_norm_fn(streams, _float(fn), None, norm_eps, fuse_grad_acc=False)
    into, out, between = ops.mhc_pre_split_mixes(mixes, _float(scale), _float(base), _STREAMS, _POST_FACTOR, eps)
    combination = ops.sinkhorn_normalize(between, repeat=sinkhorn_iters, eps=eps)
    return out.squeeze(-1), combination, ops.mhc_pre_apply_mix(streams, into)


def mhc_post_tilelang(
    output: torch.Tensor, streams: torch.Tensor, post: torch.Tensor, combination: torch.Tensor
) -> torch.Tensor:
    """See the eager definition."""
    return _Post.apply(output.contiguous(), _check(streams), _float(post.unsqueeze(-1)), _float(combination))


def mhc_head_tilelang(
    streams: torch.Tensor, fn: torch.Tensor, scale: torch.Tensor, base: torch.Tensor, norm_eps: float, eps: float
) -> torch.Tensor:
    """See the eager definition."""
    streams = _check(streams)
    # The kernel makes all mixes of a layer; the head needs the first ones alone.
    rows = _STREAMS * (2 + _STREAMS)
    padded = functional.pad(_float(fn), (0, 0, 0, rows - fn.shape[0]))
    mixes = ops.mhc_pre_norm_fn(streams, padded, None, norm_eps, fuse_grad_acc=False)
    shares = ops.mhc_head_compute_mix(mixes[..., :_STREAMS].contiguous(), _float(scale.reshape(1)), _float(base), eps)
    return ops.mhc_pre_apply_mix(streams, shares.unsqueeze(-1))


class _Post(torch.autograd.Function):
    # The package's own function adds into the gradient of its neighbour, which autograd does not know of.
    @staticmethod
    def forward(
        ctx: Any, output: torch.Tensor, streams: torch.Tensor, post: torch.Tensor, combination: torch.Tensor
    ) -> torch.Tensor:
        ctx.save_for_backward(output, streams, post, combination)
        return ops.mhc_post_fwd(output, streams, post, combination)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(ops.mhc_post_bwd(*ctx.saved_tensors, grad.contiguous(), fuse_grad_acc=False))


def _float(x: torch.Tensor) -> torch.Tensor:
    return x.float().contiguous()


def _check(streams: torch.Tensor) -> torch.Tensor:
    if streams.dtype != torch.bfloat16 or streams.shape[-2] != _STREAMS:
        raise ValueError(
            f"tile_kernels mixes {_STREAMS} streams of bfloat16, not {streams.shape[-2]} of {streams.dtype}"
        )
    return streams.contiguous()
