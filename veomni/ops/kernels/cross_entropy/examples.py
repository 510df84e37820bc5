"""Example inputs of the losses: sizes that fill no tile."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from ...examples import Example, Examples, Function, Inputs
from . import eager


def _cross_entropy(definition: Function) -> Examples:
    def examples(inputs: Inputs) -> Iterator[Example]:
        labels = torch.randint(77, (2, 19), generator=torch.Generator().manual_seed(9))
        labels[0, :3] = -100
        yield Example(
            definition,
            (inputs.random(2, 19, 24), inputs.random(77, 24, seed=1, scale=0.2), labels.to(inputs.device)),
        )

    return examples


EXAMPLES: dict[tuple[str, str], Examples] = {
    ("cross_entropy_loss", "causal"): _cross_entropy(eager.causal_lm_loss_eager),
    ("cross_entropy_loss", "seq_cls"): _cross_entropy(eager.seq_cls_loss_eager),
}
