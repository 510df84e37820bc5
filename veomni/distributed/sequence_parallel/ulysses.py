"""The exchange between part of the tokens of all heads and all tokens of part of the heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import distributed

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup, Work


def key_head_copies(query_heads: int, key_heads: int, ranks: int) -> int:
    """How often each key head is sent: more than once where there are fewer of them than *ranks*.

    Raises:
        ValueError: the heads cannot be divided among the ranks.
    """
    if not _divisible(query_heads, key_heads, ranks):
        sizes = [size for size in range(1, query_heads + 1) if _divisible(query_heads, key_heads, size)]
        raise ValueError(
            f"{query_heads} query heads and {key_heads} key heads cannot be divided among {ranks} ranks; "
            f"choose a ulysses_size of {', '.join(map(str, sizes))}"
        )
    return max(1, ranks // key_heads)


def _divisible(query_heads: int, key_heads: int, ranks: int) -> bool:
    return query_heads % ranks == 0 and (key_heads % ranks == 0 or ranks % key_heads == 0)


class PendingExchange:
    """An exchange under way; ``wait`` gives its result. What is sent must stay alive until then."""

    def __init__(self, sent: torch.Tensor, received: torch.Tensor, work: Work | None, join_dim: int) -> None:
        self._sent, self._received, self._work, self._join_dim = sent, received, work, join_dim

    def wait(self) -> torch.Tensor:
        """Block until the parts of all ranks are here, and join them."""
        if self._work is not None:
            self._work.wait()
        return torch.cat(tuple(self._received.unbind(0)), dim=self._join_dim)


def start_exchange(x: torch.Tensor, cut_dim: int, join_dim: int, group: ProcessGroup) -> PendingExchange:
    """Send the i-th part of *x* along *cut_dim* to rank i, without waiting.

    Raises:
        ValueError: the dimension cannot be cut into equal parts.
    """
    size = distributed.get_world_size(group)
    if x.shape[cut_dim] % size:
        raise ValueError(f"dimension {cut_dim} of {tuple(x.shape)} cannot be divided among {size} ranks")
    sent = torch.stack(x.chunk(size, dim=cut_dim)).contiguous()
    received = torch.empty_like(sent)
    work = distributed.all_to_all_single(received, sent, group=group, async_op=True)
    return PendingExchange(sent, received, work, join_dim)


class _Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, cut_dim: int, join_dim: int, group: ProcessGroup) -> torch.Tensor:
        ctx.cut_dim, ctx.join_dim, ctx.group = cut_dim, join_dim, group
        return start_exchange(x, cut_dim, join_dim, group).wait()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return start_exchange(grad, ctx.join_dim, ctx.cut_dim, ctx.group).wait(), None, None, None


def gather_seq_scatter_heads(x: torch.Tensor, group: ProcessGroup, seq_dim: int = 1, head_dim: int = 2) -> torch.Tensor:
    """From part of the tokens of all heads to all tokens of part of the heads."""
    return _Exchange.apply(x, head_dim, seq_dim, group)


def gather_heads_scatter_seq(x: torch.Tensor, group: ProcessGroup, seq_dim: int = 1, head_dim: int = 2) -> torch.Tensor:
    """From all tokens of part of the heads to part of the tokens of all heads."""
    return _Exchange.apply(x, seq_dim, head_dim, group)
