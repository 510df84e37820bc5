"""Indexer and sparse attention of DeepSeek V4 against their eager definitions."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import DEVICE, DTYPES, check, random
from veomni.ops.kernels.deepseek_v4 import eager, triton_attention, triton_indexer

pytestmark = pytest.mark.usefixtures("poisoned")


def selection(batch: int, tokens: int, keys: int, selected: int) -> torch.Tensor:
    """Distinct keys for each token; the last token selects none, and every other token one less."""
    order = torch.rand(batch, tokens, keys, generator=torch.Generator().manual_seed(3)).argsort(-1)[..., :selected]
    indices = torch.nn.functional.pad(order, (0, selected - order.shape[-1]), value=-1)
    indices[:, 1::2, 0] = -1
    indices[:, -1] = -1
    return indices.to(DEVICE)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("tokens", "keys", "heads", "width", "selected"), [(3, 40, 4, 16, 35), (2, 5, 18, 7, 8), (1, 1, 1, 1, 1)]
)
def test_sparse_attention(tokens: int, keys: int, heads: int, width: int, selected: int, dtype: torch.dtype) -> None:
    """Output and the gradients of queries, keys and sinks, for heads and widths that fill no tile."""
    check(
        triton_attention.sparse_attention_with_sink_triton, eager.sparse_attention_with_sink_eager,
        random(2, tokens, heads, width, dtype=dtype), random(2, keys, width, dtype=dtype, seed=1),
        random(heads, seed=2), selection(2, tokens, keys, selected), 0.3, tolerance=4,
    )  # fmt: skip


def test_a_token_that_selects_nothing_attends_to_the_sink() -> None:
    """With no key the whole weight is the sink's, which has no value."""
    q, kv, sink = random(1, 1, 2, 4), random(1, 3, 4, seed=1), random(2, seed=2)
    none = torch.full((1, 1, 2), -1, device=DEVICE)
    output = triton_attention.sparse_attention_with_sink_triton(q, kv, sink, none, 1.0)
    assert torch.equal(output, torch.zeros_like(q))


def test_queries_and_keys_must_fit() -> None:
    """Different dtypes or widths are an error and no wild read."""
    attend = triton_attention.sparse_attention_with_sink_triton
    for kv in (random(1, 3, 8), random(1, 3, 4, dtype=torch.bfloat16)):
        with pytest.raises(ValueError, match="do not fit keys"):
            attend(random(1, 1, 2, 4), kv, random(2), torch.zeros(1, 1, 1, dtype=torch.long, device=DEVICE), 1.0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("tokens", "heads", "width", "topk"), [(5, 2, 8, 3), (70, 3, 20, 16), (3, 1, 1, 9)])
def test_indexer(tokens: int, heads: int, width: int, topk: int, dtype: torch.dtype) -> None:
    """Scores, and the gradients that they give to queries, keys and weights; hidden keys score -inf."""
    inputs = [
        random(2, tokens, heads, width, dtype=dtype), random(2, tokens, width, dtype=dtype, seed=1),
        random(2, tokens, heads, dtype=dtype, seed=2),
    ]  # fmt: skip
    scores, indices = triton_indexer.lightning_indexer_triton(*inputs, topk)
    exact = [x.detach().float().requires_grad_() for x in inputs]
    expected, expected_indices = eager.lightning_indexer_eager(*exact, topk)
    options = {"rtol": 1e-4, "atol": 1e-4}
    torch.testing.assert_close(scores, expected, **options)
    assert torch.equal(indices < 0, expected_indices < 0)
    assert torch.equal(indices < 0, scores.isinf())
    # Weighted by key and not by rank, as the order of equal scores is open.
    weights = random(2, tokens, tokens, seed=5).detach()
    totals = [
        (torch.where(at < 0, 0.0, values) * weights.gather(-1, at.clamp(min=0))).sum()
        for values, at in ((scores, indices), (expected, expected_indices))
    ]
    mine, theirs = torch.autograd.grad(totals[0], inputs), torch.autograd.grad(totals[1], exact)
    tolerance = {"rtol": 2e-2, "atol": 2e-2} if dtype != torch.float32 else options
    for got, reference in zip(mine, theirs, strict=True):
        torch.testing.assert_close(got.float(), reference, **tolerance)


def test_no_token() -> None:
    """No tokens select nothing."""
    scores, indices = triton_indexer.lightning_indexer_triton(random(1, 0, 2, 4), random(1, 0, 4), random(1, 0, 2), 3)
    assert (scores.shape, indices.shape) == ((1, 0, 0), (1, 0, 0))
