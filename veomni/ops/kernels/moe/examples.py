"""Example inputs of the experts: sizes that fill no tile."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import torch

from ...examples import Example, Examples, Function, Inputs
from . import eager


def _chosen(inputs: Inputs) -> torch.Tensor:
    """Two of the first four experts for each of 37 tokens; a fifth one is unused."""
    return torch.rand(37, 4, generator=torch.Generator().manual_seed(3)).argsort(-1)[:, :2].to(inputs.device)


def _experts(inputs: Inputs) -> Iterator[Example]:
    def adapt(kernel: Function) -> Function:
        return lambda x, index, weights, gate_up, down, limit: kernel(
            SimpleNamespace(gate_up_proj=gate_up, down_proj=down, limit=limit), x, index, weights
        )

    # A limit that few rows reach: beside it a gradient jumps, and rounding decides on which side a row is.
    for limit in (3.5, None):
        yield Example(
            eager.moe_experts_eager,
            (
                inputs.random(37, 24), _chosen(inputs), inputs.random(37, 2, seed=1),
                inputs.random(5, 80, 24, seed=2, scale=0.2), inputs.random(5, 24, 40, seed=3, scale=0.2),
                limit,
            ),
            adapt=adapt,
        )  # fmt: skip


def _experts_gpt_oss(inputs: Inputs) -> Iterator[Example]:
    names = ("gate_up_proj", "gate_up_proj_bias", "down_proj", "down_proj_bias", "alpha", "limit")

    def adapt(kernel: Function) -> Function:
        return lambda x, index, weights, *rest: kernel(
            SimpleNamespace(**dict(zip(names, rest, strict=True))), x, index, weights
        )

    yield Example(
        eager.moe_experts_gpt_oss_eager,
        (
            inputs.random(37, 24), _chosen(inputs), inputs.random(37, 2, seed=1),
            inputs.random(5, 24, 80, seed=2, scale=0.2), inputs.random(5, 80, seed=4),
            inputs.random(5, 40, 24, seed=3, scale=0.2), inputs.random(5, 24, seed=5),
            1.702, 5.0,
        ),
        adapt=adapt,
    )  # fmt: skip


EXAMPLES: dict[tuple[str, str], Examples] = {
    ("moe_experts", "gpt_oss"): _experts_gpt_oss,
    ("moe_experts", "standard"): _experts,
}
