"""Sequence parallelism around any attention: each rank trades its part of the tokens for part of the heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....distributed.parallel_state import get_parallel_state
from ....distributed.sequence_parallel.ulysses import (
    gather_heads_scatter_seq,
    gather_seq_scatter_heads,
    key_head_copies,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch


def with_sequence_parallel(attention: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Wrap *attention* so that ranks of the sequence-parallel group attend to all tokens with part of the heads."""

    def attention_ulysses(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: Any) -> torch.Tensor:
        """See the eager definition; the tokens are those of this rank.

        Raises:
            ValueError: the heads cannot be divided among the ranks.
        """
        state = get_parallel_state()
        if state.sp_group is None:
            return attention(q, k, v, **options)
        copies = key_head_copies(q.shape[2], k.shape[2], state.sp_size)
        if copies > 1:
            # Each key head is given to several ranks, whose gradients autograd adds up again.
            k, v = (x.repeat_interleave(copies, dim=2) for x in (k, v))
        q, k, v = (gather_seq_scatter_heads(x, state.sp_group) for x in (q, k, v))
        return gather_heads_scatter_seq(attention(q, k, v, **options), state.sp_group)

    return attention_ulysses
