"""Example inputs of hyper-connections: sizes that fill no tile."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from ...examples import Example, Examples, Inputs
from . import eager


def _streams(inputs: Inputs) -> torch.Tensor:
    return inputs.random(1, 3, 4, 64)


def _mhc_pre(inputs: Inputs) -> Iterator[Example]:
    mixes = (
        inputs.random(24, 256, seed=1, scale=0.1, dtype=torch.float32),
        inputs.random(3, seed=2, dtype=torch.float32),
        inputs.random(24, seed=3, dtype=torch.float32),
    )
    yield Example(eager.mhc_pre_eager, (_streams(inputs), *mixes, 1e-6, 3, 1e-6))


def _mhc_post(inputs: Inputs) -> Iterator[Example]:
    mixes = inputs.random(1, 3, 4, seed=5, dtype=torch.float32), inputs.random(1, 3, 4, 4, seed=6, dtype=torch.float32)
    yield Example(eager.mhc_post_eager, (inputs.random(1, 3, 64, seed=4), _streams(inputs), *mixes))


def _mhc_head(inputs: Inputs) -> Iterator[Example]:
    mixes = (
        inputs.random(4, 256, seed=1, scale=0.1, dtype=torch.float32),
        inputs.random(1, seed=2, dtype=torch.float32),
        inputs.random(4, seed=3, dtype=torch.float32),
    )
    yield Example(eager.mhc_head_eager, (_streams(inputs), *mixes, 1e-6, 1e-6))


EXAMPLES: dict[tuple[str, str], Examples] = {
    ("mhc", "head"): _mhc_head,
    ("mhc", "post"): _mhc_post,
    ("mhc", "pre"): _mhc_pre,
}
