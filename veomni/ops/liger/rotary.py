"""Rotary embedding of Liger as a kernel of the ``rotary_pos_emb`` slot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from liger_kernel.ops.rope import LigerRopeFunction

if TYPE_CHECKING:
    import torch


def rotary_pos_emb_liger(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate *q* and *k*; Liger knows one layout only, with the heads before the sequence.

    Raises:
        ValueError: another layout is asked for.
    """
    if unsqueeze_dim != 1:
        raise ValueError("Liger's rotary embedding needs heads in dimension 1; use another implementation")
    # Liger rotates in place, and the caller may still need what it passed.
    return LigerRopeFunction.apply(q.clone(), k.clone(), cos, sin)
