"""Fused linear layer and cross-entropy against the eager definition."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import DEVICE, DTYPES, check, random
from veomni.ops.kernels.cross_entropy import chunk_loss, eager, reduction, triton

pytestmark = pytest.mark.usefixtures("poisoned")


def labels(*shape: int, classes: int, ignored: int = 3) -> torch.Tensor:
    generator = torch.Generator().manual_seed(9)
    values = torch.randint(classes, shape, generator=generator)
    values.view(-1)[:ignored] = -100
    return values.to(DEVICE)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_loss, "chunk_rows", lambda _: 4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("small_chunks")
def test_causal(dtype: torch.dtype) -> None:
    """Over several chunks, the last of them short, loss and gradients are those of the definition."""
    check(
        chunk_loss.causal_lm_chunk_loss, eager.causal_lm_loss_eager,
        random(2, 7, 16, dtype=dtype), random(33, 16, dtype=dtype, seed=1), labels(2, 7, classes=33),
        tolerance=2,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("small_chunks")
def test_seq_cls(dtype: torch.dtype) -> None:
    """Without shifting, and with a single class column more than a block, the same."""
    check(
        chunk_loss.seq_cls_chunk_loss, eager.seq_cls_loss_eager,
        random(9, 8, dtype=dtype), random(5, 8, dtype=dtype, seed=1), labels(9, classes=5),
        tolerance=2,
    )  # fmt: skip


def test_labels_shifted_before() -> None:
    """Labels that stand where they are predicted give the same loss as unshifted ones."""
    hidden, weight, target = random(2, 5, 8), random(11, 8, seed=1), labels(2, 5, classes=11)
    moved = torch.cat((target[:, 1:], torch.full((2, 1), -100, device=DEVICE)), dim=1)
    expected = chunk_loss.causal_lm_chunk_loss(hidden, weight, target)
    assert torch.equal(chunk_loss.causal_lm_chunk_loss(hidden, weight, moved, shifted=True), expected)


@pytest.mark.parametrize("loss", [eager.causal_lm_loss_eager, chunk_loss.causal_lm_chunk_loss])
def test_labels_of_a_part_must_be_shifted_before(loss: Callable[..., torch.Tensor]) -> None:
    """The last label of a part is on the next rank, so that shifting the part would lose it."""
    with pytest.raises(ValueError, match="labels of part of a sequence cannot be shifted: call shift_labels"):
        loss(random(2, 5, 8), random(11, 8, seed=1), labels(2, 5, classes=11), group=object())


def test_no_label_gives_no_loss_and_no_gradient() -> None:
    """Where every label is ignored, loss and gradients are zero and not NaN."""
    hidden, weight = random(1, 4, 8), random(11, 8, seed=1)
    loss = chunk_loss.seq_cls_chunk_loss(hidden, weight, labels(1, 4, classes=11, ignored=4))
    gradients = torch.autograd.grad(loss, (hidden, weight))
    assert loss.item() == 0.0
    assert all(torch.equal(x, torch.zeros_like(x)) for x in gradients)


def test_empty_input() -> None:
    """No rows give no loss and a zero gradient of the weight."""
    hidden, weight = random(0, 8), random(11, 8, seed=1)
    loss = chunk_loss.seq_cls_chunk_loss(hidden, weight, labels(0, classes=11))
    gradients = torch.autograd.grad(loss, (hidden, weight))
    assert loss.item() == 0.0
    assert [x.shape for x in gradients] == [hidden.shape, weight.shape]
    assert torch.equal(gradients[1], torch.zeros_like(weight))


def test_a_frozen_weight_gets_no_gradient() -> None:
    """With a frozen weight only the gradient of the hidden states is made."""
    hidden, weight = random(5, 8), random(11, 8, seed=1).detach()
    target = labels(5, classes=11)
    chunk_loss.seq_cls_chunk_loss(hidden, weight, target).backward()
    mine, hidden.grad = hidden.grad, None
    eager.seq_cls_loss_eager(hidden, weight, target).backward()
    torch.testing.assert_close(mine, hidden.grad)


def gradients(loss: Callable[..., torch.Tensor], *inputs: torch.Tensor, target: torch.Tensor) -> list[torch.Tensor]:
    leaves = [x.detach().requires_grad_() for x in inputs]
    return list(torch.autograd.grad(loss(*leaves, target), leaves))


def test_float16_gradients_of_many_rows_are_finite() -> None:
    """Neither does the sum over rows that agree overflow, nor what is divided by their number vanish."""
    hidden = torch.full((8192, 16), 12.0, dtype=torch.float16, device=DEVICE)
    weight, target = random(32, 16, dtype=torch.float16, scale=0.01), torch.zeros(8192, dtype=torch.long, device=DEVICE)
    mine = gradients(chunk_loss.seq_cls_chunk_loss, hidden, weight, target=target)
    exact = gradients(eager.seq_cls_loss_eager, hidden.float(), weight.float(), target=target)
    for got, expected in zip(mine, exact, strict=True):
        torch.testing.assert_close(got, expected.to(torch.float16), rtol=2e-3, atol=1e-7)


@pytest.mark.parametrize("size", [0.0, 1e-3, 0.05, 1.0, 12.0])
def test_float16_gradients_of_small_rows_are_exact(size: float) -> None:
    """What keeps sums from overflowing costs small rows no digits."""
    hidden, weight = random(2048, 8, dtype=torch.float16, scale=size), random(16, 8, dtype=torch.float16, seed=1)
    target = labels(2048, classes=16)
    # As a job of float16 scales it, since the gradients of a mean are near the smallest numbers that float16 has.
    mine, exact = (
        gradients(lambda *x, loss=loss: 4096 * loss(*x), *inputs, target=target)[1].double()
        for loss, inputs in (
            (chunk_loss.seq_cls_chunk_loss, (hidden, weight)),
            (eager.seq_cls_loss_eager, (hidden.double(), weight.double())),
        )
    )
    assert (mine - exact).norm() <= 5e-4 * exact.norm()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.usefixtures("small_chunks")
def test_rounding_does_not_grow_with_the_chunks(dtype: torch.dtype) -> None:
    """Over 128 chunks the weight's gradient is about as near to the exact one as that of the definition."""
    hidden, weight, target = random(512, 8) + 0.5, random(16, 8, seed=1, scale=0.1), labels(512, classes=16)
    half = hidden.to(dtype), weight.to(dtype)
    exact = gradients(eager.seq_cls_loss_eager, *(x.double() for x in half), target=target)[1]
    mine, theirs = (
        (gradients(loss, *half, target=target)[1] - exact).norm().item()
        for loss in (chunk_loss.seq_cls_chunk_loss, eager.seq_cls_loss_eager)
    )
    assert mine < 2.5 * theirs


