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


def check_shapes(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int, *, partial: bool
) -> None:
    """Compare the shapes of what is rotated, for kernels that take them on trust.

    *q* and *k* have four dimensions and differ in their heads only. *cos* and *sin* have a row for each token, of each
    sequence or of all, as wide as the heads or with *partial* not wider.

    Raises:
        ValueError: they do not belong together.
    """
    if unsqueeze_dim not in (1, 2):
        raise ValueError(f"the heads are in dimension 1 or 2, not {unsqueeze_dim}")
    sizes = [[size for i, size in enumerate(x.shape) if i != unsqueeze_dim] for x in (q, k)]
    if q.dim() != 4 or k.dim() != 4 or sizes[0] != sizes[1]:
        raise ValueError(
            f"queries {tuple(q.shape)} and keys {tuple(k.shape)} differ in more than their heads, "
            f"which are in dimension {unsqueeze_dim}"
        )
    batch, tokens, width = sizes[0]
    rotary = cos.shape[-1]
    if (
        cos.shape != sin.shape
        or tuple(cos.shape) not in {(1, tokens, rotary), (batch, tokens, rotary)}
        or rotary % 2
        or rotary > width
        or (rotary < width and not partial)
    ):
        raise ValueError(f"cos {tuple(cos.shape)} and sin {tuple(sin.shape)} do not fit queries {tuple(q.shape)}")


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
