"""Adapters to packages that the test machine has not, with stand-ins of their signatures."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the adapters need torch")
pytest.importorskip("triton", reason="some adapters share kernels in Triton")

import stand_ins

from kernel_cases import DEVICE, check, random
from veomni.ops import kernel_registry
from veomni.ops.kernels import attention, gated_delta_rule, swiglu
from veomni.ops.kernels.attention import eager as attention_eager
from veomni.ops.kernels.attention import flash
from veomni.ops.kernels.cross_entropy import eager as cross_entropy_eager
from veomni.ops.kernels.deepseek_sparse_attention import eager as dsa_eager
from veomni.ops.kernels.gated_delta_rule import eager as gated_eager
from veomni.ops.kernels.mhc import eager as mhc_eager
from veomni.ops.kernels.moe import eager as moe_eager
from veomni.ops.kernels.rms_norm import eager as rms_norm_eager
from veomni.ops.kernels.rotary import eager as rotary_eager
from veomni.ops.kernels.swiglu import eager as swiglu_eager

Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a module with the given attributes, and the packages above it, in place of what may be installed."""
    before = set(sys.modules)

    def put(name: str, **attributes: Any) -> None:
        parts = name.split(".")
        for i in range(1, len(parts)):
            package = ".".join(parts[:i])
            if package not in before or not getattr(sys.modules.get(package), "is_stand_in", False):
                module = ModuleType(package)
                module.__path__, module.is_stand_in = [], True
                monkeypatch.setitem(sys.modules, package, module)
                before.add(package)
        module = ModuleType(name)
        for key, value in attributes.items():
            setattr(module, key, value)
        monkeypatch.setitem(sys.modules, name, module)

    def forget() -> None:
        stems = ("fla", "quack", "tilelang", "flashmla")
        for name in list(sys.modules):
            if name.startswith("veomni.ops.liger.") or (name.startswith("veomni.ops.") and name.endswith(stems)):
                parent, _, stem = name.rpartition(".")
                sys.modules[parent].__dict__.pop(stem, None)
                del sys.modules[name]

    forget()
    yield put
    forget()


def test_liger(install: Install) -> None:
    """Norms, rotation, activation and loss, forward and gradients; the rotation leaves the caller's tensors alone."""
    install("liger_kernel.ops.rms_norm", LigerRMSNormFunction=stand_ins.LigerFunctions.RmsNorm)
    install("liger_kernel.ops.rope", LigerRopeFunction=stand_ins.LigerFunctions.Rope)
    install("liger_kernel.ops.swiglu", LigerSiLUMulFunction=stand_ins.LigerFunctions.SiluMul)
    install(
        "liger_kernel.transformers.fused_linear_cross_entropy",
        LigerFusedLinearCrossEntropyLoss=stand_ins.LigerFunctions.CrossEntropy,
    )
    from veomni.ops.liger import cross_entropy, rms_norm, rotary
    from veomni.ops.liger import swiglu as liger_swiglu

    row, weight = random(3, 8), random(8, seed=1)
    check(rms_norm.rms_norm_liger, rms_norm_eager.rms_norm_eager, row, weight, 1e-6)
    check(rms_norm.rms_norm_qwen3_5_liger, rms_norm_eager.rms_norm_qwen3_5_eager, row, weight, 1e-6)
    check(rms_norm.rms_norm_unweighted_liger, rms_norm_eager.rms_norm_unweighted_eager, row, 1e-6)
    q, k = random(2, 3, 5, 8), random(2, 1, 5, 8, seed=1)
    whole, part = ([random(1, 5, width, seed=seed).detach() for seed in (5, 6)] for width in (8, 4))
    check(rotary.rotary_pos_emb_liger, rotary_eager.rotary_pos_emb_eager, q, k, *whole)
    check(rotary.rotary_pos_emb_partial_liger, rotary_eager.rotary_pos_emb_partial_eager, q, k, *part)
    with pytest.raises(ValueError, match="heads in dimension 1"):
        rotary.rotary_pos_emb_liger(q, k, *whole, unsqueeze_dim=2)
    with pytest.raises(ValueError, match="differ in more than their heads"):
        rotary.rotary_pos_emb_liger(q, k[:, :, :3], *whole)
    with pytest.raises(ValueError, match="do not fit queries"):
        rotary.rotary_pos_emb_liger(q, k, *part)
    with pytest.raises(ValueError, match=r"gate is torch\.float32 \(3, 8\) but up is torch\.float32 \(2, 8\)"):
        liger_swiglu.silu_mul_liger(row, row[:2])
    check(liger_swiglu.silu_mul_liger, swiglu_eager.silu_mul_eager, row, random(3, 8, seed=2))
    assert swiglu.liger_mlp().__name__ == "swiglu_mlp"
    labels = torch.tensor([[1, -100, 2]], device=DEVICE)
    hidden, head = random(1, 3, 8), random(4, 8, seed=1)
    check(cross_entropy.causal_lm_loss_liger, cross_entropy_eager.causal_lm_loss_eager, hidden, head, labels)
    check(cross_entropy.seq_cls_loss_liger, cross_entropy_eager.seq_cls_loss_eager, hidden, head, labels)


