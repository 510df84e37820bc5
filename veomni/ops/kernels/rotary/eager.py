"""Rotary position embedding in plain PyTorch: the definition that every other implementation is tested against."""

from __future__ import annotations

import torch


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    """Swap the halves of the last dimension and negate what comes first."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def rotary_pos_emb_eager(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """The variant ``full``: rotate each pair ``(x[i], x[i + width / 2])``; *unsqueeze_dim* is that of the heads."""
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def rotary_pos_emb_partial_eager(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """The variant ``partial``: rotate as many columns as *cos* has and pass the others through."""
    rotary = cos.shape[-1]
    rotated = rotary_pos_emb_eager(q[..., :rotary], k[..., :rotary], cos, sin, unsqueeze_dim)
    return torch.cat((rotated[0], q[..., rotary:]), dim=-1), torch.cat((rotated[1], k[..., rotary:]), dim=-1)


def rope_apply_wan_eager(x: torch.Tensor, freqs: torch.Tensor, num_heads: int) -> torch.Tensor:
    """The form of the Wan DiT: multiply neighbouring pairs of *x* (batch, tokens, heads * width) by complex *freqs*.

    *freqs* is (tokens, 1, width / 2) and complex; the product is taken in its precision.
    """
    pairs = x.to(freqs.real.dtype).unflatten(-1, (num_heads, -1, 2))
    return torch.view_as_real(torch.view_as_complex(pairs) * freqs).flatten(2).to(x.dtype)


def rotary_angles_eager(
    inv_freq: torch.Tensor, position_ids: torch.Tensor, scaling: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The scaled cosine and sine of every position times every frequency, each frequency twice."""
    angles = position_ids[..., None].float() * inv_freq.float()
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos() * scaling, angles.sin() * scaling