@pytest.mark.usefixtures("small_chunks")
def test_autocast_changes_nothing() -> None:
    """A region of autocast neither mixes the dtypes of products nor rounds a gradient of float32."""
    hidden, weight, target = random(9, 8), random(11, 8, seed=1), labels(9, classes=11)
    expected = gradients(chunk_loss.seq_cls_chunk_loss, hidden, weight, target=target)
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        mine = gradients(chunk_loss.seq_cls_chunk_loss, hidden, weight, target=target)
    for got, value in zip(mine, expected, strict=True):
        torch.testing.assert_close(got, value, rtol=0, atol=0)


def test_without_autograd_no_gradient_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under no_grad there is one product for each chunk, that of the logits."""
    products: list[torch.Size] = []
    original = torch.mm

    def counted(*arguments: torch.Tensor, **options: torch.Tensor) -> torch.Tensor:
        result = original(*arguments, **options)
        products.append(result.shape)
        return result

    hidden, weight, target = random(5, 8), random(11, 8, seed=1), labels(5, classes=11)
    expected = eager.seq_cls_loss_eager(hidden, weight, target)
    monkeypatch.setattr(torch, "mm", counted)
    with torch.no_grad():
        torch.testing.assert_close(chunk_loss.seq_cls_chunk_loss(hidden, weight, target), expected)
    assert products == [torch.Size((5, 11))]


@pytest.mark.skipif(DEVICE != "cpu", reason="on a GPU a label that is no class ends the process")
@pytest.mark.parametrize("label", [-1, -5, 11])
def test_a_label_that_is_no_class_is_refused(label: int) -> None:
    """Only IGNORE_INDEX stands for no label; no other number is trained as some class."""
    target = torch.tensor([1, label, 3])
    with pytest.raises(RuntimeError, match="out of bounds"):
        chunk_loss.seq_cls_chunk_loss(random(3, 8), random(11, 8, seed=1), target)
    with pytest.raises(RuntimeError, match="neither -100 nor one of 11 classes"):
        reduction.assert_classes(target, 11)
    reduction.assert_classes(target.where(target == 1, -100), 11)


@pytest.mark.parametrize("count", [3, 6])
def test_labels_of_other_rows_are_refused(count: int) -> None:
    """More or fewer labels than rows are an error and no wild read."""
    with pytest.raises(ValueError, match=r"labels \(\d,\) do not fit rows \(4, 8\)"):
        chunk_loss.seq_cls_chunk_loss(random(4, 8), random(11, 8, seed=1), labels(count, classes=11))


def test_a_second_backward_is_refused() -> None:
    """The gradients are handed out once, and asking again is an error and no wrong result."""
    loss = chunk_loss.seq_cls_chunk_loss(random(3, 4), random(5, 4, seed=1), labels(3, classes=5, ignored=0))
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="hands out its gradients once"):
        loss.backward()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [1, 100, 9000])
def test_triton_turns_logits_into_their_gradient(columns: int, dtype: torch.dtype) -> None:
    """The Triton kernel gives the losses and the gradients of the PyTorch one, also with logits of -inf."""
    logits = random(6, columns, dtype=dtype, scale=4).detach()
    logits[4, : columns // 2] = float("-inf")
    target, scale = labels(6, classes=columns, ignored=2), torch.tensor(0.25, device=DEVICE)
    target[4] = columns - 1
    mine, theirs = logits.clone(), logits.clone()
    losses = triton.loss_to_gradient_triton_(mine, target, scale)
    torch.testing.assert_close(losses, chunk_loss.loss_to_gradient_(theirs, target, scale))
    torch.testing.assert_close(mine, theirs)


@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_scaling_in_place(factor: float) -> None:
    """A tensor is multiplied by a scalar on the device."""
    x = random(9001).detach()
    expected = x * factor
    assert torch.equal(triton.scale_unless_one_(x, torch.tensor(factor, device=DEVICE)), expected)


@pytest.mark.parametrize(("vocabulary", "rows"), [(128_256, 2048), (2**31, 128)])
def test_chunks_are_as_large_as_their_memory(vocabulary: int, rows: int) -> None:
    """A chunk has as many rows as its logits have memory, and never fewer than 128."""
    assert chunk_loss.chunk_rows(torch.empty(vocabulary, 0, dtype=torch.bfloat16)) == rows
