"""The indexer and the sparse attention of DeepSeek V4 in plain PyTorch."""

from __future__ import annotations

import torch


def lightning_indexer_eager(
    q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, topk: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The scores and indices of the *topk* keys, none behind the query, that score highest for each token.

    *q* is (batch, tokens, heads, width), *k* (batch, tokens, width), *weights* (batch, tokens, heads). A score is the
    weighted sum over heads of what is positive in the product. Where fewer keys are visible the index is -1 and the
    score -inf.
    """
    tokens = q.shape[1]
    products = torch.einsum("bthd,bkd->bthk", q.float(), k.float()).relu()
    scores = torch.einsum("bthk,bth->btk", products, weights.float())
    hidden = torch.ones(tokens, tokens, dtype=torch.bool, device=q.device).triu(1)
    best = scores.masked_fill(hidden, float("-inf")).topk(min(topk, tokens), dim=-1)
    return best.values, best.indices.masked_fill(best.values == float("-inf"), -1)


def sparse_attention_with_sink_eager(
    q: torch.Tensor, kv: torch.Tensor, sink: torch.Tensor, indices: torch.Tensor, scale: float
) -> torch.Tensor:
    """Attend from *q* (batch, tokens, heads, width) to the rows of *kv* (batch, keys, width) that *indices* name.

    Keys and values are the same rows. *sink* (heads) is the score of a key without a value, so that a head can attend
    to nothing; an index of -1 names no key.
    """
    batch = torch.arange(q.shape[0], device=q.device)[:, None, None]
    selected = kv.float()[batch, indices.clamp(min=0)]
    scores = torch.einsum("bthd,btkd->bthk", q.float(), selected) * scale
    scores = scores.masked_fill((indices < 0)[:, :, None], float("-inf"))
    to_sink = sink.float()[None, None, :, None].expand(*scores.shape[:3], 1)
    weights = torch.cat((scores, to_sink), dim=-1).softmax(-1)[..., :-1]
    return torch.einsum("bthk,btkd->bthd", weights, selected).to(q.dtype)
