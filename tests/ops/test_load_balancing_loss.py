"""The load-balancing loss: the Triton kernel against its definition, and the pointer before it."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import DEVICE, DTYPES, check, random
from veomni.ops.kernels import load_balancing_loss
from veomni.ops.kernels.load_balancing_loss import eager, triton

pytestmark = pytest.mark.usefixtures("poisoned")


def in_layers(function: object, layers: int) -> object:
    return lambda logits, *rest: function(logits.chunk(layers), *rest)  # type: ignore[operator]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "experts", "top_k"), [(12, 8, 2), (90, 5, 5), (200, 128, 8), (2, 1, 1)])
def test_against_the_definition(rows: int, experts: int, top_k: int, dtype: torch.dtype) -> None:
    """Loss and gradient over two layers are those of the definition."""
    check(
        in_layers(triton.load_balancing_loss_triton, 2), in_layers(eager.load_balancing_loss_eager, 2),
        random(rows, experts, dtype=dtype), experts, top_k, tolerance=2,
    )  # fmt: skip


def test_masked_tokens_do_not_count() -> None:
    """Padding changes neither the loss nor gets a gradient."""
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]], device=DEVICE)
    logits = random(12, 8)
    check(
        in_layers(triton.load_balancing_loss_triton, 2), in_layers(eager.load_balancing_loss_eager, 2),
        logits, 8, 2, mask,
    )  # fmt: skip
    loss = triton.load_balancing_loss_triton(logits.chunk(2), 8, 2, mask)
    (gradient,) = torch.autograd.grad(loss, logits)
    assert torch.equal(gradient[[2, 4, 5]], torch.zeros(3, 8, device=DEVICE))


def test_logits_of_another_number_of_experts_are_refused() -> None:
    """Logits that do not fit the number of experts are an error."""
    with pytest.raises(ValueError, match="do not fit 9 experts"):
        triton.load_balancing_loss_triton((random(4, 8),), 9, 2)


def test_the_unbound_pointer_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a configuration is applied the public function refuses to compute."""
    monkeypatch.setattr(load_balancing_loss, "_load_balancing_loss", None)
    with pytest.raises(NotImplementedError, match="apply_ops_config"):
        load_balancing_loss.load_balancing_loss_func((random(4, 8),), 8, 2)
