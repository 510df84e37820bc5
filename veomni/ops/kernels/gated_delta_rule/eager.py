"""The parts of gated-delta-rule attention in plain PyTorch: the definitions for every other implementation.

Several sequences may be packed into one row; *cu_seqlens* (sequences + 1) then says where each begins and ends. Tokens
behind the last of them, such as padding, are one more; flash-linear-attention leaves what comes out there undefined.
"""

from __future__ import annotations

import torch
from torch.nn import functional


def rms_norm_gated_eager(x: torch.Tensor, gate: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """RMSNorm of *x* scaled by *weight*, times ``silu(gate)``, in float32 and rounded once."""
    rows = x.float()
    normalised = rows * torch.rsqrt(rows.square().mean(-1, keepdim=True) + eps)
    return (normalised * weight.float() * functional.silu(gate.float())).to(x.dtype)


def causal_conv1d_eager(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, *, cu_seqlens: torch.Tensor | None = None
) -> torch.Tensor:
    """Each column of *x* (batch, tokens, columns) convolved with its *weight* (columns, width), then silu.

    A token sees itself and the ``width - 1`` before it in its own sequence.
    """
    width = weight.shape[1]
    position = positions_in_sequences(x.shape[1], cu_seqlens, x.device)
    output = torch.zeros_like(x) if bias is None else bias.expand_as(x)
    for back in range(width):
        earlier = functional.pad(x, (0, 0, back, 0))[:, : x.shape[1]]
        seen = (position >= back)[None, :, None]
        output = output + torch.where(seen, earlier, 0.0) * weight[:, width - 1 - back]
    return functional.silu(output)


def chunk_gated_delta_rule_eager(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    *,
    scale: float | None = None,
    cu_seqlens: torch.Tensor | None = None,
) -> torch.Tensor:
    """Linear attention whose state forgets by ``exp(g)`` and replaces what it holds for a key by a share *beta*.

    *q*, *k* and *v* are (batch, tokens, heads, width), *g* and *beta* (batch, tokens, heads). Queries and keys are
    normalised to length one. The state is kept in float32, token by token, and is empty where a sequence begins.
    """
    normal_q, normal_k = normalise(q), normalise(k)
    values, share, decay = v.float(), beta.float()[..., None], g.float().exp()[..., None, None]
    begins = positions_in_sequences(q.shape[1], cu_seqlens, q.device) == 0
    state = values.new_zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3])
    outputs = []
    for t in range(q.shape[1]):
        state = torch.where(begins[t], torch.zeros_like(state), state * decay[:, t])
        key = normal_k[:, t]
        change = share[:, t] * (values[:, t] - torch.einsum("bhk,bhkv->bhv", key, state))
        state = state + torch.einsum("bhk,bhv->bhkv", key, change)
        outputs.append(torch.einsum("bhk,bhkv->bhv", normal_q[:, t], state))
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    return (torch.stack(outputs, dim=1) * factor).to(v.dtype) if outputs else v.clone()


def normalise(x: torch.Tensor) -> torch.Tensor:
    """Rows of length one, in float32; a row of zeros stays."""
    rows = x.float()
    return rows * torch.rsqrt(rows.square().sum(-1, keepdim=True) + 1e-6)


def positions_in_sequences(tokens: int, cu_seqlens: torch.Tensor | None, device: torch.device) -> torch.Tensor:
    """The position of each token in its sequence."""
    index = torch.arange(tokens, device=device)
    if cu_seqlens is None:
        return index
    starts = cu_seqlens.to(index.dtype)
    return index - starts[torch.searchsorted(starts, index, right=True) - 1]
