"""How the ranks of a job are divided into data-parallel and sequence-parallel groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup


@dataclass(frozen=True)
class ParallelState:
    """The groups of this rank. ``sp_group`` is None while sequences are not cut up.

    ``async_ulysses``: the exchange overlaps with the projections of the attention.
    """

    sp_group: ProcessGroup | None = None
    sp_size: int = 1
    sp_rank: int = 0
    dp_group: ProcessGroup | None = None
    dp_size: int = 1
    dp_rank: int = 0
    async_ulysses: bool = False


_state = ParallelState()


def get_parallel_state() -> ParallelState:
    """The groups of this rank."""
    return _state


def set_parallel_state(state: ParallelState) -> None:
    """Install *state*; the default state, of one rank alone, takes all groups away."""
    global _state
    _state = state


def init_parallel_state(ulysses_size: int, *, async_ulysses: bool = False) -> ParallelState:
    """Divide the ranks of the initialised job: neighbours share sequences, the others share the data.

    Raises:
        ValueError: the ranks cannot be divided so.
    """
    from torch import distributed

    world, rank = distributed.get_world_size(), distributed.get_rank()
    if ulysses_size < 1 or world % ulysses_size:
        raise ValueError(f"{world} ranks cannot be divided into groups of {ulysses_size}")
    sp_ranks = [list(range(first, first + ulysses_size)) for first in range(0, world, ulysses_size)]
    dp_ranks = [list(range(first, world, ulysses_size)) for first in range(ulysses_size)]
    sp_group, _ = distributed.new_subgroups_by_enumeration(sp_ranks)
    dp_group, _ = distributed.new_subgroups_by_enumeration(dp_ranks)
    set_parallel_state(
        ParallelState(
            sp_group=sp_group if ulysses_size > 1 else None,
            sp_size=ulysses_size,
            sp_rank=rank % ulysses_size,
            dp_group=dp_group,
            dp_size=world // ulysses_size,
            dp_rank=rank // ulysses_size,
            async_ulysses=async_ulysses and ulysses_size > 1,
        )
    )
    return get_parallel_state()
