"""Sequence parallelism with real processes, against one process that has the whole sequence."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the ranks need torch")

import ranks

from veomni.distributed import parallel_state
from veomni.distributed.sequence_parallel import data, ulysses
from veomni.ops.kernels import attention


@pytest.mark.parametrize("world", [2, 4])
def test_ranks_agree_with_one(tmp_path: Path, world: int) -> None:
    """Exchange, loss and all gradients over two ranks, and over four with more ranks than key heads."""
    torch.multiprocessing.spawn(ranks.run, (world, str(tmp_path / "rendezvous")), nprocs=world)


def test_padding_to_equal_parts() -> None:
    """A sequence is padded to a multiple, and left alone where it is one."""
    x = torch.tensor([[1, 2, 3]])
    assert data.pad_to_multiple(x, 2, 0).tolist() == [[1, 2, 3, 0]]
    assert data.pad_to_multiple(x, 3, 0) is x


def test_heads_are_divided_among_ranks() -> None:
    """Key heads are sent as often as needed, and what cannot be divided is refused with what can be."""
    assert [ulysses.key_head_copies(12, heads, 4) for heads in (12, 4, 2, 1)] == [1, 1, 2, 4]
    for heads in (6, 3):
        message = f"12 query heads and {heads} key heads cannot be divided among 4 ranks; choose a ulysses_size of 1, "
        with pytest.raises(ValueError, match=message):
            ulysses.key_head_copies(12, heads, 4)
    with pytest.raises(ValueError, match=r"choose a ulysses_size of 1, 2, 3, 6, 12$"):
        ulysses.key_head_copies(12, 6, 5)


def test_without_ranks_nothing_is_exchanged() -> None:
    """One process alone has the default state, and attention is the plain one."""
    assert parallel_state.get_parallel_state() == parallel_state.ParallelState()
    q, k = torch.randn(1, 5, 4, 8), torch.randn(1, 5, 2, 8)
    eager = attention.attention_forward("eager", q, k, k)
    torch.testing.assert_close(attention.attention_forward("sdpa", q, k, k), eager)
    assert torch.equal(attention.get_local_attention("eager")(q, k, k), eager)
