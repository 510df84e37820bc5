"""The gated delta rule over chunks of tokens: within a chunk it is matrix products, which accelerators are made for."""

from __future__ import annotations

import torch
from torch.nn import functional

from .eager import normalise

_CHUNK = 64


def chunk_gated_delta_rule_chunked(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    *,
    scale: float | None = None,
    cu_seqlens: torch.Tensor | None = None,
) -> torch.Tensor:
    """See the eager definition."""
    if not q.shape[1]:
        return v.clone()
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    inputs = normalise(q) * factor, normalise(k), v.float(), g.float()[..., None], beta.float()[..., None]
    if cu_seqlens is None:
        return _padded(*inputs)[:, : q.shape[1]].to(v.dtype)
    lengths = cu_seqlens.diff().tolist()
    # Without those of no token, each of which would cost as much as the longest.
    lengths = [length for length in (*lengths, q.shape[1] - sum(lengths)) if length]
    # One row for each sequence of each row of the batch: their states then advance together.
    rows = [_one_row_each(x, lengths) for x in inputs]
    outputs = _padded(*rows).unflatten(0, (len(lengths), -1))
    return torch.cat([outputs[i, :, :length] for i, length in enumerate(lengths)], dim=1).to(v.dtype)


def _one_row_each(x: torch.Tensor, lengths: list[int]) -> torch.Tensor:
    longest = max(lengths)
    return torch.cat([functional.pad(x_, (0, 0, 0, 0, 0, longest - x_.shape[1])) for x_ in x.split(lengths, dim=1)])


def _padded(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    """As the definition, for whole sequences; what pads the last chunk changes no output before it."""
    missing = -q.shape[1] % _CHUNK
    q, k, v, g, beta = (
        functional.pad(x, (0, 0, 0, 0, 0, missing)).transpose(1, 2).unflatten(2, (-1, _CHUNK))
        for x in (q, k, v, g, beta)
    )
    decay = g.cumsum(-2)
    fading = (decay - decay.transpose(-1, -2)).tril().exp().tril()
    # Each change in a chunk depends on those before it; solving for all at once is a triangular system.
    mutual = (beta * k @ k.transpose(-1, -2) * fading).tril(-1)
    right = torch.cat((beta * v, beta * k * decay.exp()), dim=-1)
    solved = torch.linalg.solve_triangular(mutual + torch.eye(_CHUNK, device=q.device), right, upper=False)
    values, keys = solved.split((v.shape[-1], k.shape[-1]), dim=-1)
    scores = q @ k.transpose(-1, -2) * fading
    state = v.new_zeros(*v.shape[:2], k.shape[-1], v.shape[-1])
    outputs = []
    for i in range(q.shape[2]):
        changes = values[:, :, i] - keys[:, :, i] @ state
        outputs.append((q[:, :, i] * decay[:, :, i].exp()) @ state + scores[:, :, i] @ changes)
        last = decay[:, :, i, -1:]
        state = state * last.exp() + (k[:, :, i] * (last - decay[:, :, i]).exp()).transpose(-1, -2) @ changes
    return torch.cat(outputs, dim=2).transpose(1, 2)
