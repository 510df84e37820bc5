"""Manifold-constrained hyper-connections in plain PyTorch: the definitions for every other implementation.

The residual is not one stream but several, (batch, tokens, streams, hidden), mixed before and after each layer.
"""

from __future__ import annotations

import torch


def mhc_pre_eager(
    streams: torch.Tensor,
    fn: torch.Tensor,
    scale: torch.Tensor,
    base: torch.Tensor,
    norm_eps: float,
    sinkhorn_iters: int,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return how to mix the layer's output in (…, streams), how to mix the streams (…, streams, streams), its input.

    *fn* (streams * (2 + streams), streams * hidden) makes the mixes from the normalised streams; *scale* has one
    factor for each of the three mixes, *base* one summand for each number.
    """
    count = streams.shape[-2]
    mixes = _mixes(streams, fn, norm_eps).split((count, count, count * count), dim=-1)
    bases = base.float().split((count, count, count * count))
    into, out, between = (mix * scale[i].float() + bases[i] for i, mix in enumerate(mixes))
    combination = between.unflatten(-1, (count, count)).softmax(-1) + eps
    combination = combination / (combination.sum(-2, keepdim=True) + eps)
    for _ in range(sinkhorn_iters - 1):
        combination = combination / (combination.sum(-1, keepdim=True) + eps)
        combination = combination / (combination.sum(-2, keepdim=True) + eps)
    return 2.0 * out.sigmoid(), combination, _collapse(streams, into.sigmoid() + eps)


def mhc_post_eager(
    output: torch.Tensor, streams: torch.Tensor, post: torch.Tensor, combination: torch.Tensor
) -> torch.Tensor:
    """The mixed streams plus the layer's *output*, given to each stream by its share."""
    mixed = combination.float().transpose(-1, -2) @ streams.float()
    return (post.float()[..., None] * output.float()[..., None, :] + mixed).to(streams.dtype)


def mhc_head_eager(
    streams: torch.Tensor, fn: torch.Tensor, scale: torch.Tensor, base: torch.Tensor, norm_eps: float, eps: float
) -> torch.Tensor:
    """One stream out of all, after the last layer; *fn* is (streams, streams * hidden), *scale* one number."""
    return _collapse(streams, (_mixes(streams, fn, norm_eps) * scale.float() + base.float()).sigmoid() + eps)


def _mixes(streams: torch.Tensor, fn: torch.Tensor, norm_eps: float) -> torch.Tensor:
    flat = streams.flatten(-2).float()
    return (flat * torch.rsqrt(flat.square().mean(-1, keepdim=True) + norm_eps)) @ fn.float().t()


def _collapse(streams: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
    return (shares[..., None] * streams.float()).sum(-2).to(streams.dtype)
