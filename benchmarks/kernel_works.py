"""The works that the kernel benchmark measures: sizes, inputs, and who computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import torch
from torch.nn import functional

from veomni.ops.kernels.cross_entropy.chunk_loss import seq_cls_chunk_loss
from veomni.ops.kernels.cross_entropy.eager import seq_cls_loss_eager
from veomni.ops.kernels.load_balancing_loss.eager import load_balancing_loss_eager
from veomni.ops.kernels.load_balancing_loss.triton import load_balancing_loss_triton
from veomni.ops.kernels.moe.eager import moe_experts_eager
from veomni.ops.kernels.moe.grouped import ExpertBackend
from veomni.ops.kernels.moe.triton import moe_experts_triton
from veomni.ops.kernels.moe.triton_gemm import rows_product, weights_product
from veomni.ops.kernels.moe.triton_rows import combine_rows_triton, weighted_activation_triton
from veomni.ops.kernels.rms_norm.eager import rms_norm_eager
from veomni.ops.kernels.rms_norm.triton import rms_norm_triton
from veomni.ops.kernels.rotary.eager import rotary_pos_emb_eager
from veomni.ops.kernels.rotary.triton import rotary_pos_emb_triton
from veomni.ops.kernels.swiglu.eager import silu_mul_eager
from veomni.ops.kernels.swiglu.triton import silu_mul_triton

Function = Callable[..., Any]


@dataclass(frozen=True)
class Work:
    """One row group of the table. ``inputs`` are made anew for each rival, and ``wanted`` of them are differentiated.

    ``bytes`` or ``flops`` is what the work must move or compute at least, forward and for forward with backward.
    """

    name: str
    rivals: dict[str, Function]
    inputs: Callable[[], Sequence[Any]]
    least: tuple[float, float]
    bound: str
    wanted: tuple[int, ...]
    forward: bool = True
    backward: bool = True
    unavailable: dict[str, str] = field(default_factory=dict)


def normal(*shape: int, scale: float = 1.0, wanted: bool = True) -> torch.Tensor:
    """Normal random numbers in bfloat16 on the GPU."""
    return (torch.randn(*shape, device="cuda") * scale).to(torch.bfloat16).requires_grad_(wanted)


def optional(rivals: dict[str, Function], name: str, module: str, function: str) -> dict[str, str]:
    """Add *function* of *module* to *rivals* as *name*, or say why it cannot be."""
    try:
        rivals[name] = getattr(import_module(module), function)
    except (ImportError, RuntimeError, OSError) as error:
        return {name: str(error)[:120]}
    return {}


def _rms_norm() -> Work:
    rivals: dict[str, Function] = {"eager": rms_norm_eager, "torch.compile": torch.compile(rms_norm_eager)}
    unavailable = optional(rivals, "liger", "veomni.ops.liger.rms_norm", "rms_norm_liger")
    rivals["veomni triton (batch-invariant)"] = rms_norm_triton
    rows, columns = 8192, 4096
    size = rows * columns * 2
    return Work(
        f"RMSNorm {rows} x {columns}",
        rivals,
        lambda: (normal(rows, columns), normal(columns), 1e-6),
        (2 * size, 5 * size),
        "memory",
        (0, 1),
        unavailable=unavailable,
    )


def _rope() -> Work:
    rivals: dict[str, Function] = {"eager": rotary_pos_emb_eager, "torch.compile": torch.compile(rotary_pos_emb_eager)}
    unavailable = optional(rivals, "liger (in place)", "veomni.ops.liger.rotary", "rotate_in_place_liger")
    rivals["veomni triton"] = rotary_pos_emb_triton
    batch, heads, key_heads, tokens, width = 4, 32, 8, 4096, 128

    def inputs() -> Sequence[Any]:
        # In the layout in which projections leave them.
        q, k = (normal(batch, tokens, n, width, wanted=False).transpose(1, 2) for n in (heads, key_heads))
        angles = torch.rand(1, tokens, width // 2, device="cuda").repeat(1, 1, 2) * 6.28
        # A sum with zero, as Liger may not write to leaves.
        q, k = q.requires_grad_() * 1, k.requires_grad_() * 1
        return q, k, angles.cos().bfloat16(), angles.sin().bfloat16()

    size = batch * (heads + key_heads) * tokens * width * 2
    return Work(
        f"RoPE {batch} x {heads}({key_heads}) x {tokens} x {width}",
        rivals,
        inputs,
        (2 * size, 4 * size),
        "memory",
        (0, 1),
        unavailable=unavailable,
    )


def _swiglu() -> Work:
    rivals: dict[str, Function] = {"eager": silu_mul_eager, "torch.compile": torch.compile(silu_mul_eager)}
    unavailable = optional(rivals, "liger", "veomni.ops.liger.swiglu", "silu_mul_liger")
    rivals["veomni triton"] = silu_mul_triton
    rows, columns = 8192, 14336
    size = rows * columns * 2
    return Work(
        f"SwiGLU {rows} x {columns}",
        rivals,
        lambda: (normal(rows, columns), normal(rows, columns)),
        (3 * size, 8 * size),
        "memory",
        (0, 1),
        unavailable=unavailable,
    )


def _cross_entropy() -> Work:
    rivals: dict[str, Function] = {"eager": seq_cls_loss_eager, "torch.compile": torch.compile(seq_cls_loss_eager)}
    unavailable = optional(rivals, "liger", "veomni.ops.liger.cross_entropy", "seq_cls_loss_liger")
    rivals["veomni chunk_loss"] = seq_cls_chunk_loss
    rows, hidden, vocabulary = 8192, 4096, 128_256
    return Work(
        f"Linear + cross-entropy {rows} x {hidden} x {vocabulary}",
        rivals,
        lambda: (
            normal(rows, hidden),
            normal(vocabulary, hidden, scale=hidden**-0.5),
            torch.randint(vocabulary, (rows,), device="cuda"),
        ),
        (2.0 * rows * hidden * vocabulary, 6.0 * rows * hidden * vocabulary),
        "compute",
        (0, 1),
        forward=False,
        unavailable=unavailable,
    )


def _moe() -> Work:
    class TritonProducts:
        rows = staticmethod(rows_product)
        weights = staticmethod(weights_product)

    only_triton = ExpertBackend(TritonProducts(), weighted_activation_triton, combine_rows_triton).standard
    rivals: dict[str, Function] = {
        "eager loop": moe_experts_eager,
        "torch.compile (sort + grouped_mm)": _sorted_experts(),
    }
    unavailable = optional(rivals, "veomni quack", "veomni.ops.kernels.moe.quack", "moe_experts_quack")
    rivals["veomni triton products alone"] = only_triton
    rivals["veomni triton"] = moe_experts_triton
    tokens, hidden, inner, experts, top_k = 16_384, 2048, 768, 128, 8

    def inputs() -> Sequence[Any]:
        index = torch.rand(tokens, experts, device="cuda").topk(top_k).indices
        weights = torch.rand(tokens, top_k, device="cuda").softmax(-1).bfloat16().requires_grad_()
        gate_up = normal(experts, 2 * inner, hidden, scale=hidden**-0.5)
        return normal(tokens, hidden), index, weights, gate_up, normal(experts, hidden, inner, scale=inner**-0.5)

    flops = 2.0 * tokens * top_k * hidden * inner * 3
    return Work(
        f"MoE {tokens} tokens, {hidden} -> {inner}, {experts} experts, top {top_k}",
        rivals,
        inputs,
        (flops, 3 * flops),
        "compute",
        (0, 2, 3, 4),
        unavailable=unavailable,
    )


def _sorted_experts() -> Function:
    """The strongest rival out of torch alone: sort, torch's grouped product, all else compiled."""

    def experts(
        hidden: torch.Tensor, index: torch.Tensor, weights: torch.Tensor, gate_up: torch.Tensor, down: torch.Tensor
    ) -> torch.Tensor:
        chosen, order = index.flatten().sort(stable=True)
        bounds = torch.arange(1, gate_up.shape[0] + 1, device=hidden.device)
        ends = torch.searchsorted(chosen, bounds, out_int32=True)
        token = order // index.shape[1]
        gate, up = functional.grouped_mm(hidden[token], gate_up.transpose(1, 2), offs=ends).chunk(2, dim=-1)
        activated = functional.silu(gate) * up * weights.flatten()[order, None]
        rows = functional.grouped_mm(activated, down.transpose(1, 2), offs=ends)
        return torch.zeros_like(hidden).index_add(0, token, rows)

    compiled: Callable[..., Any] = torch.compile(experts)
    return compiled


def _load_balancing() -> Work:
    layers, tokens, experts, top_k = 48, 16_384, 128, 8

    def of_layers(function: Function) -> Function:
        return lambda *logits: function(logits, experts, top_k)

    rivals = {
        "eager": of_layers(load_balancing_loss_eager),
        "torch.compile": torch.compile(of_layers(load_balancing_loss_eager)),
        "veomni triton": of_layers(load_balancing_loss_triton),
    }
    size = layers * tokens * experts * 2
    return Work(
        f"Load-balancing loss, {layers} layers of {tokens} x {experts}, top {top_k}",
        rivals,
        lambda: tuple(normal(tokens, experts) for _ in range(layers)),
        (size, 3 * size),
        "memory",
        tuple(range(layers)),
    )


WORKS = (_rms_norm, _rope, _swiglu, _cross_entropy, _moe, _load_balancing)
