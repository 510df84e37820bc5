"""Example inputs of DeepSeek sparse attention: sizes that fill no tile."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from ...examples import Example, Examples, Inputs
from . import eager


def _selected(inputs: Inputs, tokens: int, keys: int, count: int) -> torch.Tensor:
    """Distinct keys for each token of a batch of two, some of them missing."""
    indices = torch.rand(2, tokens, keys, generator=torch.Generator().manual_seed(3)).argsort(-1)[..., :count]
    indices[:, 1::2, 0] = -1
    return indices.to(inputs.device)


def _sparse_attention(inputs: Inputs) -> Iterator[Example]:
    q, kv = inputs.random(2, 3, 64, 576), inputs.random(2, 150, 576, seed=1)
    yield Example(eager.dsa_attention_eager, (q, kv, _selected(inputs, 3, 150, 70), 512, 0.05))


EXAMPLES: dict[tuple[str, str], Examples] = {
    ("dsa_attention", "standard"): _sparse_attention,
}
