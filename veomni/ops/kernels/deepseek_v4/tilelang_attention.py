"""The sparse attention of DeepSeek V4 in TileLang: a program holds the heads of one token and gathers its keys."""

# Without postponed annotations, because TileLang reads those of its kernels where their names are local.

from typing import Any

import tilelang
import tilelang.language as T
import torch
from torch.nn import functional

from ..tilelang_support import LOG2E, check_device, fragment, name_of, parallel, product, shared, tile_of
from .shapes import check_shapes

_LARGEST_WIDTH = 512
_KEYS = 64
_LOWEST = -1e30


def sparse_attention_with_sink_tilelang(
    q: torch.Tensor, kv: torch.Tensor, sink: torch.Tensor, indices: torch.Tensor, scale: float
) -> torch.Tensor:
    """See the eager definition.

    The gradients of keys that several tokens selected are added in no fixed order. An index beyond the keys names none.

    Raises:
        ValueError: *q* and *kv* differ in dtype or width, or are wider than a program can hold; *sink* or *indices* do
            not fit *q*.
    """
    check_shapes(q, kv, sink, indices)
    return _SparseAttention.apply(q, kv, sink, indices, scale)


class _SparseAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: torch.Tensor, kv: torch.Tensor, sink: torch.Tensor, indices: torch.Tensor, scale: float
    ) -> torch.Tensor:
        check_device(q, kv, sink, indices)
        q, kv = q.contiguous(), kv.contiguous()
        indices = indices.masked_fill(indices >= kv.shape[1], -1).int()
        indices = functional.pad(indices, (0, -indices.shape[-1] % _KEYS), value=-1)
        output = torch.empty_like(q)
        lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
        if q.numel():
            keys, stages = (_KEYS, 1) if _tall(q) else (_KEYS // 2, 2)
            kernel = _forward(*q.shape[2:], name_of(q), **_tiles(q), KEYS=keys, stages=stages)
            kernel(q, kv, sink.float().contiguous(), indices, scale, output, lse)
        ctx.save_for_backward(q, kv, sink, indices, output, lse)
        ctx.scale = scale
        return output

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        q, kv, sink, indices, output, lse = ctx.saved_tensors
        grad = grad.contiguous()
        delta = (grad.float() * output.float()).sum(-1)
        dq = torch.empty_like(q)
        dkv = torch.zeros_like(kv, dtype=torch.float32)
        if q.numel():
            kernel = _backward(*q.shape[2:], name_of(q), **_tiles(q), KEYS=_KEYS // 2, stages=2)
            kernel(grad, q, kv, indices, lse, delta, ctx.scale, dq, dkv)
        dsink = -((sink.float() * LOG2E - lse).exp2() * delta).flatten(0, 1).sum(0)
        return dq, dkv.to(kv.dtype), dsink.to(sink.dtype), None, None


def _tall(q: torch.Tensor) -> bool:
    """Whether a program holds many heads, so that few programs read the same keys; float32 leaves no room for that."""
    return q.shape[2] > 16 and q.dtype != torch.float32


def _tiles(q: torch.Tensor) -> dict[str, int]:
    tall = _tall(q)
    width = tile_of(q.shape[-1], 32, _LARGEST_WIDTH)
    return {"HEADS": 64 if tall else 16, "WIDTH": width, "threads": 256 if tall else 128}


@tilelang.jit
def _forward(heads, width, dtype, HEADS, WIDTH, threads, KEYS, stages):
    multiply = product(dtype)
    batch, tokens, keys = T.dynamic("batch, tokens, keys", "int64")
    selected = T.dynamic("selected")

    @T.prim_func
    def attend(
        q: T.Tensor((batch, tokens, heads, width), dtype),
        kv: T.Tensor((batch, keys, width), dtype),
        sink: T.Tensor((heads,), T.float32),
        indices: T.Tensor((batch, tokens, selected), T.int32),
        scale: T.float32,
        output: T.Tensor((batch, tokens, heads, width), dtype),
        lse: T.Tensor((batch, tokens, heads), T.float32),
    ):
        with T.Kernel(tokens, T.ceildiv(heads, HEADS), batch, threads=threads) as (token, block, item):
            first = block * HEADS
            q_tile = shared((HEADS, WIDTH), dtype)
            kv_tile = shared((KEYS, WIDTH), dtype)
            weights = shared((HEADS, KEYS), dtype)
            scores = fragment((HEADS, KEYS), T.float32)
            total_output = fragment((HEADS, WIDTH), T.float32)
            highest, before = fragment((HEADS,), T.float32), fragment((HEADS,), T.float32)
            total, added = fragment((HEADS,), T.float32), fragment((HEADS,), T.float32)

            T.copy(q[item, token, first, 0], q_tile)
            T.clear(total_output)
            # The sink is a first key that has a score and no value. Scores are to the base of two. The highest is kept
            # finite, as an infinite sink may come before keys that do not exist.
            for h in parallel(HEADS):
                before[h] = T.if_then_else(first + h < heads, sink[first + h] * LOG2E, 0.0)
                highest[h] = T.max(before[h], _LOWEST)
                total[h] = T.exp2(before[h] - highest[h])
            for i in T.Pipelined(T.ceildiv(selected, KEYS), num_stages=stages):
                for k, d in parallel(KEYS, WIDTH):
                    # A row outside, as -1 is, is read as zeros.
                    kv_tile[k, d] = kv[item, indices[item, token, i * KEYS + k], d]
                T.clear(scores)
                multiply(q_tile, kv_tile, scores, transpose_B=True)
                for h, k in parallel(HEADS, KEYS):
                    scores[h, k] = T.if_then_else(
                        indices[item, token, i * KEYS + k] >= 0,
                        scores[h, k] * (scale * LOG2E),
                        -T.infinity(T.float32),
                    )
                T.copy(highest, before)
                T.reduce_max(scores, highest, dim=1, clear=False)
                for h, k in parallel(HEADS, KEYS):
                    scores[h, k] = T.exp2(scores[h, k] - highest[h])
                T.reduce_sum(scores, added, dim=1)
                for h in parallel(HEADS):
                    before[h] = T.exp2(before[h] - highest[h])
                    total[h] = total[h] * before[h] + added[h]
                for h, d in parallel(HEADS, WIDTH):
                    total_output[h, d] *= before[h]
                T.copy(scores, weights)
                multiply(weights, kv_tile, total_output)
            for h, d in parallel(HEADS, WIDTH):
                total_output[h, d] /= total[h]
            T.copy(total_output, output[item, token, first, 0])
            for h in parallel(HEADS):
                if first + h < heads:
                    lse[item, token, first + h] = highest[h] + T.log2(total[h])

    return attend


@tilelang.jit
def _backward(heads, width, dtype, HEADS, WIDTH, threads, KEYS, stages):
    multiply = product(dtype)
    batch, tokens, keys = T.dynamic("batch, tokens, keys", "int64")
    selected = T.dynamic("selected")

    @T.prim_func
    def attend_backward(
        grad: T.Tensor((batch, tokens, heads, width), dtype),
        q: T.Tensor((batch, tokens, heads, width), dtype),
        kv: T.Tensor((batch, keys, width), dtype),
        indices: T.Tensor((batch, tokens, selected), T.int32),
        lse: T.Tensor((batch, tokens, heads), T.float32),
        delta: T.Tensor((batch, tokens, heads), T.float32),
        scale: T.float32,
        dq: T.Tensor((batch, tokens, heads, width), dtype),
        dkv: T.Tensor((batch, keys, width), T.float32),
    ):
        with T.Kernel(tokens, T.ceildiv(heads, HEADS), batch, threads=threads) as (token, block, item):
            first = block * HEADS
            q_tile, grad_tile = shared((HEADS, WIDTH), dtype), shared((HEADS, WIDTH), dtype)
            kv_tile = shared((KEYS, WIDTH), dtype)
            weights, dscores = shared((HEADS, KEYS), dtype), shared((HEADS, KEYS), dtype)
            scores, dweights = fragment((HEADS, KEYS), T.float32), fragment((HEADS, KEYS), T.float32)
            dq_tile, dkv_tile = fragment((HEADS, WIDTH), T.float32), fragment((KEYS, WIDTH), T.float32)

            T.copy(q[item, token, first, 0], q_tile)
            T.copy(grad[item, token, first, 0], grad_tile)
            T.clear(dq_tile)
            for i in T.Pipelined(T.ceildiv(selected, KEYS), num_stages=stages):
                for k, d in parallel(KEYS, WIDTH):
                    kv_tile[k, d] = kv[item, indices[item, token, i * KEYS + k], d]
                T.clear(scores)
                multiply(q_tile, kv_tile, scores, transpose_B=True)
                T.clear(dweights)
                multiply(grad_tile, kv_tile, dweights, transpose_B=True)
                for h, k in parallel(HEADS, KEYS):
                    scores[h, k] = T.if_then_else(
                        indices[item, token, i * KEYS + k] >= 0 and first + h < heads,
                        T.exp2(scores[h, k] * (scale * LOG2E) - lse[item, token, first + h]),
                        0.0,
                    )
                T.copy(scores, weights)
                for h, k in parallel(HEADS, KEYS):
                    dweights[h, k] = scores[h, k] * (dweights[h, k] - delta[item, token, first + h]) * scale
                T.copy(dweights, dscores)
                # As keys these rows get one part of the gradient, as values the other.
                T.clear(dkv_tile)
                multiply(dscores, q_tile, dkv_tile, transpose_A=True)
                multiply(weights, grad_tile, dkv_tile, transpose_A=True)
                for k, d in parallel(KEYS, WIDTH):
                    if indices[item, token, i * KEYS + k] >= 0 and d < width:
                        T.atomic_add(dkv[item, indices[item, token, i * KEYS + k], d], dkv_tile[k, d])
                # Last, because TileLang pipelines a loop of unknown length only if it ends with a use of what it loads.
                multiply(dscores, kv_tile, dq_tile)
            T.copy(dq_tile, dq[item, token, first, 0])

    return attend_backward
