"""The patch of collectives for HCCL."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the patch is one of torch.distributed")

from torch import distributed
from torch.distributed import ReduceOp

from veomni.ops.platform.npu.hccl_premul_sum import apply_hccl_premul_sum_patch, scale_afterwards


class Work:
    """A collective under way."""

    def __init__(self) -> None:
        self.waits = 0

    def wait(self) -> bool:
        self.waits += 1
        return True


def collective(calls: list[object], work: Work | None = None) -> object:
    def all_reduce(tensor: torch.Tensor, op: object = ReduceOp.SUM, group: object = None) -> Work | None:
        calls.append((op, group))
        tensor.mul_(10)
        return work

    return all_reduce


def test_a_factor_is_applied_after_the_sum() -> None:
    """PREMUL_SUM becomes SUM, and the result is multiplied."""
    calls: list[object] = []
    tensor = torch.ones(2)
    scaled = scale_afterwards(collective(calls), "tensor")
    assert scaled(tensor, distributed._make_nccl_premul_sum(0.5), group="ranks") is None
    assert calls == [(ReduceOp.SUM, "ranks")]
    assert tensor.tolist() == [5.0, 5.0]


def test_an_asynchronous_result_is_scaled_once_when_waited_for() -> None:
    """The factor waits for the collective, and a second wait does not apply it again."""
    tensor, work = torch.ones(2), Work()
    pending = scale_afterwards(collective([], work), "tensor")(tensor, op=distributed._make_nccl_premul_sum(0.5))
    assert tensor.tolist() == [10.0, 10.0]
    assert pending.wait() is True
    assert pending.wait() is True
    assert tensor.tolist() == [5.0, 5.0]
    assert pending.waits == work.waits == 2


@pytest.mark.parametrize("op", [ReduceOp.SUM, ReduceOp.MAX])
def test_other_operations_pass_through(op: ReduceOp) -> None:
    """An operation without a factor reaches the collective as it is, and its work comes back."""
    calls: list[object] = []
    tensor, work = torch.ones(1), Work()
    assert scale_afterwards(collective(calls, work), "tensor")(tensor, op) is work
    assert (calls, tensor.tolist()) == ([(op, None)], [10.0])


def test_the_patch_is_applied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All three collectives are wrapped, and patching again wraps nothing twice."""
    names = ("all_reduce", "reduce_scatter", "reduce_scatter_tensor")
    for name in names:
        monkeypatch.setattr(distributed, name, getattr(distributed, name))
    apply_hccl_premul_sum_patch()
    once = [getattr(distributed, name) for name in names]
    apply_hccl_premul_sum_patch()
    assert [getattr(distributed, name) for name in names] == once
    assert [function.__name__ for function in once] == list(names)
