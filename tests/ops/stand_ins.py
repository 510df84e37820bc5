"""Stand-ins for packages that cannot be installed where the tests run: their functions, computed in PyTorch.

Each has the signature that the adapters rely on, so a call that the real function would refuse fails here too.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch
from torch.nn import functional

from veomni.ops.kernels.attention.eager import attention_eager
from veomni.ops.kernels.deepseek_sparse_attention.eager import dsa_attention_eager
from veomni.ops.kernels.gated_delta_rule import eager as gated


def flash_attn_func(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, softmax_scale: float | None = None, causal: bool = False
) -> torch.Tensor:
    """flash-attn 2."""
    return attention_eager(q, k, v, causal=causal, scale=softmax_scale)


def flash_attn_func_with_lse(*arguments: Any, **options: Any) -> tuple[torch.Tensor, None]:
    """flash-attn 3 and 4, which return the logarithms of the sums too."""
    return flash_attn_func(*arguments, **options), None


def gemm(
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    cu_seqlens_m: torch.Tensor | None = None,
    cu_seqlens_k: torch.Tensor | None = None,
    tuned: bool = True,
) -> torch.Tensor:
    """Quack's product over groups of rows, or of the summed dimension, with the layouts and dtypes that it asks for."""
    assert not tuned
    assert a.dtype == b.dtype == torch.bfloat16
    assert (a if cu_seqlens_k is None else a.t()).is_contiguous()
    assert cu_seqlens_k is None or b.is_contiguous()
    starts = cu_seqlens_m if cu_seqlens_k is None else cu_seqlens_k
    assert starts.dtype == torch.int32
    bounds = starts.tolist()
    assert bounds[0] == 0
    groups = list(zip(bounds, bounds[1:], strict=False))
    if cu_seqlens_k is None:
        unwritten = a.new_full((a.shape[0] - bounds[-1], b.shape[2]), float("nan"))
        return torch.cat([*(a[start:end] @ b[i] for i, (start, end) in enumerate(groups)), unwritten])
    return torch.stack([a[:, start:end] @ b[start:end] for start, end in groups])


def rms_norm_gated(
    x: torch.Tensor, g: torch.Tensor, weight: torch.Tensor, bias: None, activation: str = "swish", eps: float = 1e-6
) -> torch.Tensor:
    """Fla's gated norm."""
    assert (bias, activation) == (None, "swish")
    return gated.rms_norm_gated_eager(x, g, weight, eps)


def causal_conv1d(
    *,
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    activation: str,
    cu_seqlens: torch.Tensor | None,
) -> tuple[torch.Tensor, None]:
    """Fla's convolution, with its final state."""
    assert activation == "silu"
    return gated.causal_conv1d_eager(x, weight, bias, cu_seqlens=cu_seqlens), None


def chunk_gated_delta_rule(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    g: torch.Tensor,
    beta: torch.Tensor,
    scale: float | None,
    cu_seqlens: torch.Tensor | None,
    use_qk_l2norm_in_kernel: bool,
) -> tuple[torch.Tensor, None]:
    """Fla's gated delta rule, with its final state."""
    assert use_qk_l2norm_in_kernel
    return gated.chunk_gated_delta_rule_eager(q, k, v, g, beta, scale=scale, cu_seqlens=cu_seqlens), None


def flash_mla_sparse_fwd(
    q: torch.Tensor, kv: torch.Tensor, indices: torch.Tensor, sm_scale: float, d_v: int
) -> tuple[torch.Tensor, None, None]:
    """FlashMLA's sparse prefill over one flat batch of rows."""
    assert (kv.shape[1], indices.dtype, indices.shape[-1] % 128) == (1, torch.int32, 0)
    return dsa_attention_eager(q[None], kv[:, 0][None], indices[:, 0][None].long(), d_v, sm_scale)[0], None, None


