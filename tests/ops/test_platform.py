"""The patch of collectives for HCCL."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the patch is one of torch.distributed")

from torch import distributed
from torch.distributed import ReduceOp

from veomni.ops.platform.npu.hccl_premul_sum import apply_hccl_premul_sum_patch, multiply_before


class Work:
    """A collective under way."""


def collective(calls: list[object], work: Work | None = None) -> object:
    """An all-reduce among ten ranks that contribute the same."""

    def all_reduce(tensor: torch.Tensor, op: object = ReduceOp.SUM, group: object = None) -> Work | None:
        calls.append((op, group))
        tensor.mul_(10)
        return work

    return all_reduce


def test_a_factor_is_applied_before_the_sum() -> None:
    """PREMUL_SUM becomes SUM, and a sum that would overflow without the factor is finite with it."""
    calls: list[object] = []
    tensor, work = torch.full((2,), 40_960.0, dtype=torch.float16), Work()
    multiplied = multiply_before(collective(calls, work), "tensor", torch.Tensor.mul_)
    assert multiplied(tensor, distributed._make_nccl_premul_sum(0.0625), group="ranks") is work
    assert calls == [(ReduceOp.SUM, "ranks")]
    assert tensor.tolist() == [25_600.0, 25_600.0]


@pytest.mark.parametrize("factor", [0.5, torch.tensor([0.5])])
def test_what_is_scattered_stays_as_it_was(monkeypatch: pytest.MonkeyPatch, factor: object) -> None:
    """The inputs of a reduce-scatter are multiplied in a copy, as only its output may be written."""

    def reduce_scatter(output: torch.Tensor, input_list: list[torch.Tensor], op: object) -> None:
        assert op == ReduceOp.SUM
        output.copy_(10 * input_list[1])

    def reduce_scatter_tensor(output: torch.Tensor, input: torch.Tensor, op: object) -> None:  # noqa: A002  as in torch
        reduce_scatter(output, list(input.split(2)), op)

    monkeypatch.setattr(distributed, "all_reduce", collective([]))
    monkeypatch.setattr(distributed, "reduce_scatter", reduce_scatter)
    monkeypatch.setattr(distributed, "reduce_scatter_tensor", reduce_scatter_tensor)
    apply_hccl_premul_sum_patch()
    whole, output, operation = torch.arange(4.0), torch.zeros(2), distributed._make_nccl_premul_sum(factor)
    distributed.reduce_scatter_tensor(output, whole, op=operation)
    assert (output.tolist(), whole.tolist()) == ([10.0, 15.0], [0.0, 1.0, 2.0, 3.0])
    distributed.reduce_scatter(output, list(whole.split(2)), operation)
    assert (output.tolist(), whole.tolist()) == ([10.0, 15.0], [0.0, 1.0, 2.0, 3.0])


@pytest.mark.parametrize("op", [ReduceOp.SUM, ReduceOp.MAX])
def test_other_operations_pass_through(op: ReduceOp) -> None:
    """An operation without a factor reaches the collective as it is, and its work comes back."""
    calls: list[object] = []
    tensor, work = torch.ones(1), Work()
    assert multiply_before(collective(calls, work), "tensor", torch.Tensor.mul_)(tensor, op) is work
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