@pytest.mark.parametrize(
    ("name", "module", "function"),
    [
        ("flash_attention_2", "flash_attn", stand_ins.flash_attn_func),
        ("flash_attention_3", "flash_attn_interface", stand_ins.flash_attn_func_with_lse),
        ("flash_attention_4", "flash_attn.cute", stand_ins.flash_attn_func_with_lse),
    ],
)
def test_flash_attention(
    install: Install, monkeypatch: pytest.MonkeyPatch, name: str, module: str, function: Callable[..., Any]
) -> None:
    """Each version is called with the scale and the mask, and its extra results are dropped."""
    install(module, flash_attn_func=function)
    monkeypatch.setattr(flash.HardwareRequirement, "is_satisfied", lambda _: True)
    monkeypatch.setattr(flash.PackageRequirement, "problem", lambda _: None)
    attend = flash.flash_attention(name)
    q, k, v = (random(2, 5, heads, 8, dtype=torch.bfloat16, seed=heads) for heads in (4, 2, 2))
    check(attend, attention_eager.attention_eager, q, k, v)
    check(attend, attention_eager.attention_eager, q, k, v, causal=False, scale=0.3)
    with pytest.raises(ValueError, match=r"computes in bfloat16 and float16, not in torch\.float32"):
        attend(q.float(), k.float(), v.float())


