"""Intercepted operators: right, and bitwise the same for a row alone and within a batch."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from threading import Event, Thread

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import DEVICE, DTYPES, check, random
from veomni.ops import batch_invariant_ops
from veomni.ops.batch_invariant_ops import aten, batch_invariant_mode, is_batch_invariant_mode_enabled
from veomni.ops.kernels import triton_support


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
        lambda part: torch.mv(part, weight[:, 0]),
        lambda part: torch.mm(part, weight, out=torch.empty(len(part), columns, dtype=dtype, device=DEVICE)),
        lambda part: bias.repeat(len(part), 1).addmm_(part, weight),
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


MATRIX, SQUARE, VECTOR = (random(*shape).detach() for shape in ((3, 4), (4, 4), (4,)))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: torch.mm(MATRIX, MATRIX),
        lambda: torch.mm(VECTOR, SQUARE),
        lambda: torch.mm(MATRIX[None], SQUARE[None]),
        lambda: torch.mm(MATRIX, SQUARE.double()),
        lambda: torch.mm(MATRIX, SQUARE, out=torch.empty(3, 4, dtype=torch.float64, device=DEVICE)),
        lambda: torch.addmm(VECTOR[:3], MATRIX, SQUARE),
        lambda: VECTOR[None].clone().addmm_(MATRIX, SQUARE),
        lambda: torch.mv(MATRIX, VECTOR[:2]),
        lambda: torch.bmm(MATRIX.expand(2, -1, -1), SQUARE.expand(3, -1, -1)),
        lambda: torch.bmm(MATRIX, SQUARE),
        lambda: MATRIX.log_softmax(2),
        lambda: MATRIX.mean(5),
        lambda: MATRIX.mean(-7),
        lambda: MATRIX.mean([0, -2]),
    ],
)
def test_what_torch_refuses_is_refused(wrong: Callable[[], torch.Tensor]) -> None:
    """Shapes, dtypes and dimensions that do not fit are the error that they are without the mode, and no wild read."""
    with pytest.raises((RuntimeError, IndexError)) as expected:
        wrong()
    with batch_invariant_mode(), pytest.raises(type(expected.value)) as caught:
        wrong()
    assert str(caught.value) == str(expected.value)


STACK, SQUARES = MATRIX.expand(2, -1, -1), SQUARE.expand(2, -1, -1)


def made(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device=DEVICE)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("mm", lambda: MATRIX @ SQUARE),
        ("mm", lambda: VECTOR @ SQUARE),
        ("mm.out", lambda: torch.mm(MATRIX, SQUARE, out=made(3, 4))),
        ("mm.out", lambda: torch.mm(MATRIX, SQUARE, out=made(0))),
        ("mm.out", lambda: torch.mm(MATRIX, SQUARE, out=made(4, 3).t())),
        ("addmm", lambda: torch.nn.functional.linear(STACK.contiguous(), SQUARE, VECTOR)),
        ("addmm.out", lambda: torch.addmm(VECTOR, MATRIX, SQUARE, beta=2, out=made(3, 4))),
        ("addmm_", lambda: made(3, 4).addmm_(MATRIX, SQUARE, alpha=3)),
        ("addmm_", lambda: made(4, 3).t().addmm_(MATRIX, SQUARE, alpha=3)),
        ("addmm_", lambda: torch.addbmm(made(3, 4), STACK, SQUARES)),
        ("addmv_", lambda: MATRIX @ VECTOR),
        ("addmv_", lambda: STACK.contiguous() @ VECTOR),
        ("addmv", lambda: torch.addmv(made(1), MATRIX, VECTOR)),
        ("addmv.out", lambda: torch.mv(MATRIX, VECTOR, out=made(3))),
        ("bmm", lambda: STACK @ SQUARES),
        ("bmm.out", lambda: torch.bmm(STACK, SQUARES, out=made(2, 3, 4))),
        ("baddbmm", lambda: torch.baddbmm(random(2, 1, 4).detach(), STACK, SQUARES, beta=2)),
        ("baddbmm.out", lambda: torch.baddbmm(made(4), STACK, SQUARES, out=made(2, 3, 4))),
        ("baddbmm_", lambda: made(2, 3, 4).baddbmm_(STACK, SQUARES)),
        ("_log_softmax", lambda: torch.nn.functional.cross_entropy(MATRIX, torch.tensor([0, 1, 3], device=DEVICE))),
        ("_log_softmax", lambda: MATRIX.log_softmax(0).view(-1)),
        ("_log_softmax", lambda: torch.tensor(2.0, device=DEVICE).log_softmax(0)),
        ("_log_softmax.out", lambda: torch.log_softmax(MATRIX, 0, out=made(4, 3).t())),
        ("mean.dim", MATRIX.mean),
        ("mean.dim", lambda: torch.tensor(2.0, device=DEVICE).mean()),
        ("mean.dim", lambda: torch.empty(0, 3, device=DEVICE).mean(1)),
        ("mean.dim", lambda: torch.empty(2, 0, 3, device=DEVICE).mean((0, 2), keepdim=True)),
        ("mean.out", lambda: torch.mean(MATRIX, 1, out=made(3))),
    ],
)
def test_every_way_to_an_operator_is_intercepted(
    name: str, call: Callable[[], torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place, with an output, by a vector or by another operator, the kernel is reached and right."""
    calls = []
    for one, function in aten.OVERRIDES.items():
        monkeypatch.setitem(
            aten.OVERRIDES, one, lambda *x, f=function, n=one, **options: (calls.append(n), f(*x, **options))[1]
        )
    expected = call()
    with batch_invariant_mode():
        result = call()
    assert name in calls
    assert result.stride() == expected.stride()
    torch.testing.assert_close(result, expected, equal_nan=True)


