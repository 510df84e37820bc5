"""Example inputs of the indexer and the sparse attention of DeepSeek V4: sizes that fill no tile."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from ...examples import Example, Examples, Function, Inputs
from . import eager


def _selected(inputs: Inputs, tokens: int, keys: int, count: int) -> torch.Tensor:
    """Distinct keys for each token of a batch of two, some of them missing."""
    indices = torch.rand(2, tokens, keys, generator=torch.Generator().manual_seed(3)).argsort(-1)[..., :count]
    indices[:, 1::2, 0] = -1
    return indices.to(inputs.device)


def _v4_attention(inputs: Inputs) -> Iterator[Example]:
    q, kv = inputs.random(2, 3, 4, 16), inputs.random(2, 40, 16, seed=1)
    yield Example(
        eager.sparse_attention_with_sink_eager,
        (q, kv, inputs.random(4, seed=2, dtype=torch.float32), _selected(inputs, 3, 40, 35), 0.3),
    )


def _v4_indexer(inputs: Inputs) -> Iterator[Example]:
    def adapt(indexer: Function) -> Function:
        def scores_by_key(q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, topk: int) -> torch.Tensor:
            # The order of equal scores is open, their keys are not.
            scores, indices = indexer(q, k, weights, topk)
            known = torch.where(indices < 0, 0.0, scores)
            return known.new_zeros(*q.shape[:2], k.shape[1]).scatter_add(-1, indices.clamp(min=0), known)

        return scores_by_key

    q, k = inputs.random(2, 70, 3, 20), inputs.random(2, 70, 20, seed=1)
    yield Example(eager.lightning_indexer_eager, (q, k, inputs.random(2, 70, 3, seed=2), 16), adapt=adapt, both=True)


EXAMPLES: dict[tuple[str, str], Examples] = {
    ("v4_indexer", "standard"): _v4_indexer,
    ("v4_sparse_attention", "standard"): _v4_attention,
}
