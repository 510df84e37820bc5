"""The load-balancing loss: the Triton kernel against its definition, and the pointer before it."""

from __future__ import annotations

from collections.abc import Callable

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


def test_experts_that_are_masked_out() -> None:
    """Where fewer experts than are chosen have a logit above -inf, none is chosen twice."""
    everywhere, somewhere = (random(8, 5).detach() for _ in range(2))
    everywhere[:, 2:4] = somewhere[3:, :2] = float("-inf")
    # Which of equal experts is chosen is open: here those have no probability, or all are chosen.
    for logits, top_k in ((everywhere, 4), (somewhere, 5)):
        check(
            in_layers(triton.load_balancing_loss_triton, 2), in_layers(eager.load_balancing_loss_eager, 2),
            logits.requires_grad_(), 5, top_k,
        )  # fmt: skip


def test_no_token() -> None:
    """The mean over no tokens is NaN, as in the definition, and there is nothing that could get a gradient."""
    logits = random(0, 5)
    loss = triton.load_balancing_loss_triton((logits,), 5, 2)
    assert loss.isnan()
    assert eager.load_balancing_loss_eager((logits,), 5, 2).isnan()
    assert torch.autograd.grad(loss, logits)[0].shape == (0, 5)


@pytest.mark.parametrize("loss", [triton.load_balancing_loss_triton, eager.load_balancing_loss_eager])
@pytest.mark.parametrize(
    ("shape", "experts", "top_k", "message"),
    [
        ((4, 8), 9, 2, r"router logits \(4, 8\) do not fit 9 experts of which 2 are chosen"),
        ((4, 8), 8, 9, r"router logits \(4, 8\) do not fit 8 experts of which 9 are chosen"),
        ((2, 2, 8), 8, 2, r"router logits \(2, 2, 8\) do not fit 8 experts of which 2 are chosen"),
        ((5, 8), 8, 2, r"the attention mask \(1, 4\) does not fit router logits \(5, 8\)"),
        ((3, 8), 8, 2, r"the attention mask \(1, 4\) does not fit router logits \(3, 8\)"),
    ],
)
def test_what_does_not_fit_is_refused(
    loss: Callable[..., torch.Tensor], shape: tuple[int, ...], experts: int, top_k: int, message: str
) -> None:
    """Logits of other experts or dimensions, and a mask of other tokens, are an error and no wild read."""
    with pytest.raises(ValueError, match=message):
        loss((random(*shape),), experts, top_k, torch.ones(1, 4, device=DEVICE))


def test_the_unbound_pointer_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a configuration is applied the public function refuses to compute."""
    monkeypatch.setattr(load_balancing_loss, "_load_balancing_loss", None)
    with pytest.raises(NotImplementedError, match="apply_ops_config"):
        load_balancing_loss.load_balancing_loss_func((random(4, 8),), 8, 2)
