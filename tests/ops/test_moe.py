"""Experts as grouped products against the eager loop, with every backend that can run here."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import DEVICE, DTYPES, check, random
from veomni.ops.kernels import moe
from veomni.ops.kernels.moe import eager, triton, triton_gemm
from veomni.ops.kernels.moe.grouped import weighted_activation
from veomni.ops.kernels.moe.routing import route
from veomni.ops.kernels.moe.triton_gemm import rows_product, weights_product
from veomni.ops.kernels.moe.triton_rows import weighted_activation_triton

pytestmark = pytest.mark.usefixtures("poisoned")


def choices(tokens: int, experts: int, top_k: int, unused: int = 0) -> torch.Tensor:
    """Distinct experts for each token; the last *unused* experts get none."""
    scores = torch.rand(tokens, experts - unused, generator=torch.Generator().manual_seed(3))
    return scores.argsort(-1)[:, :top_k].to(DEVICE)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("tokens", "experts", "top_k", "hidden", "inner"), [(9, 4, 2, 16, 24), (150, 3, 1, 7, 5), (1, 8, 8, 8, 8)]
)
@pytest.mark.parametrize("limit", [None, 0.5])
def test_standard(
    tokens: int, experts: int, top_k: int, hidden: int, inner: int, limit: float | None, dtype: torch.dtype
) -> None:
    """Output and the gradients of tokens, router weights and both projections, one expert being unused."""
    check(
        triton.moe_experts_triton, eager.moe_experts_eager,
        random(tokens, hidden, dtype=dtype),
        choices(tokens, experts, top_k, unused=min(1, experts - top_k)),
        random(tokens, top_k, dtype=dtype, seed=1),
        random(experts, 2 * inner, hidden, dtype=dtype, seed=2, scale=hidden**-0.5),
        random(experts, hidden, inner, dtype=dtype, seed=3, scale=inner**-0.5),
        limit, tolerance=4,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_gpt_oss(dtype: torch.dtype) -> None:
    """The variant with biases and interleaved gates, gradients of the biases included."""
    tokens, experts, hidden, inner = 11, 4, 12, 10
    check(
        triton.moe_experts_gpt_oss_triton, eager.moe_experts_gpt_oss_eager,
        random(tokens, hidden, dtype=dtype),
        choices(tokens, experts, 2),
        random(tokens, 2, dtype=dtype, seed=1),
        random(experts, hidden, 2 * inner, dtype=dtype, seed=2, scale=hidden**-0.5),
        random(experts, 2 * inner, dtype=dtype, seed=4),
        random(experts, inner, hidden, dtype=dtype, seed=3, scale=inner**-0.5),
        random(experts, hidden, dtype=dtype, seed=5),
        1.702, 1.0, tolerance=4,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_choices_that_name_no_expert(dtype: torch.dtype) -> None:
    """A choice below zero or beyond the experts adds nothing, and its weight gets a gradient of zero."""
    index = torch.tensor([[0, 2], [-1, 1], [3, 0], [-7, 4], [1, 9], [70_000, 2]], device=DEVICE)
    hidden, weights = random(6, 12, dtype=dtype), random(6, 2, dtype=dtype, seed=1)
    check(
        triton.moe_experts_triton, eager.moe_experts_eager, hidden, index, weights,
        random(3, 20, 12, dtype=dtype, seed=2, scale=0.3), random(3, 12, 10, dtype=dtype, seed=3, scale=0.3),
        None, tolerance=4,
    )  # fmt: skip
    check(
        triton.moe_experts_gpt_oss_triton, eager.moe_experts_gpt_oss_eager, hidden, index, weights,
        random(3, 12, 20, dtype=dtype, seed=2, scale=0.3), random(3, 20, dtype=dtype, seed=4),
        random(3, 10, 12, dtype=dtype, seed=3, scale=0.3), random(3, 12, dtype=dtype, seed=5),
        1.702, 7.0, tolerance=4,
    )  # fmt: skip


@pytest.mark.parametrize("limit", [None, 7.0])
@pytest.mark.parametrize("activate", [weighted_activation, weighted_activation_triton])
def test_a_limit_lets_nan_through(activate: Callable[..., torch.Tensor], limit: float | None) -> None:
    """Clamping makes no number of NaN, so that a diverging job shows it."""
    rows = torch.full((2, 8), float("nan"), device=DEVICE)
    assert activate(rows, torch.ones(2, device=DEVICE), limit, 1.7, interleaved=True).isnan().all()


def test_shapes_that_do_not_fit_are_refused() -> None:
    """Choices for other tokens, and experts of another width or dtype, are an error and no wild read."""
    gate_up, down = random(3, 8, 4), random(3, 4, 4, seed=1)
    with pytest.raises(ValueError, match=r"choices \(6, 2\) with weights \(5, 2\) do not fit tokens \(5, 4\)"):
        triton.moe_experts_triton(random(5, 4), choices(6, 3, 2), random(5, 2), gate_up, down)
    for hidden in (random(5, 6), random(5, 4, dtype=torch.bfloat16)):
        with pytest.raises(ValueError, match="do not fit matrices"):
            triton.moe_experts_triton(hidden, choices(5, 3, 2), random(5, 2), gate_up, down)


def test_no_token() -> None:
    """No tokens give no tokens, and weights a gradient of zero."""
    gate_up, down = random(3, 8, 4), random(3, 4, 4, seed=1)
    index = torch.zeros(0, 2, dtype=torch.long, device=DEVICE)
    output = triton.moe_experts_triton(random(0, 4), index, random(0, 2), gate_up, down)
    output.sum().backward()
    assert output.shape == (0, 4)
    assert torch.equal(gate_up.grad, torch.zeros_like(gate_up))
    assert torch.equal(down.grad, torch.zeros_like(down))


def test_routing_sorts_choices_by_expert() -> None:
    """Rows stand in the order of experts and then tokens, and each choice knows its row."""
    routing = route(torch.tensor([[2, 0], [0, 3], [2, 3]], device=DEVICE), 5)
    assert routing.expert.tolist() == [0, 0, 2, 2, 3, 3]
    assert routing.token.tolist() == [0, 1, 0, 2, 1, 2]
    assert routing.inverse.tolist() == [[2, 0], [1, 4], [3, 5]]
    assert routing.ends.tolist() == [2, 2, 4, 6, 6]


def test_routing_puts_choices_of_no_expert_last() -> None:
    """Whatever their numbers, such rows stand behind those of all experts."""
    routing = route(torch.tensor([[-1, 1], [5, 0], [-(2**40), 2**40]], device=DEVICE), 2)
    assert routing.expert.tolist() == [0, 1, 2, 2, 2, 2]
    assert routing.token.tolist() == [1, 0, 0, 1, 2, 2]
    assert routing.ends.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", DTYPES)
def test_grouped_products_in_triton(dtype: torch.dtype) -> None:
    """Both products equal those of each group alone; more rows than a tile, and empty groups."""
    index = torch.tensor([0] * 70 + [2] * 3 + [3] * 65, device=DEVICE)[:, None]
    routing = route(index, 5)
    x, y = random(138, 40, dtype=dtype).detach(), random(138, 200, dtype=dtype, seed=1).detach()
    weight = random(5, 200, 40, dtype=dtype, seed=2).detach().transpose(1, 2)
    bounds = routing.starts().tolist()
    groups = list(zip(bounds, bounds[1:], strict=False))
    expected_rows = torch.cat([x[a:b].float() @ weight[e].float() for e, (a, b) in enumerate(groups)])
    expected_weights = torch.stack([x[a:b].float().t() @ y[a:b].float() for a, b in groups])
    options = {"rtol": 2e-2, "atol": 2e-1} if dtype != torch.float32 else {"rtol": 1e-4, "atol": 1e-4}
    torch.testing.assert_close(rows_product(x, weight, routing).float(), expected_rows, **options)
    torch.testing.assert_close(weights_product(x, y, routing).float(), expected_weights, **options)


def test_more_tiles_than_a_second_axis_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU starts 65535 programs at most along the second axis of a grid, so there is a single one."""
    grids: list[tuple[int, ...]] = []

    class Recorder:
        def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
            grids.append(grid)
            return lambda *_, **__: None

    monkeypatch.setattr(triton_gemm, "_rows_product", Recorder())
    rows = 65_536 * 64
    routing = route(torch.zeros(rows, 1, dtype=torch.int16, device=DEVICE), 1)
    rows_product(torch.zeros(rows, 1, device=DEVICE), torch.zeros(1, 1, 1, device=DEVICE), routing)
    assert grids == [(65_537,)]


