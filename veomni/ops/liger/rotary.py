"""Rotary embedding of Liger as kernels of the ``rotary_pos_emb`` slots."""

from __future__ import annotations

import torch
from liger_kernel.ops.rope import LigerRopeFunction

from ..kernels.rotary.eager import check_shapes


def rotary_pos_emb_liger(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """The variant ``full``; Liger knows one layout only, with the heads before the tokens.

    Raises:
        ValueError: another layout is asked for, or the shapes do not belong together.
    """
    if unsqueeze_dim != 1:
        raise ValueError("Liger's rotary embedding needs the heads in dimension 1; use another implementation")
    check_shapes(q, k, cos, sin, unsqueeze_dim, partial=False)
    # Liger rotates in place, and the caller may still need what it passed.
    return rotate_in_place_liger(q.clone(), k.clone(), cos, sin)


def rotate_in_place_liger(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Liger's own function, which overwrites *q* and *k*; for measurements."""
    return LigerRopeFunction.apply(q, k, cos, sin)


def rotary_pos_emb_partial_liger(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """The variant ``partial``: older releases of Liger rotate whole rows only, so what passes through is cut off.

    Raises:
        ValueError: as ``rotary_pos_emb_liger``.
    """
    rotary = cos.shape[-1]
    rotated = rotary_pos_emb_liger(q[..., :rotary], k[..., :rotary], cos, sin, unsqueeze_dim)
    return torch.cat((rotated[0], q[..., rotary:]), dim=-1), torch.cat((rotated[1], k[..., rotary:]), dim=-1)
