"""The async Ulysses wrappers, in the shape that they have now, for a tree that is older than them."""

from __future__ import annotations

WRAPPERS = "veomni/distributed/sequence_parallel/op_wrappers.py"
COMPOUND = "veomni/distributed/sequence_parallel/async_norm.py"

WRAPPERS_TEXT = '''\
"""Forward and backward halves of the ops that compound autograd functions run themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from ...ops.config.singleton import get_ops_config
from ...utils.device import IS_NPU_AVAILABLE


@dataclass(frozen=True)
class Saved:
    tensors: tuple[Tensor, ...]
    note: Any = None


class Wrapper(Protocol):
    def forward(self, *args: Any) -> tuple[Tensor, Saved]: ...

    def backward(self, grad: Tensor, saved: Saved) -> tuple[Tensor, ...]: ...


@dataclass
class PlainNorm:
    offset: float = 0.0

    def forward(self, x: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Saved]:
        if x.numel() == 0:
            return x, Saved((x, weight))
        inverse = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + eps)
        output = (x.float() * inverse * (weight + self.offset)).to(x.dtype)
        return output, Saved((x, weight, inverse))

    def backward(self, grad: Tensor, saved: Saved) -> tuple[Tensor, ...]:
        x, weight, inverse = saved.tensors
        scaled = grad.float() * (weight + self.offset)
        along = (scaled * x.float()).mean(-1, keepdim=True) * inverse.pow(3)
        return (scaled * inverse - x.float() * along).to(x.dtype), (grad * x * inverse).flatten(0, -2).sum(0)


@dataclass
class LigerNorm:
    offset: float
    casting_mode: str

    def forward(self, x: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Saved]:
        from liger_kernel.ops.rms_norm import rms_norm_forward

        output, kept, inverse, block, warps, mode = rms_norm_forward(
            x, weight, eps, self.offset, self.casting_mode, None
        )
        return output, Saved((kept, weight, inverse), (block, warps, mode))

    def backward(self, grad: Tensor, saved: Saved) -> tuple[Tensor, ...]:
        from liger_kernel.ops.rms_norm import rms_norm_backward

        block, warps, mode = saved.note
        return rms_norm_backward(grad, *saved.tensors, self.offset, mode, block, warps, False, None)


@dataclass
class AscendNorm:
    offset: float = 0.0

    def forward(self, x: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Saved]:
        import torch_npu

        output, inverse = torch_npu.npu_rms_norm(x, weight + self.offset, eps)
        return output, Saved((x, weight, inverse))

    def backward(self, grad: Tensor, saved: Saved) -> tuple[Tensor, ...]:
        import torch_npu

        x, weight, inverse = saved.tensors
        return torch_npu.npu_rms_norm_backward(grad, x, weight + self.offset, inverse)


def _build_norm(variant: str, impl_name: str) -> Wrapper:
    offset = 1.0 if variant == "qwen3_5" else 0.0
    if impl_name == "eager":
        return PlainNorm(offset)
    if impl_name == "liger_kernel":
        if variant == "qwen3_5":
            return LigerNorm(offset, "gemma")
        return LigerNorm(offset, "llama")
    if impl_name == "npu":
        if not IS_NPU_AVAILABLE:
            raise RuntimeError("the npu wrapper of rms_norm needs an NPU")
        return AscendNorm(offset)
    raise KeyError(f"no rms_norm wrapper {impl_name!r} for {variant!r}")


class PlainRotary:
    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Saved]:
        left, right = x.chunk(2, dim=-1)
        return x * cos + torch.cat((-right, left), dim=-1) * sin, Saved((cos, sin))

    def backward(self, grad: Tensor, saved: Saved) -> tuple[Tensor, ...]:
        cos, sin = saved.tensors
        left, right = (grad * sin).chunk(2, dim=-1)
        return (grad * cos + torch.cat((right, -left), dim=-1),)


class LigerRotary:
    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Saved]:
        from liger_kernel.ops.rope import rope_forward

        turned, _, kept_cos, kept_sin = rope_forward(x, x[:, :1].clone(), cos, sin)
        return turned, Saved((kept_cos, kept_sin))

    def backward(self, grad: Tensor, saved: Saved) -> tuple[Tensor, ...]:
        from liger_kernel.ops.rope import rope_backward

        turned, _ = rope_backward(grad, grad[:, :1].clone(), *saved.tensors)
        return (turned,)


class AscendRotary:
    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Saved]:
        import torch_npu

        return torch_npu.npu_rotary_mul(x, cos, sin), Saved((cos, sin))

    def backward(self, grad: Tensor, saved: Saved) -> tuple[Tensor, ...]:
        return PlainRotary().backward(grad, saved)


def _build_rotary(variant: str, impl_name: str) -> Wrapper:
    if variant != "full":
        raise KeyError(f"no rotary_pos_emb wrapper for {variant!r}")
    if impl_name == "eager":
        return PlainRotary()
    if impl_name == "liger_kernel":
        return LigerRotary()
    if impl_name == "npu":
        if not IS_NPU_AVAILABLE:
            raise RuntimeError("the npu wrapper of rotary_pos_emb needs an NPU")
        return AscendRotary()
    raise KeyError(f"no rotary_pos_emb wrapper {impl_name!r}")


_BUILDERS: dict[str, Callable[[str, str], Wrapper]] = {
    "rms_norm": _build_norm,
    "rotary_pos_emb": _build_rotary,
}

_SUPPORTED_IMPLEMENTATIONS: dict[str, frozenset[str]] = {
    "rms_norm": frozenset({"eager", "liger_kernel", "npu"}),
    "rotary_pos_emb": frozenset({"eager", "liger_kernel", "npu"}),
}

_SUPPORTED_VARIANTS: dict[str, frozenset[str]] = {
    "rms_norm": frozenset({"standard", "qwen3_5"}),
    "rotary_pos_emb": frozenset({"full"}),
}

_DEFAULT_VARIANTS: dict[str, str] = {
    "rms_norm": "standard",
    "rotary_pos_emb": "full",
}

_CONFIG_FIELDS: dict[str, str] = {
    "rms_norm": "rms_norm_implementation",
    "rotary_pos_emb": "rotary_pos_emb_implementation",
}


def _op_and_variant(op: str | tuple[str, str]) -> tuple[str, str]:
    if isinstance(op, tuple):
        return op
    if op not in _DEFAULT_VARIANTS:
        raise KeyError(f"no wrapper for {op!r}")
    return op, _DEFAULT_VARIANTS[op]


def get_op_wrapper(op_name: str | tuple[str, str], variant: str | None = None) -> Wrapper:
    op_name, variant = _op_and_variant(op_name if variant is None else (op_name, variant))
    config = get_ops_config()
    impl_name = "eager" if config is None else getattr(config, _CONFIG_FIELDS[op_name])
    if impl_name not in _SUPPORTED_IMPLEMENTATIONS[op_name]:
        raise KeyError(f"no {op_name} wrapper for the implementation {impl_name!r}")
    if variant not in _SUPPORTED_VARIANTS[op_name]:
        raise KeyError(f"no {op_name} wrapper for the variant {variant!r}")
    return _BUILDERS[op_name](variant, impl_name)
'''

