"""RMSNorm kernels against their eager definitions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import DTYPES, check, random
from veomni.ops.kernels.rms_norm import eager, triton

pytestmark = pytest.mark.usefixtures("poisoned")
SHAPES = [(4, 64), (3, 5, 96), (1, 1), (2, 4100), (37, 128)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_standard(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """The standard variant gives the output and both gradients of its definition."""
    check(
        triton.rms_norm_triton, eager.rms_norm_eager,
        random(*shape, dtype=dtype), random(shape[-1], dtype=dtype, seed=1), 1e-6,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_qwen3_5(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """The variant with offset 1 gives the output and both gradients of its definition."""
    check(
        triton.rms_norm_qwen3_5_triton, eager.rms_norm_qwen3_5_eager,
        random(*shape, dtype=dtype), random(shape[-1], dtype=dtype, seed=1), 1e-6,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_unweighted(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """The variant without a weight gives the output and the gradient of its definition."""
    check(triton.rms_norm_unweighted_triton, eager.rms_norm_unweighted_eager, random(*shape, dtype=dtype), 1e-6)


def test_strided_input() -> None:
    """An input that is a transposed view is normalised along its last dimension."""
    x = random(6, 8, 32).transpose(0, 1).detach().requires_grad_()
    assert not x.is_contiguous()
    check(triton.rms_norm_triton, eager.rms_norm_eager, x, random(32, seed=1), 1e-5)


@pytest.mark.parametrize("cut", [lambda w: w[::2], lambda w: w[:1].expand(32), lambda w: w.view(32, 2)[:, 1]])
def test_strided_weight(cut: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """A weight that is a view of a larger tensor is read where its elements are, in both directions."""
    check(
        lambda x, weight: triton.rms_norm_triton(x, cut(weight), 1e-5),
        lambda x, weight: eager.rms_norm_eager(x, cut(weight), 1e-5),
        random(6, 32), random(64, seed=1),
    )  # fmt: skip


@pytest.mark.parametrize("size", [16, 64])
def test_a_weight_of_another_size_is_refused(size: int) -> None:
    """A weight that is shorter or longer than the rows is an error and no wild read."""
    with pytest.raises(ValueError, match="does not fit rows of 32 columns"):
        triton.rms_norm_triton(random(6, 32), random(size, seed=1), 1e-6)


def test_empty_input() -> None:
    """No rows give no rows, and a gradient of zero for the weight."""
    x, weight = random(0, 32), random(32, seed=1)
    output = triton.rms_norm_triton(x, weight, 1e-6)
    output.sum().backward()
    assert output.shape == (0, 32)
    assert x.grad is not None
    assert x.grad.shape == (0, 32)
    assert torch.equal(weight.grad, torch.zeros_like(weight))


def test_mixed_dtypes_promote_as_in_eager() -> None:
    """A float32 weight on a bfloat16 input gives a float32 output, as eager does."""
    x, weight = random(4, 64, dtype=torch.bfloat16), random(64, seed=1)
    assert triton.rms_norm_triton(x, weight, 1e-6).dtype == eager.rms_norm_eager(x, weight, 1e-6).dtype == torch.float32


@pytest.mark.parametrize("columns", [128, 2048, 5000])
def test_a_row_does_not_depend_on_the_batch(columns: int) -> None:
    """Each row alone gives the same bits as within a batch, forward and in the gradient of the input."""
    x, weight = random(19, columns), random(columns, seed=1)
    output, rstd = triton.rms_norm_forward(x, weight, 1e-6, 0.0, False)
    grad = random(19, columns, seed=2)
    dx, _ = triton.rms_norm_backward(grad, x, weight, rstd, 0.0)
    for i in range(19):
        row, row_rstd = triton.rms_norm_forward(x[i : i + 1], weight, 1e-6, 0.0, False)
        assert torch.equal(row[0], output[i])
        assert torch.equal(triton.rms_norm_backward(grad[i : i + 1], x[i : i + 1], weight, row_rstd, 0.0)[0][0], dx[i])


def test_a_row_that_is_too_long_is_refused() -> None:
    """More columns than one program can hold is an error that says the limit."""
    with pytest.raises(ValueError, match="above 65536"):
        triton.rms_norm_unweighted_triton(random(1, 65_537), 1e-6)
