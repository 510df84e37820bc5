"""Gated-delta-rule attention: the chunked form and the NPU files against the eager definitions."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")

from kernel_cases import DEVICE, check, random
from veomni.ops.kernels.gated_delta_rule import chunked, eager

BOUNDS = [[0, 5, 6, 74, 90], [0, 90], [0, 5, 5, 70]]
"""Several sequences, one, and an empty one with tokens behind the last."""


def inputs(batch: int, tokens: int) -> list[torch.Tensor]:
    q, k = random(batch, tokens, 2, 8), random(batch, tokens, 2, 8, seed=1)
    v = random(batch, tokens, 2, 6, seed=2)
    g = torch.nn.functional.logsigmoid(random(batch, tokens, 2, seed=3)).detach().requires_grad_()
    beta = torch.sigmoid(random(batch, tokens, 2, seed=4)).detach().requires_grad_()
    return [q, k, v, g, beta]


@pytest.mark.parametrize("tokens", [1, 64, 70])
def test_chunked_form(tokens: int) -> None:
    """The chunked form gives outputs and all gradients of the rule taken token by token."""
    check(chunked.chunk_gated_delta_rule_chunked, eager.chunk_gated_delta_rule_eager, *inputs(2, tokens), tolerance=10)


def test_no_token() -> None:
    """No tokens give no outputs, in both forms."""
    empty = inputs(2, 0)
    for form in (chunked.chunk_gated_delta_rule_chunked, eager.chunk_gated_delta_rule_eager):
        assert form(*empty).shape == (2, 0, 2, 6)


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("bounds", BOUNDS)
def test_chunked_form_of_packed_sequences(bounds: list[int], batch: int) -> None:
    """Sequences packed into a row do not see each other, nor those of another row."""
    check(
        chunked.chunk_gated_delta_rule_chunked, eager.chunk_gated_delta_rule_eager, *inputs(batch, 90),
        cu_seqlens=torch.tensor(bounds, device=DEVICE), tolerance=10,
    )  # fmt: skip


def test_packed_sequences_are_as_if_alone() -> None:
    """The definition itself: a packed sequence gives what it gives alone."""
    packed = inputs(1, 9)
    bounds = torch.tensor([0, 4, 9], device=DEVICE)
    whole = eager.chunk_gated_delta_rule_eager(*packed, cu_seqlens=bounds)
    parts = [eager.chunk_gated_delta_rule_eager(*(x[:, a:b] for x in packed)) for a, b in ((0, 4), (4, 9))]
    torch.testing.assert_close(whole, torch.cat(parts, dim=1))


def test_an_empty_sequence_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sequences are computed side by side, and none is for a sequence, or an end, without tokens."""
    rows: list[int] = []
    padded = chunked._padded
    monkeypatch.setattr(chunked, "_padded", lambda *x: (rows.append(len(x[0])), padded(*x))[1])
    for bounds in ([0, 90], [0, 5, 5, 90], [0, 5, 70]):
        chunked.chunk_gated_delta_rule_chunked(*inputs(1, 90), cu_seqlens=torch.tensor(bounds, device=DEVICE))
    assert rows == [1, 2, 3]


def test_convolution_of_packed_sequences() -> None:
    """The definition of the convolution: a token sees nothing of the sequence before its own."""
    x, weight, bias = random(1, 9, 3), random(3, 4, seed=1), random(3, seed=2)
    whole = eager.causal_conv1d_eager(x, weight, bias, cu_seqlens=torch.tensor([0, 2, 9], device=DEVICE))
    parts = [eager.causal_conv1d_eager(x[:, a:b], weight, bias) for a, b in ((0, 2), (2, 9))]
    torch.testing.assert_close(whole, torch.cat(parts, dim=1))
    alone = torch.nn.functional.conv1d(
        torch.nn.functional.pad(x.transpose(1, 2), (3, 0)), weight[:, None], bias, groups=3
    )
    torch.testing.assert_close(
        eager.causal_conv1d_eager(x, weight, bias), torch.nn.functional.silu(alone).transpose(1, 2)
    )


@pytest.mark.parametrize("bounds", [None, [0, 1, 8, 9], [0, 1, 1, 9], [0, 1, 6]])
@pytest.mark.parametrize("with_bias", [True, False])
def test_npu_convolution(fake_torch_npu: ModuleType, bounds: list[int] | None, with_bias: bool) -> None:
    """The NPU file gives outputs and gradients of the definition, packed or not."""
    from veomni.ops.kernels.gated_delta_rule import npu

    assert sys.modules["torch_npu"] is fake_torch_npu
    check(
        npu.causal_conv1d_npu, eager.causal_conv1d_eager,
        random(2, 9, 3), random(3, 4, seed=1), random(3, seed=2) if with_bias else None,
        cu_seqlens=None if bounds is None else torch.tensor(bounds, device=DEVICE),
    )  # fmt: skip


@pytest.mark.usefixtures("fake_torch_npu")
def test_npu_convolution_of_no_token() -> None:
    """No tokens give no tokens, and a gradient of zero for the weight."""
    from veomni.ops.kernels.gated_delta_rule import npu

    weight = random(3, 4, seed=1)
    check(npu.causal_conv1d_npu, eager.causal_conv1d_eager, random(2, 0, 3), weight)
    check(npu.causal_conv1d_npu, eager.causal_conv1d_eager, random(2, 0, 3), weight, random(3, seed=2))


def test_npu_gated_norm(fake_torch_npu: ModuleType) -> None:
    """The NPU file norms with the kernel of torch_npu and gates as defined."""
    from veomni.ops.kernels.gated_delta_rule import npu

    check(
        npu.rms_norm_gated_npu, eager.rms_norm_gated_eager,
        random(4, 6), random(4, 6, seed=1), random(6, seed=2), 1e-6,
    )  # fmt: skip
    assert fake_torch_npu.calls == ["npu_rms_norm"]
