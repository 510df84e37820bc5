"""Intercepted operators: right, and bitwise the same for a row alone and within a batch."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import DEVICE, DTYPES, check, random
from veomni.ops.batch_invariant_ops import batch_invariant_mode, is_batch_invariant_mode_enabled


def intercepted(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def run(*arguments: object) -> torch.Tensor:
        with batch_invariant_mode():
            return function(*arguments)

    return run


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (torch.mm, [(150, 40), (40, 7)]),
        (torch.addmm, [(7,), (5, 40), (40, 7)]),
        (torch.addmm, [(5, 1), (5, 40), (40, 7)]),
        (torch.bmm, [(3, 5, 40), (3, 40, 7)]),
        (lambda x: x.log_softmax(-1), [(3, 5000)]),
        (lambda x: x.log_softmax(0), [(4, 3, 2)]),
        (lambda x: x.mean(-1), [(3, 5000)]),
        (lambda x: x.mean((0, 2), keepdim=True), [(4, 3, 2)]),
    ],
)
def test_values(function: Callable[..., torch.Tensor], shapes: list[tuple[int, ...]], dtype: torch.dtype) -> None:
    """Outputs and gradients are those of torch."""
    tensors = [random(*shape, dtype=dtype, seed=seed) for seed, shape in enumerate(shapes)]
    check(intercepted(function), function, *tensors, tolerance=2)


def test_transposed_operands_and_factors() -> None:
    """Views are multiplied as they are, and the factors of addmm are applied; without the summand it is not read."""
    a, b = random(40, 5).detach().t(), random(7, 40).detach().t()
    nan = torch.full((7,), float("nan"), device=DEVICE)
    with batch_invariant_mode():
        product = torch.mm(a, b)
        scaled = torch.addmm(torch.ones(7, device=DEVICE), a, b, beta=2, alpha=0.5)
        alone = torch.addmm(nan, a, b, beta=0)
    torch.testing.assert_close(product, a @ b)
    torch.testing.assert_close(scaled, 2 + 0.5 * (a @ b))
    torch.testing.assert_close(alone, a @ b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(4))
def test_a_row_does_not_depend_on_the_batch(seed: int, dtype: torch.dtype) -> None:
    """At random shapes each intercepted operator gives a row alone the same bits as within the batch."""
    shapes = Random(seed)
    rows, inner, columns = (shapes.randint(1, 2000 if DEVICE == "cuda" else limit) for limit in (20, 150, 150))
    x, weight = random(rows, inner, dtype=dtype).detach(), random(inner, columns, dtype=dtype, seed=1).detach()
    bias = random(columns, dtype=dtype, seed=2).detach()
    operators = [
        lambda part: torch.mm(part, weight),
        lambda part: torch.addmm(bias, part, weight),
        lambda part: torch.bmm(part[:, None, :64], weight[:64].expand(len(part), -1, -1))[:, 0],
        lambda part: torch.bmm(part[None], weight[None])[0],
        lambda part: part.log_softmax(-1),
        lambda part: part.mean(-1),
        lambda part: part[:, :, None].expand(-1, -1, 3).mean((1, 2)),
    ]
    with batch_invariant_mode():
        for operator in operators:
            whole = operator(x)
            for i in {0, rows // 2, rows - 1, *range(0, rows, 97)}:
                assert torch.equal(operator(x[i : i + 1])[0], whole[i])


def test_other_dtypes_are_left_to_torch() -> None:
    """Double precision and integers are computed as ever."""
    a = torch.arange(6.0, dtype=torch.float64, device=DEVICE).view(2, 3)
    whole = torch.arange(6).view(2, 3)
    with batch_invariant_mode():
        assert torch.equal(torch.mm(a, a.t()).cpu(), torch.tensor([[5.0, 14.0], [14.0, 50.0]], dtype=torch.float64))
        assert torch.equal(whole @ whole.t(), torch.tensor([[5, 14], [14, 50]]))
        assert torch.equal(a.mean(0).cpu(), torch.tensor([1.5, 2.5, 3.5], dtype=torch.float64))
        assert torch.equal(whole.mean(1, dtype=torch.float32), torch.tensor([1.0, 4.0]))


def test_empty_operands() -> None:
    """Nothing in gives what torch gives: no rows, a product of zeros, a mean of NaN."""
    with batch_invariant_mode():
        assert torch.mm(torch.ones(0, 3, device=DEVICE), torch.ones(3, 2, device=DEVICE)).shape == (0, 2)
        product = torch.mm(torch.ones(2, 0, device=DEVICE), torch.ones(0, 2, device=DEVICE))
        average = torch.ones(2, 0, device=DEVICE).mean(-1)
    assert torch.equal(product, torch.zeros(2, 2, device=DEVICE))
    assert average.isnan().tolist() == [True, True]


def test_shapes_that_do_not_fit_are_refused() -> None:
    """Operands of different inner sizes are an error and no wild read."""
    with batch_invariant_mode(), pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch.mm(torch.ones(2, 3, device=DEVICE), torch.ones(4, 2, device=DEVICE))


def test_the_mode_can_be_nested_and_ends() -> None:
    """The operators are intercepted until the outermost mode ends, also by an exception."""
    assert not is_batch_invariant_mode_enabled()
    with batch_invariant_mode():
        with pytest.raises(KeyError), batch_invariant_mode():
            raise KeyError
        assert is_batch_invariant_mode_enabled()
    assert not is_batch_invariant_mode_enabled()