COMPOUND_TEXT = '''\
"""Projection, norm and rotary embedding in one autograd function, so that their communication overlaps."""

import torch
import torch.nn.functional as F

from .op_wrappers import get_op_wrapper


class NormedProjection(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, weight, norm_weight, cos, sin, eps):
        projected = F.linear(hidden, weight)
        norm = get_op_wrapper("rms_norm")
        normed, ctx.norm_saved = norm.forward(projected, norm_weight, eps)
        rotary = get_op_wrapper(("rotary_pos_emb", "full"))
        turned, ctx.rotary_saved = rotary.forward(normed, cos, sin)
        ctx.norm, ctx.rotary = norm, rotary
        ctx.save_for_backward(hidden, weight)
        return turned

    @staticmethod
    def backward(ctx, grad):
        hidden, weight = ctx.saved_tensors
        (grad,) = ctx.rotary.backward(grad, ctx.rotary_saved)
        grad, grad_norm_weight = ctx.norm.backward(grad, ctx.norm_saved)
        return grad @ weight, grad.flatten(0, -2).t() @ hidden.flatten(0, -2), grad_norm_weight, None, None, None


class OffsetNormedProjection(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, norm_weight, eps):
        ctx.norm = get_op_wrapper("rms_norm", "qwen3_5")
        normed, ctx.saved = ctx.norm.forward(hidden, norm_weight, eps)
        return normed

    @staticmethod
    def backward(ctx, grad):
        return *ctx.norm.backward(grad, ctx.saved), None
'''
