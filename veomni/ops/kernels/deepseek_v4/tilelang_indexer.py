"""The indexer of DeepSeek V4 in TileLang: the scores of all heads are added tile by tile, and one sum is stored."""

# Without postponed annotations, because TileLang reads those of its kernels where their names are local.

import tilelang
import tilelang.language as T
import torch
from torch.nn import functional

from ..tilelang_support import check_device, fragment, name_of, parallel, product, shared, tile_of
from .indexer import Gradients, select_keys

_LARGEST_WIDTH = 256


def lightning_indexer_tilelang(
    q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, topk: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """See the eager definition.

    The gradients of keys that several tokens selected are added in no fixed order.

    Raises:
        ValueError: the tensors do not belong together, are wider than a program can hold, or not where the kernels run.
    """
    check_device(q, k, weights)
    return select_keys(q, k, weights, topk, _score, _score_backward)


def _score(q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, scores: torch.Tensor, first: int) -> None:
    heads, width = q.shape[2:]
    exact = q.dtype == torch.float32
    kernel = _score_kernel(
        heads, width, name_of(q), name_of(weights),
        TOKENS=64, KEYS=64 if exact else 128, WIDTH=tile_of(width, 32, _LARGEST_WIDTH),
        stages=1 if exact else 2, threads=256 if exact else 128,
    )  # fmt: skip
    kernel(q, k, weights, first, scores)


def _score_backward(
    grad: torch.Tensor, q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, indices: torch.Tensor
) -> Gradients:
    heads, width = q.shape[2:]
    tall = heads > 16 and q.dtype != torch.float32
    keys = 64 if tall else 32
    missing = -indices.shape[-1] % keys
    kernel = _score_backward_kernel(
        heads, width, name_of(q), name_of(weights),
        HEADS=64 if tall else 16, WIDTH=tile_of(width, 32, _LARGEST_WIDTH), KEYS=keys, stages=2, threads=128,
    )  # fmt: skip
    dq, dweights = torch.empty_like(q), torch.empty_like(weights)
    dk = torch.zeros_like(k, dtype=torch.float32)
    grad = functional.pad(grad, (0, missing))
    kernel(grad, q, k, weights, functional.pad(indices.int(), (0, missing), value=-1), dq, dk, dweights)
    return dq, dk.to(k.dtype), dweights


# A program has one group of warps: half of its threads as producers would leave the other half too few registers.
@tilelang.jit(pass_configs={tilelang.PassConfigKey.TL_DISABLE_WARP_SPECIALIZED: True})
def _score_kernel(heads, width, dtype, weight_dtype, TOKENS, KEYS, WIDTH, stages, threads):
    multiply = product(dtype)
    batch, keys = T.dynamic("batch, keys", "int64")
    tokens, rows = T.dynamic("tokens, rows")

    @T.prim_func
    def score(
        q: T.Tensor((batch, tokens, heads, width), dtype),
        k: T.Tensor((batch, keys, width), dtype),
        weights: T.Tensor((batch, tokens, heads), weight_dtype),
        start: T.int32,
        scores: T.Tensor((batch, rows, keys), T.float32),
    ):
        with T.Kernel(T.ceildiv(keys, KEYS), T.ceildiv(rows, TOKENS), batch, threads=threads) as (x, y, item):
            first_key, first_row = x * KEYS, y * TOKENS
            first = start + first_row
            q_tile = shared((TOKENS, WIDTH), dtype)
            k_tile = shared((KEYS, WIDTH), dtype)
            weight_tile = shared((TOKENS, heads), T.float32)
            products, total = fragment((TOKENS, KEYS), T.float32), fragment((TOKENS, KEYS), T.float32)

            T.clear(total)
            # Tiles above the diagonal are hidden as a whole.
            if first_key < first + TOKENS:
                T.copy(k[item, first_key, 0], k_tile)
                T.copy(weights[item, first, 0], weight_tile)
                for head in T.Pipelined(heads, num_stages=stages):
                    T.copy(q[item, first : first + TOKENS, head, 0:WIDTH], q_tile)
                    T.clear(products)
                    multiply(q_tile, k_tile, products, transpose_B=True)
                    for i, j in parallel(TOKENS, KEYS):
                        # Not T.max, which loses NaN.
                        total[i, j] += T.if_then_else(products[i, j] < 0, 0.0, products[i, j]) * weight_tile[i, head]
            for i, j in parallel(TOKENS, KEYS):
                total[i, j] = T.if_then_else(first_key + j <= first + i, total[i, j], -T.infinity(T.float32))
            T.copy(total, scores[item, first_row, first_key])

    return score


@tilelang.jit
def _score_backward_kernel(heads, width, dtype, weight_dtype, HEADS, WIDTH, KEYS, stages, threads):
    multiply = product(dtype)
    batch, tokens = T.dynamic("batch, tokens", "int64")
    selected = T.dynamic("selected")

    @T.prim_func
    def score_backward(
        grad: T.Tensor((batch, tokens, selected), T.float32),
        q: T.Tensor((batch, tokens, heads, width), dtype),
        k: T.Tensor((batch, tokens, width), dtype),
        weights: T.Tensor((batch, tokens, heads), weight_dtype),
        indices: T.Tensor((batch, tokens, selected), T.int32),
        dq: T.Tensor((batch, tokens, heads, width), dtype),
        dk: T.Tensor((batch, tokens, width), T.float32),
        dweights: T.Tensor((batch, tokens, heads), weight_dtype),
    ):
        with T.Kernel(tokens, T.ceildiv(heads, HEADS), batch, threads=threads) as (token, block, item):
            first = block * HEADS
            q_tile = shared((HEADS, WIDTH), dtype)
            k_tile = shared((KEYS, WIDTH), dtype)
            dproducts = shared((HEADS, KEYS), dtype)
            products, dscores = fragment((HEADS, KEYS), T.float32), fragment((HEADS, KEYS), T.float32)
            weight, dweight = fragment((HEADS,), T.float32), fragment((HEADS,), T.float32)
            dq_tile, dk_tile = fragment((HEADS, WIDTH), T.float32), fragment((KEYS, WIDTH), T.float32)

            T.copy(q[item, token, first, 0], q_tile)
            for h in parallel(HEADS):
                weight[h] = T.if_then_else(first + h < heads, T.cast(weights[item, token, first + h], T.float32), 0.0)
            T.clear(dq_tile)
            T.clear(dweight)
            for i in T.Pipelined(T.ceildiv(selected, KEYS), num_stages=stages):
                for j, d in parallel(KEYS, WIDTH):
                    # A row outside, as -1 is, is read as zeros.
                    k_tile[j, d] = k[item, indices[item, token, i * KEYS + j], d]
                T.clear(products)
                multiply(q_tile, k_tile, products, transpose_B=True)
                for h, j in parallel(HEADS, KEYS):
                    dscores[h, j] = T.if_then_else(products[h, j] > 0, grad[item, token, i * KEYS + j], 0.0)
                    products[h, j] *= dscores[h, j]
                    dscores[h, j] *= weight[h]
                T.reduce_sum(products, dweight, dim=1, clear=False)
                T.copy(dscores, dproducts)
                T.clear(dk_tile)
                multiply(dproducts, q_tile, dk_tile, transpose_A=True)
                for j, d in parallel(KEYS, WIDTH):
                    if indices[item, token, i * KEYS + j] >= 0 and d < width:
                        T.atomic_add(dk[item, indices[item, token, i * KEYS + j], d], dk_tile[j, d])
                # Last, because TileLang pipelines a loop of unknown length only if it ends with a use of what it loads.
                multiply(dproducts, k_tile, dq_tile)
            T.copy(dq_tile, dq[item, token, first, 0])
            for h in parallel(HEADS):
                if first + h < heads:
                    dweights[item, token, first + h] = dweight[h]

    return score_backward
