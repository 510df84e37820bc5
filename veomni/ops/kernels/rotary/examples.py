"""Example inputs of rotary embeddings: sizes that fill no tile."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from ...examples import Example, Examples, Function, Inputs
from . import eager


def _rotary(definition: Function, columns: int) -> Examples:
    def examples(inputs: Inputs) -> Iterator[Example]:
        frequencies = 100.0 ** -torch.arange(0, 1, 2 / columns, device=inputs.device)
        for positions in (torch.arange(7)[None], torch.stack((torch.arange(7), torch.arange(3, 10)))):
            angles = eager.rotary_angles_eager(frequencies, positions.to(inputs.device), 1.0)
            q, k = (inputs.random(2, heads, 7, 24, seed=heads) for heads in (3, 1))
            yield Example(definition, (q, k, *(x.to(inputs.dtype) for x in angles)))

    return examples


EXAMPLES: dict[tuple[str, str], Examples] = {
    ("rotary_pos_emb", "full"): _rotary(eager.rotary_pos_emb_eager, 24),
    ("rotary_pos_emb", "partial"): _rotary(eager.rotary_pos_emb_partial_eager, 10),
}
