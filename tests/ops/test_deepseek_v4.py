"""Indexer and sparse attention of DeepSeek V4 against their eager definitions."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import DEVICE, DTYPES, check, random
from veomni.ops.kernels.deepseek_v4 import eager, indexer

# What TileLang warns of is not ours to repair, and one test asks for an overflow.
pytestmark = [
    pytest.mark.usefixtures("poisoned"),
    pytest.mark.filterwarnings("default", "ignore:overflow encountered in matmul"),
]

IMPLEMENTATIONS = ["triton", "tilelang"]


def kernel_of(op: str, name: str, dtype: torch.dtype = torch.float32) -> Callable[..., Any]:
    """The kernel *name* of ``v4_indexer`` or ``v4_sparse_attention``, where this machine can run it in *dtype*."""
    if name == "tilelang":
        pytest.importorskip("tilelang", reason="the kernels need tilelang")
        if DEVICE == "cpu" and (dtype != torch.float32 or shutil.which("g++") is None):
            pytest.skip("on a processor TileLang needs g++, and computes in float32 alone")
    file, function = {
        "v4_indexer": ("indexer", "lightning_indexer"),
        "v4_sparse_attention": ("attention", "sparse_attention_with_sink"),
    }[op]
    module = import_module(f"veomni.ops.kernels.deepseek_v4.{name}_{file}")
    kernel: Callable[..., Any] = getattr(module, f"{function}_{name}")
    return kernel


def selection(batch: int, tokens: int, keys: int, selected: int) -> torch.Tensor:
    """Distinct keys for each token; the last token selects none, and every other token one less."""
    order = torch.rand(batch, tokens, keys, generator=torch.Generator().manual_seed(3)).argsort(-1)[..., :selected]
    indices = torch.nn.functional.pad(order, (0, selected - order.shape[-1]), value=-1)
    indices[:, 1::2, 0] = -1
    indices[:, -1] = -1
    return indices.to(DEVICE)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", IMPLEMENTATIONS)
@pytest.mark.parametrize(
    ("tokens", "keys", "heads", "width", "selected"), [(3, 40, 4, 16, 35), (2, 5, 18, 7, 8), (1, 1, 1, 1, 1)]
)
def test_sparse_attention(
    name: str, tokens: int, keys: int, heads: int, width: int, selected: int, dtype: torch.dtype
) -> None:
    """Output and the gradients of queries, keys and sinks, for heads and widths that fill no tile."""
    check(
        kernel_of("v4_sparse_attention", name, dtype), eager.sparse_attention_with_sink_eager,
        random(2, tokens, heads, width, dtype=dtype), random(2, keys, width, dtype=dtype, seed=1),
        random(heads, seed=2), selection(2, tokens, keys, selected), 0.3, tolerance=4,
    )  # fmt: skip


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_a_token_that_selects_nothing_attends_to_the_sink(name: str) -> None:
    """With no key the whole weight is the sink's, which has no value."""
    q, kv, sink = random(1, 1, 2, 4), random(1, 3, 4, seed=1), random(2, seed=2)
    none = torch.full((1, 1, 2), -1, device=DEVICE)
    output = kernel_of("v4_sparse_attention", name)(q, kv, sink, none, 1.0)
    assert torch.equal(output, torch.zeros_like(q))


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_queries_and_keys_must_fit(name: str) -> None:
    """Different dtypes or widths are an error and no wild read."""
    attend = kernel_of("v4_sparse_attention", name)
    for kv in (random(1, 3, 8), random(1, 3, 4, dtype=torch.bfloat16)):
        with pytest.raises(ValueError, match="do not fit keys"):
            attend(random(1, 1, 2, 4), kv, random(2), torch.zeros(1, 1, 1, dtype=torch.long, device=DEVICE), 1.0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", IMPLEMENTATIONS)
@pytest.mark.parametrize(("tokens", "heads", "width", "topk"), [(5, 2, 8, 3), (70, 3, 20, 16), (3, 1, 1, 9)])
def test_indexer(name: str, tokens: int, heads: int, width: int, topk: int, dtype: torch.dtype) -> None:
    """Scores, and the gradients that they give to queries, keys and weights; hidden keys score -inf."""
    inputs = [
        random(2, tokens, heads, width, dtype=dtype), random(2, tokens, width, dtype=dtype, seed=1),
        random(2, tokens, heads, dtype=dtype, seed=2),
    ]  # fmt: skip
    scores, indices = kernel_of("v4_indexer", name, dtype)(*inputs, topk)
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
    allowed = 1e-4 if dtype == torch.float32 else 1.6e-2
    for got, reference in zip(mine, theirs, strict=True):
        scale = max(1.0, reference.abs().max().item())
        torch.testing.assert_close(got.float(), reference, rtol=0, atol=allowed * scale)


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_no_token(name: str) -> None:
    """No tokens select nothing."""
    select = kernel_of("v4_indexer", name)
    scores, indices = select(random(1, 0, 2, 4), random(1, 0, 4), random(1, 0, 2), 3)
    assert (scores.shape, indices.shape) == ((1, 0, 0), (1, 0, 0))


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_scores_are_made_for_some_rows_at_a_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows beyond the first piece see the keys before them, as in one piece."""
    inputs = random(2, 70, 3, 20), random(2, 70, 20, seed=1), random(2, 70, 3, seed=2)
    select = kernel_of("v4_indexer", name)
    whole = select(*inputs, 16)
    monkeypatch.setattr(indexer, "_SCORES_AT_ONCE", 2 * 70 * 9)
    pieces = select(*inputs, 16)
    assert all(torch.equal(mine, expected) for mine, expected in zip(pieces, whole, strict=True))


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_nan_is_not_hidden(name: str) -> None:
    """A query of NaN gives scores of NaN: a model that diverges must not look healthy."""
    q, k, weights = random(1, 3, 2, 4).detach(), random(1, 3, 4, seed=1), random(1, 3, 2, seed=2)
    q[0, 2, 1, 0] = float("nan")
    scores, _ = kernel_of("v4_indexer", name)(q, k, weights, 3)
    assert scores.isnan().any(-1).tolist() == [[False, False, True]]


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_a_score_beyond_float32_is_a_score(name: str) -> None:
    """Only what is hidden has no index: a key whose score overflows to inf is the best of all."""
    q, k, weights = (torch.ones(shape, device=DEVICE) for shape in ((1, 3, 2, 4), (1, 3, 4), (1, 3, 2)))
    k[0, 1] = 2e38
    for select in (kernel_of("v4_indexer", name), eager.lightning_indexer_eager):
        scores, indices = select(q, k, weights, 2)
        assert scores[0, :, 0].tolist() == [8.0, float("inf"), float("inf")]
        assert indices[0].tolist() == [[0, -1], [1, 0], [1, indices[0, 2, 1].item()]]


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_indexer_takes_one_key_for_each_token(name: str) -> None:
    """Keys of other tokens are an error and no wild read."""
    with pytest.raises(ValueError, match="of the same tokens and the same width"):
        kernel_of("v4_indexer", name)(random(1, 3, 2, 4), random(1, 5, 4), random(1, 3, 2), 2)


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_an_infinite_sink_before_keys_that_do_not_exist(name: str) -> None:
    """A sink of -inf takes no weight, also where the first block of indices names no key."""
    q, kv, sink = random(1, 1, 2, 16), random(1, 9, 16, seed=1), torch.tensor([float("-inf"), 0.5], device=DEVICE)
    indices = torch.full((1, 1, 70), -1, device=DEVICE)
    indices[..., 66:68] = torch.tensor([3, 5], device=DEVICE)
    kernel = kernel_of("v4_sparse_attention", name)
    check(kernel, eager.sparse_attention_with_sink_eager, q, kv, sink, indices, 0.3)


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_strided_sink(name: str) -> None:
    """The sinks of a view are read where they are, in both directions."""
    kernel = kernel_of("v4_sparse_attention", name)
    check(
        lambda q, kv, sinks, *rest: kernel(q, kv, sinks[::2], *rest),
        lambda q, kv, sinks, *rest: eager.sparse_attention_with_sink_eager(q, kv, sinks[::2], *rest),
        random(1, 2, 4, 16), random(1, 9, 16, seed=1), random(8, seed=2), selection(1, 2, 9, 5), 0.3, tolerance=4,
    )  # fmt: skip


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_an_index_beyond_the_keys_names_none(name: str) -> None:
    """Such an index reads nothing, and no gradient is added behind the keys."""
    indices = torch.tensor([[[0, 3, 2]]], device=DEVICE)
    check(
        kernel_of("v4_sparse_attention", name),
        lambda q, kv, sink, indices, scale: eager.sparse_attention_with_sink_eager(
            q, kv, sink, indices.where(indices < 3, -1), scale
        ),
        random(1, 1, 2, 4), random(1, 3, 4, seed=1), random(2, seed=2), indices, 1.0, tolerance=4,
    )  # fmt: skip


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
@pytest.mark.parametrize(
    ("kv", "sink", "indices"),
    [((2, 3, 4), (2,), (1, 1, 1)), ((1, 3, 4), (1,), (1, 1, 1)), ((1, 3, 4), (2,), (1, 2, 1))],
)
def test_what_does_not_fit_the_queries_is_refused(
    name: str, kv: tuple[int, ...], sink: tuple[int, ...], indices: tuple[int, ...]
) -> None:
    """Another batch, another number of heads or of tokens is an error and no wild read."""
    chosen = torch.zeros(indices, dtype=torch.long, device=DEVICE)
    with pytest.raises(ValueError, match="do not fit"):
        kernel_of("v4_sparse_attention", name)(random(1, 1, 2, 4), random(*kv), random(*sink), chosen, 1.0)