def test_the_output_is_written_in_place() -> None:
    """What is given as the output is what comes back, whatever its layout."""
    with batch_invariant_mode():
        for out in (made(3, 4), made(4, 3).t(), made(6, 4)[::2]):
            assert torch.mm(MATRIX, SQUARE, out=out) is out
            torch.testing.assert_close(out, (MATRIX.double() @ SQUARE.double()).float())


@pytest.mark.skipif(DEVICE == "cpu", reason="the interpreter has no limit, and takes long")
def test_a_long_batch() -> None:
    """There may be more matrices than a second axis of programs could count."""
    a = random(70_000, 2, 3).detach()
    with batch_invariant_mode():
        product = torch.bmm(a, a.transpose(1, 2))
    torch.testing.assert_close(product, a @ a.transpose(1, 2))


def test_the_mode_can_be_nested_and_ends() -> None:
    """The operators are intercepted until the outermost mode ends, also by an exception."""
    assert not is_batch_invariant_mode_enabled()
    with batch_invariant_mode():
        with pytest.raises(KeyError), batch_invariant_mode():
            raise KeyError
        assert is_batch_invariant_mode_enabled()
    assert not is_batch_invariant_mode_enabled()


def test_the_mode_lasts_until_the_last_one_leaves() -> None:
    """Where two overlap, in one thread or in several, the first to leave does not end it for the second."""
    entered, left, seen = Event(), Event(), []

    def first() -> None:
        with batch_invariant_mode():
            entered.set()
            left.wait(60)

    thread = Thread(target=first)
    thread.start()
    entered.wait(60)
    with batch_invariant_mode():
        left.set()
        thread.join()
        seen.append((is_batch_invariant_mode_enabled(), kernel_runs()))
    seen.append((is_batch_invariant_mode_enabled(), kernel_runs()))
    assert seen == [(True, True), (False, False)]


def kernel_runs() -> bool:
    with pytest.MonkeyPatch.context() as patch:
        runs = []
        patch.setattr(aten, "matmul", lambda *arguments: runs.append(arguments))
        torch.mm(MATRIX, SQUARE)
    return bool(runs)


def test_a_cpu_alone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be intercepted the mode says so, instead of being on without effect."""
    monkeypatch.setattr(triton_support, "INTERPRETED", False)
    monkeypatch.setattr(batch_invariant_ops, "is_cuda_available", lambda: False)
    with pytest.raises(RuntimeError, match="the batch-invariant kernels need a GPU"), batch_invariant_mode():
        pass
    assert not is_batch_invariant_mode_enabled()
