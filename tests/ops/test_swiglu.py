"""The activation of SwiGLU against its eager definition."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import DTYPES, check, random
from veomni.ops.kernels import swiglu
from veomni.ops.kernels.swiglu import eager, triton

pytestmark = pytest.mark.usefixtures("poisoned")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (3, 7), (2, 3, 700), (5000,), (0, 8)])
def test_silu_mul(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """The product and both gradients are those of the definition, for odd and empty shapes too."""
    check(
        triton.silu_mul_triton, eager.silu_mul_eager,
        random(*shape, dtype=dtype, scale=3), random(*shape, dtype=dtype, seed=1),
    )  # fmt: skip


def test_saved_inputs_survive_backward() -> None:
    """The gradient can be taken twice, because backward overwrites nothing."""
    gate, up = random(4, 8), random(4, 8, seed=1)
    output = triton.silu_mul_triton(gate, up).sum()
    first = torch.autograd.grad(output, (gate, up), retain_graph=True)
    second = torch.autograd.grad(output, (gate, up))
    assert torch.equal(first[0], second[0])
    assert torch.equal(first[1], second[1])


def test_shapes_that_differ_are_refused() -> None:
    """A gate and an up projection of different shapes are an error."""
    with pytest.raises(ValueError, match="but up is"):
        triton.silu_mul_triton(random(2, 3), random(3, 2))


def test_the_mlp_uses_the_projections_of_the_module() -> None:
    """The kernel of the slot computes the whole MLP of a module."""
    mlp = torch.nn.Module()
    mlp.gate_proj, mlp.up_proj, mlp.down_proj = torch.nn.Linear(8, 6), torch.nn.Linear(8, 6), torch.nn.Linear(6, 8)
    mlp.to(random(1).device)
    x = random(3, 8)
    expected = mlp.down_proj(eager.silu_mul_eager(mlp.gate_proj(x), mlp.up_proj(x)))
    torch.testing.assert_close(swiglu.triton_mlp()(mlp, x), expected)
