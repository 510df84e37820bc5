"""Works that are bound by memory, beside those whose speed is a goal of the project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from benchmarks.compute_works import invariant_work
from benchmarks.kernel_works import Function, Work, normal, optional
from veomni.ops.kernels.gated_delta_rule import eager as gated_delta_rule
from veomni.ops.kernels.mhc import eager as mhc
from veomni.ops.kernels.rms_norm import eager as rms_norm
from veomni.ops.kernels.rms_norm.triton import rms_norm_qwen3_5_triton, rms_norm_unweighted_triton
from veomni.ops.kernels.rotary import eager as rotary
from veomni.ops.kernels.rotary.triton import rotary_pos_emb_triton
from veomni.ops.kernels.rotary.triton_angles import rotary_angles_triton
from veomni.ops.kernels.rotary.triton_wan import rope_apply_wan_triton

_LIGER = "veomni.ops.liger."
_FLA = "veomni.ops.kernels.gated_delta_rule.fla"
_MHC = "veomni.ops.kernels.mhc.tilelang"
_TOKENS, _HIDDEN = 8192, 2560


def _rms_norm_qwen3_5() -> Work:
    size = 8192 * 4096 * 2
    return _elementwise(
        "RMSNorm qwen3_5 8192 x 4096", rms_norm.rms_norm_qwen3_5_eager,
        lambda: (normal(8192, 4096), normal(4096), 1e-6), (2 * size, 5 * size), (0, 1),
        {"veomni triton": rms_norm_qwen3_5_triton}, ("liger", _LIGER + "rms_norm", "rms_norm_qwen3_5_liger"),
    )  # fmt: skip


def _rms_norm_unweighted() -> Work:
    size = 8192 * 4096 * 2
    return _elementwise(
        "RMSNorm unweighted 8192 x 4096", rms_norm.rms_norm_unweighted_eager,
        lambda: (normal(8192, 4096), 1e-6), (2 * size, 5 * size), (0,), {"veomni triton": rms_norm_unweighted_triton},
        ("liger", _LIGER + "rms_norm", "rms_norm_unweighted_liger"),
    )  # fmt: skip


def _rope_partial() -> Work:
    def inputs() -> Sequence[Any]:
        q, k = (normal(4, 4096, n, 128, wanted=False).transpose(1, 2).requires_grad_() for n in (32, 8))
        angles = torch.rand(1, 4096, 32, device="cuda").repeat(1, 1, 2) * 6.28
        return q, k, angles.cos().bfloat16(), angles.sin().bfloat16()

    size = 4 * 40 * 4096 * 128 * 2
    return _elementwise(
        "RoPE of 64 in 128 columns, 4 x 32(8) x 4096", rotary.rotary_pos_emb_partial_eager, inputs,
        (2 * size, 4 * size), (0, 1), {"veomni triton": rotary_pos_emb_triton},
        ("liger", _LIGER + "rotary", "rotary_pos_emb_partial_liger"),
    )  # fmt: skip


def _rope_wan() -> Work:
    def inputs() -> Sequence[Any]:
        angles = torch.rand(32_760, 1, 64, device="cuda", dtype=torch.float64)
        return normal(1, 32_760, 1536), torch.polar(torch.ones_like(angles), angles), 12

    size = 32_760 * 1536 * 2
    # Not compiled: torch.compile generates no code for complex numbers.
    return Work(
        "RoPE of Wan, 32760 x 12 x 128",
        {"eager": rotary.rope_apply_wan_eager, "veomni triton": rope_apply_wan_triton},
        inputs,
        (2 * size, 4 * size),
        "memory",
        (0,),
    )


def _rotary_angles() -> Work:
    def inputs() -> Sequence[Any]:
        return torch.rand(64, device="cuda"), torch.arange(131_072, device="cuda")[None], 1.0

    return _elementwise(
        "Rotary angles, 131072 x 128", rotary.rotary_angles_eager, inputs, (2 * 131_072 * 128 * 4, 0), (),
        {"veomni triton": rotary_angles_triton},
    )  # fmt: skip


def _gated_norm() -> Work:
    size = 65_536 * 128 * 2
    return _elementwise(
        "Gated RMSNorm 65536 x 128", gated_delta_rule.rms_norm_gated_eager,
        lambda: (normal(65_536, 128), normal(65_536, 128), normal(128), 1e-6), (3 * size, 8 * size), (0, 1, 2),
        optional_kernel=("fla", _FLA, "rms_norm_gated_fla"),
    )  # fmt: skip


def _causal_conv1d() -> Work:
    size = 8192 * 4096 * 2
    return _elementwise(
        "Causal convolution 8192 x 4096, width 4", gated_delta_rule.causal_conv1d_eager,
        lambda: (normal(1, 8192, 4096), normal(4096, 4)), (2 * size, 5 * size), (0, 1),
        optional_kernel=("fla", _FLA, "causal_conv1d_fla"),
    )  # fmt: skip


def _mhc_pre() -> Work:
    size = _TOKENS * 4 * _HIDDEN * 2

    def inputs() -> Sequence[Any]:
        return _streams(), _floats(24, 4 * _HIDDEN, scale=0.01), _floats(3), _floats(24), 1e-6, 10, 1e-6

    return _elementwise(
        f"Hyper-connections before a layer, {_TOKENS} x 4 x {_HIDDEN}", mhc.mhc_pre_eager, inputs,
        (1.25 * size, 3.5 * size), (0, 1, 2, 3), optional_kernel=("tilelang", _MHC, "mhc_pre_tilelang"),
    )  # fmt: skip


def _mhc_post() -> Work:
    size = _TOKENS * 4 * _HIDDEN * 2
    return _elementwise(
        f"Hyper-connections after a layer, {_TOKENS} x 4 x {_HIDDEN}", mhc.mhc_post_eager,
        lambda: (normal(1, _TOKENS, _HIDDEN), _streams(), _floats(1, _TOKENS, 4), _floats(1, _TOKENS, 4, 4)),
        (2.25 * size, 5.75 * size), (0, 1, 2, 3), optional_kernel=("tilelang", _MHC, "mhc_post_tilelang"),
    )  # fmt: skip


def _mhc_head() -> Work:
    size = _TOKENS * 4 * _HIDDEN * 2
    return _elementwise(
        f"Hyper-connections before the head, {_TOKENS} x 4 x {_HIDDEN}", mhc.mhc_head_eager,
        lambda: (_streams(), _floats(4, 4 * _HIDDEN, scale=0.01), _floats(1), _floats(4), 1e-6, 1e-6),
        (1.25 * size, 3.5 * size), (0, 1, 2, 3), optional_kernel=("tilelang", _MHC, "mhc_head_tilelang"),
    )  # fmt: skip


def _streams() -> torch.Tensor:
    return normal(1, _TOKENS, 4, _HIDDEN)


def _floats(*shape: int, scale: float = 1.0) -> torch.Tensor:
    return (torch.randn(*shape, device="cuda") * scale).requires_grad_()


def _invariant_log_softmax() -> Work:
    size = 8192 * 32_000 * 2
    return invariant_work(
        "log_softmax 8192 x 32000", lambda x: torch.log_softmax(x, -1), lambda: (normal(8192, 32_000),), 2.0 * size,
        "memory",
    )  # fmt: skip


def _invariant_mean() -> Work:
    size = 8192 * 32_000 * 2
    return invariant_work(
        "mean 8192 x 32000", lambda x: torch.mean(x, -1), lambda: (normal(8192, 32_000),), 1.0 * size, "memory"
    )


def _elementwise(
    name: str,
    eager: Function,
    inputs: Callable[[], Sequence[Any]],
    moved: tuple[float, float],
    wanted: tuple[int, ...],
    ours: dict[str, Function] | None = None,
    optional_kernel: tuple[str, str, str] | None = None,
) -> Work:
    rivals: dict[str, Function] = {"eager": eager, "torch.compile": torch.compile(eager), **(ours or {})}
    unavailable = optional(rivals, *optional_kernel) if optional_kernel is not None else {}
    return Work(name, rivals, inputs, moved, "memory", wanted, backward=bool(wanted), unavailable=unavailable)


MEMORY_WORKS = (
    _rms_norm_qwen3_5, _rms_norm_unweighted, _rope_partial, _rope_wan, _rotary_angles, _gated_norm, _causal_conv1d,
    _mhc_pre, _mhc_post, _mhc_head, _invariant_log_softmax, _invariant_mean,
)  # fmt: skip