class MhcOps(ModuleType):
    """``tile_kernels.modeling.mhc.ops``."""

    def mhc_pre_norm_fn(
        self, x: torch.Tensor, fn: torch.Tensor, weight: None, eps: float, *, fuse_grad_acc: bool
    ) -> torch.Tensor:
        """The mixes of all streams."""
        assert (weight, fuse_grad_acc, fn.shape[0], fn.dtype) == (None, False, 24, torch.float32)
        flat = x.flatten(-2).float()
        return (flat * torch.rsqrt(flat.square().mean(-1, keepdim=True) + eps)) @ fn.t()

    def mhc_pre_split_mixes(
        self, mixes: torch.Tensor, scale: torch.Tensor, base: torch.Tensor, streams: int, factor: float, eps: float
    ) -> tuple[torch.Tensor, ...]:
        """The three mixes, the last one before its normalisation."""
        parts, bases = mixes.split((4, 4, 16), -1), base.split((4, 4, 16))
        into, out, between = (part * scale[i] + bases[i] for i, part in enumerate(parts))
        return (
            (into.sigmoid() + eps)[..., None],
            (factor * out.sigmoid())[..., None],
            between.unflatten(-1, (streams, streams)),
        )

    def sinkhorn_normalize(self, x: torch.Tensor, repeat: int, eps: float) -> torch.Tensor:
        """Rows and columns that sum to one."""
        x = x.softmax(-1) + eps
        x = x / (x.sum(-2, keepdim=True) + eps)
        for _ in range(repeat - 1):
            x = x / (x.sum(-1, keepdim=True) + eps)
            x = x / (x.sum(-2, keepdim=True) + eps)
        return x

    def mhc_pre_apply_mix(self, x: torch.Tensor, mix: torch.Tensor) -> torch.Tensor:
        """One stream out of all."""
        return (mix * x.float()).sum(-2).to(x.dtype)

    def mhc_head_compute_mix(
        self, mixes: torch.Tensor, scale: torch.Tensor, base: torch.Tensor, eps: float
    ) -> torch.Tensor:
        """The shares of the streams in the last one."""
        return (mixes * scale + base).sigmoid() + eps

    def mhc_post_fwd(
        self, x: torch.Tensor, residual: torch.Tensor, post: torch.Tensor, comb: torch.Tensor
    ) -> torch.Tensor:
        """The streams after the layer."""
        return (post * x.float()[..., None, :] + comb.transpose(-1, -2) @ residual.float()).to(residual.dtype)

    def mhc_post_bwd(
        self,
        x: torch.Tensor,
        residual: torch.Tensor,
        post: torch.Tensor,
        comb: torch.Tensor,
        grad: torch.Tensor,
        *,
        fuse_grad_acc: bool,
    ) -> tuple[torch.Tensor, ...]:
        """The gradients of all four inputs."""
        assert not fuse_grad_acc
        with torch.enable_grad():
            inputs = [value.detach().requires_grad_() for value in (x, residual, post, comb)]
            return torch.autograd.grad(self.mhc_post_fwd(*inputs), inputs, grad)


class LigerFunctions:
    """The autograd functions of Liger that the adapters call, with their positional arguments."""

    class RmsNorm:
        """``LigerRMSNormFunction``."""

        @staticmethod
        def apply(
            x: torch.Tensor, weight: torch.Tensor, eps: float, offset: float, casting_mode: str, in_place: bool
        ) -> torch.Tensor:
            """The norm in the casting mode of llama or gemma."""
            assert not in_place
            rows = x.float()
            rows = rows * torch.rsqrt(rows.square().mean(-1, keepdim=True) + eps)
            if casting_mode == "llama":
                return rows.to(x.dtype) * (weight + offset)
            assert casting_mode == "gemma"
            return (rows * (weight.float() + offset)).to(x.dtype)

    class Rope:
        """``LigerRopeFunction``, which overwrites its inputs."""

        @staticmethod
        def apply(
            q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor]:
            """Rotation of (batch, heads, tokens, width)."""
            results = []
            for x in (q, k):
                first, second = x.chunk(2, dim=-1)
                results.append(x * cos[:, None] + torch.cat((-second, first), dim=-1) * sin[:, None])
                x.data.fill_(float("nan"))
            return results[0], results[1]

    class SiluMul:
        """``LigerSiLUMulFunction``."""

        @staticmethod
        def apply(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
            """The activation of SwiGLU."""
            return functional.silu(gate) * up

    class CrossEntropy:
        """``LigerFusedLinearCrossEntropyLoss``."""

        def __init__(self, *, ignore_index: int, reduction: str) -> None:
            assert reduction == "sum"
            self.ignore_index = ignore_index

        def __call__(self, weight: torch.Tensor, hidden: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
            """The summed loss; the weight comes first."""
            logits = functional.linear(hidden, weight).float()
            return functional.cross_entropy(logits, labels, ignore_index=self.ignore_index, reduction="sum")
