"""Works that are bound by matrix products, beside those whose speed is a goal of the project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional

from benchmarks.kernel_works import Function, Work, normal, optional
from veomni.ops.batch_invariant_ops import batch_invariant_mode
from veomni.ops.kernels.attention import eager as attention
from veomni.ops.kernels.attention import get_local_attention
from veomni.ops.kernels.deepseek_v4 import eager as deepseek_v4
from veomni.ops.kernels.deepseek_v4.triton_attention import sparse_attention_with_sink_triton
from veomni.ops.kernels.deepseek_v4.triton_indexer import lightning_indexer_triton
from veomni.ops.kernels.gated_delta_rule.eager import chunk_gated_delta_rule_eager
from veomni.ops.kernels.moe.eager import moe_experts_gpt_oss_eager
from veomni.ops.kernels.moe.triton import moe_experts_gpt_oss_triton

_DEEPSEEK_V4 = "veomni.ops.kernels.deepseek_v4"


def _attention() -> Work:
    rivals: dict[str, Function] = {"eager": attention.attention_eager, "sdpa": get_local_attention("sdpa")}
    unavailable = {}
    for name in ("flash_attention_2", "flash_attention_3", "flash_attention_4"):
        try:
            rivals[name] = get_local_attention(name)
        except RuntimeError as error:
            unavailable[name] = str(error)[:120]
    batch, heads, key_heads, tokens, width = 2, 32, 8, 4096, 128
    flops = 2.0 * batch * heads * tokens * tokens * width
    return Work(
        f"Causal attention {batch} x {heads}({key_heads}) x {tokens} x {width}",
        {name: _causal(function) for name, function in rivals.items()},
        lambda: [normal(batch, tokens, n, width) for n in (heads, key_heads, key_heads)],
        (flops, 3.5 * flops),
        "compute",
        (0, 1, 2),
        unavailable=unavailable,
    )


def _causal(function: Function) -> Function:
    return lambda q, k, v: function(q, k, v, causal=True)


def _sparse_attention() -> Work:
    rivals: dict[str, Function] = {
        "eager": deepseek_v4.sparse_attention_with_sink_eager,
        "torch.compile": torch.compile(deepseek_v4.sparse_attention_with_sink_eager),
        "veomni triton": sparse_attention_with_sink_triton,
    }
    function = "sparse_attention_with_sink_tilelang"
    unavailable = optional(rivals, "veomni tilelang", f"{_DEEPSEEK_V4}.tilelang_attention", function)
    tokens, heads, width, selected = 4096, 64, 512, 1024

    def inputs() -> Sequence[Any]:
        indices = torch.rand(1, tokens, tokens, device="cuda").argsort(-1)[..., :selected].contiguous()
        sink = torch.randn(heads, device="cuda").requires_grad_()
        return normal(1, tokens, heads, width), normal(1, tokens, width), sink, indices, width**-0.5

    flops = 4.0 * tokens * heads * selected * width
    return Work(
        f"DeepSeek V4 sparse attention, {tokens} tokens, {heads} x {width}, {selected} keys each",
        rivals,
        inputs,
        (flops, 3.5 * flops),
        "compute",
        (0, 1, 2),
        unavailable=unavailable,
    )


def _indexer() -> Work:
    rivals: dict[str, Function] = {
        "eager": deepseek_v4.lightning_indexer_eager,
        "torch.compile": torch.compile(deepseek_v4.lightning_indexer_eager),
        "veomni triton": lightning_indexer_triton,
    }
    function = "lightning_indexer_tilelang"
    unavailable = optional(rivals, "veomni tilelang", f"{_DEEPSEEK_V4}.tilelang_indexer", function)
    tokens, heads, width, selected = 4096, 64, 128, 1024
    forward = 1.0 * tokens * tokens * heads * width
    return Work(
        f"DeepSeek V4 indexer, {tokens} tokens, {heads} x {width}, top {selected}",
        {name: _scores_of(function) for name, function in rivals.items()},
        lambda: (normal(1, tokens, heads, width), normal(1, tokens, width), normal(1, tokens, heads), selected),
        (forward, forward + 6.0 * tokens * selected * heads * width),
        "compute",
        (0, 1, 2),
        unavailable=unavailable,
    )


def _scores_of(function: Function) -> Function:
    def scores(q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, topk: int) -> torch.Tensor:
        values, indices = function(q, k, weights, topk)
        known: torch.Tensor = torch.where(indices < 0, 0.0, values)
        return known

    return scores


def _experts_gpt_oss() -> Work:
    rivals: dict[str, Function] = {"eager loop": moe_experts_gpt_oss_eager}
    unavailable = optional(rivals, "veomni quack", "veomni.ops.kernels.moe.quack", "moe_experts_gpt_oss_quack")
    rivals["veomni triton"] = moe_experts_gpt_oss_triton
    tokens, hidden, inner, experts, top_k = 8192, 2880, 2880, 32, 4

    def inputs() -> Sequence[Any]:
        return (
            normal(tokens, hidden),
            torch.rand(tokens, experts, device="cuda").topk(top_k).indices,
            torch.rand(tokens, top_k, device="cuda").softmax(-1).bfloat16().requires_grad_(),
            normal(experts, hidden, 2 * inner, scale=hidden**-0.5),
            normal(experts, 2 * inner),
            normal(experts, inner, hidden, scale=inner**-0.5),
            normal(experts, hidden),
            1.702,
            7.0,
        )

    flops = 2.0 * tokens * top_k * hidden * inner * 3
    return Work(
        f"gpt-oss experts, {tokens} tokens, {hidden} -> {inner}, {experts} experts, top {top_k}",
        rivals,
        inputs,
        (flops, 3 * flops),
        "compute",
        (0, 2, 3, 4, 5, 6),
        unavailable=unavailable,
    )


def _delta_rule() -> Work:
    rivals: dict[str, Function] = {"eager": chunk_gated_delta_rule_eager}
    unavailable = optional(rivals, "fla", "veomni.ops.kernels.gated_delta_rule.fla", "chunk_gated_delta_rule_fla")
    tokens, heads, width = 1024, 16, 128

    def inputs() -> Sequence[Any]:
        g = functional.logsigmoid(torch.randn(1, tokens, heads, device="cuda")).requires_grad_()
        beta = torch.rand(1, tokens, heads, device="cuda").bfloat16().requires_grad_()
        return *(normal(1, tokens, heads, width) for _ in range(3)), g, beta

    flops = 8.0 * tokens * heads * width * width
    return Work(
        f"Gated delta rule, {tokens} tokens, {heads} x {width}",
        rivals,
        inputs,
        (flops, 3 * flops),
        "compute",
        (0, 1, 2, 3, 4),
        unavailable=unavailable,
    )


def _invariant_mm() -> Work:
    return invariant_work(
        "mm 8192 x 4096 x 4096", torch.mm, lambda: (normal(8192, 4096), normal(4096, 4096)), 2.0 * 8192 * 4096 * 4096,
        "compute",
    )  # fmt: skip


def _invariant_addmm() -> Work:
    return invariant_work(
        "addmm 8192 x 4096 x 4096", torch.addmm, lambda: (normal(4096), normal(8192, 4096), normal(4096, 4096)),
        2.0 * 8192 * 4096 * 4096, "compute",
    )  # fmt: skip


def _invariant_bmm() -> Work:
    return invariant_work(
        "bmm 32 x 1024 x 1024 x 1024", torch.bmm, lambda: (normal(32, 1024, 1024), normal(32, 1024, 1024)),
        2.0 * 32 * 1024**3, "compute",
    )  # fmt: skip


def invariant_work(
    name: str, function: Function, inputs: Callable[[], Sequence[Any]], least: float, bound: str
) -> Work:
    """One of torch's operators, and what computes it in the batch-invariant mode."""

    def invariant(*arguments: torch.Tensor) -> torch.Tensor:
        with batch_invariant_mode():
            output: torch.Tensor = function(*arguments)
        return output

    rivals = {"eager (torch)": function, "veomni triton (batch-invariant)": invariant}
    return Work(name, rivals, inputs, (least, 0.0), bound, (), backward=False)


COMPUTE_WORKS = (
    _attention, _sparse_attention, _indexer, _experts_gpt_oss, _delta_rule,
    _invariant_mm, _invariant_addmm, _invariant_bmm,
)  # fmt: skip