def test_the_slot_takes_the_tensors_of_the_module() -> None:
    """The kernels of the slot read weights and limit from the module of the experts."""
    experts = SimpleNamespace(gate_up_proj=random(4, 6, 8, seed=1), down_proj=random(4, 8, 3, seed=2), limit=0.7)
    hidden, index, weights = random(5, 8), choices(5, 4, 2), random(5, 2, seed=3)
    expected = eager.moe_experts_eager(hidden, index, weights, experts.gate_up_proj, experts.down_proj, 0.7)
    kernel = moe._triton_standard()
    torch.testing.assert_close(kernel(experts, hidden, index, weights), expected)


def test_the_pointer_is_compiled_as_one_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes a function of tensors of a kernel breaks no graph around it."""

    def kernel(experts: Any, hidden: torch.Tensor, *routing: torch.Tensor) -> torch.Tensor:
        gate, _ = (hidden @ experts.gate_up_proj[0].T).chunk(2, dim=-1)
        return gate @ experts.down_proj[0].T * routing[1].sum(-1, keepdim=True) * experts.limit

    monkeypatch.setattr(moe, "_fused_moe_forward", moe._of_tensors(kernel, "plain"))
    inputs = random(5, 4), choices(5, 3, 2), random(5, 2), random(3, 6, 4, seed=1), random(3, 4, 3, seed=2), 0.5
    compiled = torch.compile(moe.fused_moe_forward, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(*inputs), moe.fused_moe_forward(*inputs))


def test_the_unbound_pointer_says_what_to_do() -> None:
    """Without a fused kernel the public function refuses to compute."""
    moe.apply_veomni_fused_moe_patch("eager")
    with pytest.raises(NotImplementedError, match="moe_implementation"):
        moe.fused_moe_forward(random(1, 2), choices(1, 1, 1), random(1, 1), random(1, 2, 2), random(1, 2, 1))


# The interpreter warns of what torch leaves in the rows of no expert, from which nothing is taken.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_products_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where torch's grouped product applies, it gives the products of ours, also with choices of no expert."""
    if triton._grouped_mm is None:
        pytest.skip("this torch has no grouped product")
    monkeypatch.setattr(triton, "_suits_torch", lambda *_: True)
    tokens, experts, hidden, inner = 24, 3, 16, 8
    index = choices(tokens, experts, 2)
    index[3:5, 0] = -1
    check(
        triton.moe_experts_triton, eager.moe_experts_eager,
        random(tokens, hidden, dtype=torch.bfloat16),
        index,
        random(tokens, 2, dtype=torch.bfloat16, seed=1),
        random(experts, 2 * inner, hidden, dtype=torch.bfloat16, seed=2, scale=hidden**-0.5),
        random(experts, hidden, inner, dtype=torch.bfloat16, seed=3, scale=inner**-0.5),
        None, tolerance=4,
    )  # fmt: skip
