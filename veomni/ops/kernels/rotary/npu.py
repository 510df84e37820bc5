"""Rotary position embedding on Ascend NPUs."""

from __future__ import annotations

import torch
import torch_npu


def rotary_pos_emb_npu(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """The variant ``full``: the fused kernel of torch_npu, once for the queries and once for the keys."""
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return torch_npu.npu_rotary_mul(q, cos, sin), torch_npu.npu_rotary_mul(k, cos, sin)


def rotary_pos_emb_partial_npu(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """The variant ``partial``: the kernel rotates whole rows only, so the columns that pass through are cut off."""
    rotary = cos.shape[-1]
    # The kernel wants contiguous rows, which a slice of columns is not.
    rotated = rotary_pos_emb_npu(q[..., :rotary].contiguous(), k[..., :rotary].contiguous(), cos, sin, unsqueeze_dim)
    return torch.cat((rotated[0], q[..., rotary:]), dim=-1), torch.cat((rotated[1], k[..., rotary:]), dim=-1)


def rope_apply_wan_npu(x: torch.Tensor, freqs: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Rotate *x* (batch, tokens, heads * width) by complex *freqs* (tokens, 1, width / 2), as the Wan DiT does."""
    cos, sin = (part.float().repeat(1, 1, 2)[None] for part in torch.view_as_real(freqs).unbind(-1))
    # The kernel rotates halves of a head, and here it is neighbouring pairs: they are sorted, and put back.
    halves = x.float().unflatten(-1, (num_heads, -1, 2)).transpose(-1, -2).flatten(-2)
    rotated = torch_npu.npu_rotary_mul(halves, cos, sin)
    return rotated.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(2).to(x.dtype)