def test_a_namespace_package_is_no_flash_attention(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    """With flash-attn 4 alone the package of version 2 can be found, and is still refused."""
    install("flash_attn.cute", flash_attn_func=stand_ins.flash_attn_func)
    from veomni.utils import import_utils

    monkeypatch.setattr(flash.HardwareRequirement, "is_satisfied", lambda _: True)
    monkeypatch.setattr(import_utils, "is_package_available", lambda _: True)
    monkeypatch.setattr(import_utils, "package_version", lambda _: "2.8")
    with pytest.raises(RuntimeError, match="'flash_attention_2' cannot be used: flash_attn has no flash_attn_func"):
        flash.flash_attention("flash_attention_2")


def test_an_unknown_attention_is_refused() -> None:
    """A name that is no implementation is answered with those that are."""
    with pytest.raises(ValueError, match="'flash' does not exist; choose eager, sdpa, flash_attention_2"):
        attention.get_local_attention("flash")


@pytest.mark.parametrize("causal", [True, False])
def test_sdpa(causal: bool) -> None:
    """PyTorch's attention with grouped heads is the definition; a causal mask over a cache is refused."""
    q, k, v = random(2, 5, 4, 8), random(2, 5, 2, 8, seed=1), random(2, 5, 2, 8, seed=2)
    sdpa = attention.get_local_attention("sdpa")
    check(sdpa, attention_eager.attention_eager, q, k, v, causal=causal, scale=0.5)
    with pytest.raises(ValueError, match="aligns causal masks"):
        sdpa(q[:, 3:], k, v)


def test_eager_attention_aligns_queries_at_the_end() -> None:
    """With fewer queries than keys the queries are the last ones."""
    q, k = random(1, 5, 2, 8), random(1, 5, 2, 8, seed=1)
    whole = attention_eager.attention_eager(q, k, k)
    torch.testing.assert_close(attention_eager.attention_eager(q[:, 3:], k, k), whole[:, 3:])


def test_quack(install: Install) -> None:
    """Experts with the grouped products of quack, one expert being unused, and one choice naming none."""
    install("quack.gemm_interface", gemm=stand_ins.gemm)
    quack = importlib.import_module("veomni.ops.kernels.moe.quack")
    index = torch.tensor([[0, 2], [2, 3], [0, 3]], device=DEVICE)
    weights = [random(*shape, dtype=torch.bfloat16, seed=i) for i, shape in enumerate([(4, 16, 16), (4, 16, 8)])]
    tokens, shares = (random(3, columns, dtype=torch.bfloat16, seed=columns) for columns in (16, 2))
    for chosen in (index, index.where(index < 3, -1)):
        check(quack.moe_experts_quack, moe_eager.moe_experts_eager, tokens, chosen, shares, *weights, None, tolerance=2)
    with pytest.raises(ValueError, match=r"multiples of 8, not torch\.float32 with 4 and 6"):
        quack.moe_experts_quack(random(3, 4), index, random(3, 2), random(4, 6, 4), random(4, 4, 3), None)


def test_fla(install: Install) -> None:
    """The three parts of the gated delta rule are called as flash-linear-attention wants it."""
    install("fla.modules.causal_conv1d", causal_conv1d=stand_ins.causal_conv1d)
    install("fla.modules.norm.fused_norm_gate", rms_norm_gated=stand_ins.rms_norm_gated)
    install("fla.ops.gated_delta_rule", chunk_gated_delta_rule=stand_ins.chunk_gated_delta_rule)
    fla = importlib.import_module("veomni.ops.kernels.gated_delta_rule.fla")
    bounds = torch.tensor([0, 2, 5], device=DEVICE)
    norm = random(4, 6), random(4, 6, seed=1), random(6, seed=2), 1e-6
    check(fla.rms_norm_gated_fla, gated_eager.rms_norm_gated_eager, *norm)
    conv = random(1, 5, 3), random(3, 4, seed=1), random(3, seed=2)
    check(fla.causal_conv1d_fla, gated_eager.causal_conv1d_eager, *conv, cu_seqlens=bounds)
    rule = [random(1, 5, 2, 4, seed=seed) for seed in range(3)] + [random(1, 5, 2, seed=seed) for seed in (3, 4)]
    check(fla.chunk_gated_delta_rule_fla, gated_eager.chunk_gated_delta_rule_eager, *rule, cu_seqlens=bounds)


def test_fla_before_its_fix_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release with wrong gradients is not bound, and the reason is said."""
    from veomni.utils import import_utils

    assert gated_delta_rule._FLA.min_version == "0.6"
    monkeypatch.setattr(import_utils, "is_package_available", lambda _: True)
    monkeypatch.setattr(import_utils, "package_version", lambda _: "0.5.1")
    monkeypatch.setattr(kernel_registry.HardwareRequirement, "is_satisfied", lambda _: True)
    with pytest.raises(kernel_registry.KernelUnavailableError, match=r"fla-core is 0\.5\.1, at least 0\.6"):
        kernel_registry.KERNEL_REGISTRY.resolve("chunk_gated_delta_rule", "standard", "fla")


def test_tile_kernels(install: Install) -> None:
    """Hyper-connections before, after and behind the layers, with four streams of bfloat16."""
    ops = stand_ins.MhcOps("ops")
    install("tile_kernels.modeling.mhc", ops=ops)
    tilelang = importlib.import_module("veomni.ops.kernels.mhc.tilelang")
    streams = random(1, 3, 4, 8, dtype=torch.bfloat16)
    fn, scale, base = random(24, 32, seed=1, scale=0.1), random(3, seed=2), random(24, seed=3)
    check(tilelang.mhc_pre_tilelang, mhc_eager.mhc_pre_eager, streams, fn, scale, base, 1e-6, 3, 1e-6)
    output = random(1, 3, 8, dtype=torch.bfloat16, seed=4)
    check(
        tilelang.mhc_post_tilelang, mhc_eager.mhc_post_eager,
        output, streams, random(1, 3, 4, seed=5), random(1, 3, 4, 4, seed=6),
    )  # fmt: skip
    head = random(4, 32, seed=1, scale=0.1), random(1, seed=2), random(4, seed=3)
    check(tilelang.mhc_head_tilelang, mhc_eager.mhc_head_eager, streams, *head, 1e-6, 1e-6)
    with pytest.raises(ValueError, match=r"mixes 4 streams of bfloat16, not 2 of torch\.float32"):
        tilelang.mhc_head_tilelang(random(1, 3, 2, 8), *head, 1e-6, 1e-6)


def test_flash_mla(install: Install) -> None:
    """Selected keys of each batch are named in one flat list, padded to what FlashMLA wants; gradients are eager."""
    install("flash_mla", flash_mla_sparse_fwd=stand_ins.flash_mla_sparse_fwd)
    flashmla = importlib.import_module("veomni.ops.kernels.deepseek_sparse_attention.flashmla")
    indices = torch.tensor([[[0, -1, -1], [1, 0, -1]], [[0, -1, -1], [0, 1, -1]]], device=DEVICE)
    q, kv = random(2, 2, 3, 8, dtype=torch.bfloat16), random(2, 2, 8, dtype=torch.bfloat16, seed=1)
    check(flashmla.dsa_attention_flashmla, dsa_eager.dsa_attention_eager, q, kv, indices, 6, 0.4, tolerance=2)
    with pytest.raises(ValueError, match="computes in bfloat16"):
        flashmla.dsa_attention_flashmla(q.float(), kv.float(), indices, 6, 0.4)


def test_a_token_that_selects_nothing_gets_zeros() -> None:
    """In the definition of sparse attention an empty selection gives zeros and not NaN."""
    output = dsa_eager.dsa_attention_eager(
        random(1, 1, 2, 4), random(1, 3, 4), torch.full((1, 1, 2), -1, device=DEVICE), 4, 1.0
    )
    assert torch.equal(output.cpu(), torch.zeros(1, 1, 2, 4))
