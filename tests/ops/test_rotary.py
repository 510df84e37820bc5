"""Rotary embedding kernels against their eager definitions."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import DEVICE, DTYPES, check, random
from veomni.ops.kernels.rotary import eager, triton, triton_angles, triton_wan

pytestmark = pytest.mark.usefixtures("poisoned")


def angles(batch: int, tokens: int, rotary: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    cos, sin = (random(batch, tokens, rotary, dtype=dtype, seed=seed).detach() for seed in (5, 6))
    return cos, sin


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("heads", "tokens", "width"), [((4, 2), 5, 16), ((3, 1), 1, 6), ((1, 1), 7, 128)])
@pytest.mark.parametrize("angle_batch", [1, 2])
def test_full(heads: tuple[int, int], tokens: int, width: int, angle_batch: int, dtype: torch.dtype) -> None:
    """Whole heads are rotated as defined, also when the halves of the angles differ."""
    q, k = (random(2, count, tokens, width, dtype=dtype, seed=count) for count in heads)
    check(triton.rotary_pos_emb_triton, eager.rotary_pos_emb_eager, q, k, *angles(angle_batch, tokens, width, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rotary", [4, 10, 16])
def test_partial(rotary: int, dtype: torch.dtype) -> None:
    """The first columns are rotated and the others pass through unchanged."""
    q, k = random(2, 3, 5, 16, dtype=dtype), random(2, 1, 5, 16, dtype=dtype, seed=1)
    check(triton.rotary_pos_emb_triton, eager.rotary_pos_emb_partial_eager, q, k, *angles(1, 5, rotary, dtype))


def test_heads_behind_the_tokens() -> None:
    """The layout (batch, tokens, heads, width) is chosen by the dimension to unsqueeze."""
    q, k = random(2, 5, 4, 8), random(2, 5, 2, 8, seed=1)
    check(
        triton.rotary_pos_emb_triton, eager.rotary_pos_emb_eager, q, k, *angles(2, 5, 8, torch.float32),
        unsqueeze_dim=2,
    )  # fmt: skip


def test_transposed_views_keep_their_layout_and_stay_unchanged() -> None:
    """Views of (batch, tokens, heads, width) give outputs of that layout; the inputs are not written."""
    q, k = (random(2, 5, count, 8, seed=count).detach().transpose(1, 2) for count in (4, 2))
    before = q.clone(), k.clone()
    rotated = triton.rotary_pos_emb_triton(q, k, *angles(2, 5, 8, torch.float32))
    assert [x.stride() for x in rotated] == [q.stride(), k.stride()]
    assert torch.equal(q, before[0])
    assert torch.equal(k, before[1])


def test_empty_input() -> None:
    """No tokens give no tokens."""
    q, k = random(1, 2, 0, 8), random(1, 1, 0, 8)
    assert [x.shape for x in triton.rotary_pos_emb_triton(q, k, *angles(1, 0, 8, torch.float32))] == [q.shape, k.shape]


def test_angles_that_do_not_fit_are_refused() -> None:
    """Angles for another number of tokens are an error and no wild read."""
    with pytest.raises(ValueError, match="do not fit"):
        triton.rotary_pos_emb_triton(random(1, 2, 5, 8), random(1, 2, 5, 8), *angles(1, 4, 8, torch.float32))


@pytest.mark.parametrize(
    ("q", "k"),
    [
        ((2, 2, 5, 8), (1, 1, 5, 8)),
        ((1, 2, 5, 8), (1, 1, 3, 8)),
        ((1, 2, 5, 16), (1, 1, 5, 8)),
        ((2, 5, 8), (2, 5, 8)),
    ],
)
def test_keys_that_do_not_fit_are_refused(q: tuple[int, ...], k: tuple[int, ...]) -> None:
    """Keys of another batch, length or width than the queries, and a missing dimension, are no wild write."""
    with pytest.raises(ValueError, match="differ in more than their heads"):
        triton.rotary_pos_emb_triton(random(*q), random(*k), *angles(1, 5, 8, torch.float32))


def test_mixed_dtypes_promote_as_in_eager() -> None:
    """Float32 angles on bfloat16 heads give float32 outputs and bfloat16 gradients, as eager does."""
    q, k = (random(1, heads, 5, 16, dtype=torch.bfloat16, seed=heads) for heads in (2, 1))
    check(triton.rotary_pos_emb_triton, eager.rotary_pos_emb_partial_eager, q, k, *angles(1, 5, 8, torch.float32))
    rotated = triton.rotary_pos_emb_triton(q, k, *angles(1, 5, 8, torch.float32))
    sum(x.sum() for x in rotated).backward()
    assert [x.dtype for x in (*rotated, q.grad, k.grad)] == [torch.float32] * 2 + [torch.bfloat16] * 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("precision", [torch.complex64, torch.complex128])
def test_wan(dtype: torch.dtype, precision: torch.dtype) -> None:
    """Neighbouring pairs are multiplied by complex frequencies, in their precision."""
    freqs = torch.polar(torch.ones(5, 1, 3), random(5, 1, 3, seed=3).detach().cpu()).to(DEVICE, precision)
    check(triton_wan.rope_apply_wan_triton, eager.rope_apply_wan_eager, random(2, 5, 24, dtype=dtype), freqs, 4)


@pytest.mark.parametrize(("width", "pairs"), [(24, 4), (25, 3)])
def test_wan_frequencies_that_do_not_fit_are_refused(width: int, pairs: int) -> None:
    """Frequencies of another width, and columns that do not divide among the heads, are an error."""
    freqs = torch.ones(5, 1, pairs, dtype=torch.complex64, device=DEVICE)
    with pytest.raises(ValueError, match="do not fit"):
        triton_wan.rope_apply_wan_triton(random(2, 5, width), freqs, 4)


def test_wan_with_conjugate_frequencies() -> None:
    """Frequencies that are a conjugate view rotate back."""
    freqs = torch.polar(torch.ones(5, 1, 3), random(5, 1, 3, seed=3).detach().cpu()).to(DEVICE)
    check(triton_wan.rope_apply_wan_triton, eager.rope_apply_wan_eager, random(2, 5, 24), freqs.conj(), 4)


def test_angles() -> None:
    """The cosines and sines of large positions are those of float32 products."""
    inv_freq = 10_000.0 ** (-torch.arange(0, 10, 2, device=DEVICE) / 10)
    positions = torch.tensor([[0, 1, 2], [500, 10_000, 131_071]], device=DEVICE)
    check(triton_angles.rotary_angles_triton, eager.rotary_angles_eager, inv_freq, positions, 1.5, tolerance=4)


def test_frequencies_of_two_dimensions_are_refused() -> None:
    """A row for each sequence would be taken for one row of as many frequencies as there are sequences."""
    with pytest.raises(ValueError, match=r"one row, not \(2, 5\)"):
        triton_angles.rotary_angles_triton(random(2, 5).detach(), torch.zeros(2, 3, device=DEVICE), 1.0)
