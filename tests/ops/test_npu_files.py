"""The NPU files of the ops that have one, with a stand-in for torch_npu."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")

from kernel_cases import DEVICE, DTYPES, check, random
from veomni.models.transformers.wan.modeling_wan import rope_apply
from veomni.ops.kernels.moe import eager as moe_eager
from veomni.ops.kernels.rms_norm import eager as rms_norm_eager
from veomni.ops.kernels.rotary import eager as rotary_eager


def angles(tokens: int, rotary: int, dtype: torch.dtype) -> list[torch.Tensor]:
    return [random(1, tokens, rotary, dtype=dtype, seed=seed).detach() for seed in (5, 6)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_rms_norm(fake_torch_npu: ModuleType, dtype: torch.dtype) -> None:
    """All three variants, and the form that is bound as the forward of a module."""
    from veomni.ops.kernels.rms_norm import npu

    x, weight = random(3, 8, dtype=dtype), random(8, dtype=dtype, seed=1)
    check(npu.rms_norm_npu, rms_norm_eager.rms_norm_eager, x, weight, 1e-6)
    check(npu.rms_norm_qwen3_5_npu, rms_norm_eager.rms_norm_qwen3_5_eager, x, weight, 1e-6)
    check(npu.rms_norm_unweighted_npu, rms_norm_eager.rms_norm_unweighted_eager, x, 1e-6)
    module = SimpleNamespace(weight=weight, variance_epsilon=1e-6)
    torch.testing.assert_close(
        npu.rms_norm_module_forward(module, x), rms_norm_eager.rms_norm_eager(x, module.weight, 1e-6)
    )
    assert fake_torch_npu.calls == ["npu_rms_norm"] * 4


@pytest.mark.parametrize("dtype", DTYPES)
def test_rotary(fake_torch_npu: ModuleType, dtype: torch.dtype) -> None:
    """Whole and partial heads, each by one kernel call for queries and one for keys."""
    from veomni.ops.kernels.rotary import npu

    q, k = random(2, 3, 5, 8, dtype=dtype), random(2, 1, 5, 8, dtype=dtype, seed=1)
    check(npu.rotary_pos_emb_npu, rotary_eager.rotary_pos_emb_eager, q, k, *angles(5, 8, dtype))
    check(npu.rotary_pos_emb_partial_npu, rotary_eager.rotary_pos_emb_partial_eager, q, k, *angles(5, 4, dtype))
    assert fake_torch_npu.calls == ["npu_rotary_mul"] * 4


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rotary_of_wan(fake_torch_npu: ModuleType, dtype: torch.dtype) -> None:
    """Neighbouring pairs times complex frequencies, by one kernel call."""
    from veomni.ops.kernels.rotary import npu

    turns = random(5, 1, 3, seed=7).detach().double()
    freqs = torch.polar(torch.ones_like(turns), turns)
    check(npu.rope_apply_wan_npu, rope_apply, random(2, 5, 24, dtype=dtype), freqs, 4)
    assert fake_torch_npu.calls == ["npu_rotary_mul"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_moe(fake_torch_npu: ModuleType, dtype: torch.dtype) -> None:
    """Experts by grouped products; one expert is unused, and one choice names none."""
    from veomni.ops.kernels.moe import npu

    index = torch.tensor([[0, 2], [2, -1], [0, 3]], device=DEVICE)
    tokens, shares = random(3, 4, dtype=dtype), random(3, 2, dtype=dtype, seed=1)
    check(
        npu.moe_experts_npu, moe_eager.moe_experts_eager,
        tokens, index, shares, random(4, 6, 4, dtype=dtype, seed=2, scale=0.5),
        random(4, 4, 3, dtype=dtype, seed=3, scale=0.5), 0.5, tolerance=4,
    )  # fmt: skip
    assert fake_torch_npu.calls == ["npu_grouped_matmul 0"] * 2 + ["npu_grouped_matmul 0", "npu_grouped_matmul 2"] * 2
    check(
        npu.moe_experts_gpt_oss_npu, moe_eager.moe_experts_gpt_oss_eager,
        tokens, index, shares, random(4, 4, 6, dtype=dtype, seed=2, scale=0.5), random(4, 6, dtype=dtype, seed=4),
        random(4, 3, 4, dtype=dtype, seed=3, scale=0.5), random(4, 4, dtype=dtype, seed=5), 1.7, 0.5, tolerance=4,
    )  # fmt: skip
