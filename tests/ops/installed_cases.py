"""What each op is compared on with every kernel that is installed: sizes that fill no tile, for each op and variant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from torch.nn import functional

from kernel_cases import DEVICE, random
from veomni.ops.kernels.cross_entropy import eager as cross_entropy
from veomni.ops.kernels.deepseek_sparse_attention import eager as sparse
from veomni.ops.kernels.deepseek_v4 import eager as deepseek_v4
from veomni.ops.kernels.gated_delta_rule import eager as gated
from veomni.ops.kernels.load_balancing_loss import eager as load_balancing
from veomni.ops.kernels.mhc import eager as mhc
from veomni.ops.kernels.moe import eager as moe
from veomni.ops.kernels.rms_norm import eager as rms_norm
from veomni.ops.kernels.rotary import eager as rotary
from veomni.ops.kernels.swiglu import eager as swiglu

Function = Callable[..., Any]


def _unchanged(function: Function) -> Function:
    return function


@dataclass(frozen=True)
class Case:
    """One call: *definition* with *arguments* and *options* is what a kernel must equal.

    ``adapt`` gives a kernel the signature of the definition. With ``both`` the definition is adapted as well.
    """

    definition: Function
    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)
    adapt: Callable[[Function], Function] = _unchanged
    both: bool = False
    tolerance: float = 4.0

    def adapt_definition(self) -> Function:
        """The definition as it is compared."""
        return self.adapt(self.definition) if self.both else self.definition


Cases = Callable[[torch.dtype], Iterator[Case]]


def _rms_norm(definition: Function, weighted: bool) -> Cases:
    def cases(dtype: torch.dtype) -> Iterator[Case]:
        for shape in ((3, 5, 96), (37, 4100)):
            weight = (random(shape[-1], dtype=dtype, seed=1),) if weighted else ()
            yield Case(definition, (random(*shape, dtype=dtype), *weight, 1e-6))

    return cases


def _rotary(definition: Function, columns: int) -> Cases:
    def cases(dtype: torch.dtype) -> Iterator[Case]:
        frequencies = 100.0 ** -torch.arange(0, 1, 2 / columns, device=DEVICE)
        for positions in (torch.arange(7)[None], torch.stack((torch.arange(7), torch.arange(3, 10)))):
            angles = rotary.rotary_angles_eager(frequencies, positions.to(DEVICE), 1.0)
            q, k = (random(2, heads, 7, 24, dtype=dtype, seed=heads) for heads in (3, 1))
            yield Case(definition, (q, k, *(x.to(dtype) for x in angles)))

    return cases


def _swiglu(dtype: torch.dtype) -> Iterator[Case]:
    def adapt(mlp: Function) -> Function:
        def run(x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
            names = ("gate_proj", "up_proj", "down_proj")
            weights = zip(names, (gate, up, down), strict=True)
            return mlp(SimpleNamespace(**{name: partial(functional.linear, weight=w) for name, w in weights}), x)

        return run

    def definition(mlp: Any, x: torch.Tensor) -> torch.Tensor:
        return mlp.down_proj(swiglu.silu_mul_eager(mlp.gate_proj(x), mlp.up_proj(x)))

    weights = [random(*shape, dtype=dtype, seed=i, scale=0.2) for i, shape in enumerate([(44, 24), (44, 24), (24, 44)])]
    yield Case(definition, (random(3, 5, 24, dtype=dtype, seed=3), *weights), adapt=adapt, both=True)


def _cross_entropy(definition: Function) -> Cases:
    def cases(dtype: torch.dtype) -> Iterator[Case]:
        labels = torch.randint(77, (2, 19), generator=torch.Generator().manual_seed(9))
        labels[0, :3] = -100
        yield Case(
            definition,
            (random(2, 19, 24, dtype=dtype), random(77, 24, dtype=dtype, seed=1, scale=0.2), labels.to(DEVICE)),
        )

    return cases


def _load_balancing(dtype: torch.dtype) -> Iterator[Case]:
    def adapt(loss: Function) -> Function:
        return lambda logits, *rest: loss(logits.chunk(2), *rest)

    yield Case(load_balancing.load_balancing_loss_eager, (random(90, 5, dtype=dtype), 5, 2), adapt=adapt, both=True)


def _chosen() -> torch.Tensor:
    """Two of the first four experts for each of 37 tokens; a fifth one is unused."""
    return torch.rand(37, 4, generator=torch.Generator().manual_seed(3)).argsort(-1)[:, :2].to(DEVICE)


def _experts(dtype: torch.dtype) -> Iterator[Case]:
    def adapt(kernel: Function) -> Function:
        return lambda x, index, weights, gate_up, down, limit: kernel(
            SimpleNamespace(gate_up_proj=gate_up, down_proj=down, limit=limit), x, index, weights
        )

    # A limit that few rows reach: beside it a gradient jumps, and rounding decides on which side a row is.
    for limit in (3.5, None):
        yield Case(
            moe.moe_experts_eager,
            (
                random(37, 24, dtype=dtype), _chosen(), random(37, 2, dtype=dtype, seed=1),
                random(5, 80, 24, dtype=dtype, seed=2, scale=0.2), random(5, 24, 40, dtype=dtype, seed=3, scale=0.2),
                limit,
            ),
            adapt=adapt,
        )  # fmt: skip


def _experts_gpt_oss(dtype: torch.dtype) -> Iterator[Case]:
    names = ("gate_up_proj", "gate_up_proj_bias", "down_proj", "down_proj_bias", "alpha", "limit")

    def adapt(kernel: Function) -> Function:
        return lambda x, index, weights, *rest: kernel(
            SimpleNamespace(**dict(zip(names, rest, strict=True))), x, index, weights
        )

    yield Case(
        moe.moe_experts_gpt_oss_eager,
        (
            random(37, 24, dtype=dtype), _chosen(), random(37, 2, dtype=dtype, seed=1),
            random(5, 24, 80, dtype=dtype, seed=2, scale=0.2), random(5, 80, dtype=dtype, seed=4),
            random(5, 40, 24, dtype=dtype, seed=3, scale=0.2), random(5, 24, dtype=dtype, seed=5),
            1.702, 5.0,
        ),
        adapt=adapt,
    )  # fmt: skip


def _packed(tokens: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """A batch of two, and sequences of which one is a single token packed into one row."""
    yield 2, {}
    yield 1, {"cu_seqlens": torch.tensor([0, 5, 6, tokens], device=DEVICE)}


def _gated_norm(dtype: torch.dtype) -> Iterator[Case]:
    x, gate = random(3, 5, 60, dtype=dtype), random(3, 5, 60, dtype=dtype, seed=1)
    yield Case(gated.rms_norm_gated_eager, (x, gate, random(60, dtype=dtype, seed=2), 1e-6))


def _convolution(dtype: torch.dtype) -> Iterator[Case]:
    for batch, options in _packed(75):
        x, weight = random(batch, 75, 40, dtype=dtype), random(40, 4, dtype=dtype, seed=1)
        yield Case(gated.causal_conv1d_eager, (x, weight, random(40, dtype=dtype, seed=2)), options)
        yield Case(gated.causal_conv1d_eager, (x, weight), options)


def _delta_rule(dtype: torch.dtype) -> Iterator[Case]:
    for batch, options in _packed(75):
        q, k, v = (random(batch, 75, 2, 64, dtype=dtype, seed=seed) for seed in range(3))
        g = functional.logsigmoid(random(batch, 75, 2, seed=3)).detach().requires_grad_()
        beta = torch.sigmoid(random(batch, 75, 2, dtype=dtype, seed=4)).detach().requires_grad_()
        yield Case(gated.chunk_gated_delta_rule_eager, (q, k, v, g, beta), options)


def _streams(dtype: torch.dtype) -> torch.Tensor:
    return random(1, 3, 4, 64, dtype=dtype)


def _mhc_pre(dtype: torch.dtype) -> Iterator[Case]:
    mixes = random(24, 256, seed=1, scale=0.1), random(3, seed=2), random(24, seed=3)
    yield Case(mhc.mhc_pre_eager, (_streams(dtype), *mixes, 1e-6, 3, 1e-6))


def _mhc_post(dtype: torch.dtype) -> Iterator[Case]:
    mixes = random(1, 3, 4, seed=5), random(1, 3, 4, 4, seed=6)
    yield Case(mhc.mhc_post_eager, (random(1, 3, 64, dtype=dtype, seed=4), _streams(dtype), *mixes))


def _mhc_head(dtype: torch.dtype) -> Iterator[Case]:
    mixes = random(4, 256, seed=1, scale=0.1), random(1, seed=2), random(4, seed=3)
    yield Case(mhc.mhc_head_eager, (_streams(dtype), *mixes, 1e-6, 1e-6))


def _selected(tokens: int, keys: int, count: int) -> torch.Tensor:
    """Distinct keys for each token of a batch of two, some of them missing."""
    indices = torch.rand(2, tokens, keys, generator=torch.Generator().manual_seed(3)).argsort(-1)[..., :count]
    indices[:, 1::2, 0] = -1
    return indices.to(DEVICE)


def _sparse_attention(dtype: torch.dtype) -> Iterator[Case]:
    q, kv = random(2, 3, 64, 576, dtype=dtype), random(2, 150, 576, dtype=dtype, seed=1)
    yield Case(sparse.dsa_attention_eager, (q, kv, _selected(3, 150, 70), 512, 0.05))


def _v4_attention(dtype: torch.dtype) -> Iterator[Case]:
    q, kv = random(2, 3, 4, 16, dtype=dtype), random(2, 40, 16, dtype=dtype, seed=1)
    yield Case(deepseek_v4.sparse_attention_with_sink_eager, (q, kv, random(4, seed=2), _selected(3, 40, 35), 0.3))


def _v4_indexer(dtype: torch.dtype) -> Iterator[Case]:
    def adapt(indexer: Function) -> Function:
        def scores_by_key(q: torch.Tensor, k: torch.Tensor, weights: torch.Tensor, topk: int) -> torch.Tensor:
            # The order of equal scores is open, their keys are not.
            scores, indices = indexer(q, k, weights, topk)
            known = torch.where(indices < 0, 0.0, scores)
            return known.new_zeros(*q.shape[:2], k.shape[1]).scatter_add(-1, indices.clamp(min=0), known)

        return scores_by_key

    q, k = random(2, 70, 3, 20, dtype=dtype), random(2, 70, 20, dtype=dtype, seed=1)
    yield Case(
        deepseek_v4.lightning_indexer_eager, (q, k, random(2, 70, 3, dtype=dtype, seed=2), 16), adapt=adapt, both=True
    )


CASES: dict[tuple[str, str], Cases] = {
    ("causal_conv1d", "standard"): _convolution,
    ("chunk_gated_delta_rule", "standard"): _delta_rule,
    ("cross_entropy_loss", "causal"): _cross_entropy(cross_entropy.causal_lm_loss_eager),
    ("cross_entropy_loss", "seq_cls"): _cross_entropy(cross_entropy.seq_cls_loss_eager),
    ("dsa_attention", "standard"): _sparse_attention,
    ("load_balancing_loss", "standard"): _load_balancing,
    ("mhc", "head"): _mhc_head,
    ("mhc", "post"): _mhc_post,
    ("mhc", "pre"): _mhc_pre,
    ("moe_experts", "gpt_oss"): _experts_gpt_oss,
    ("moe_experts", "standard"): _experts,
    ("rms_norm", "qwen3_5"): _rms_norm(rms_norm.rms_norm_qwen3_5_eager, weighted=True),
    ("rms_norm", "standard"): _rms_norm(rms_norm.rms_norm_eager, weighted=True),
    ("rms_norm", "unweighted"): _rms_norm(rms_norm.rms_norm_unweighted_eager, weighted=False),
    ("rms_norm_gated", "standard"): _gated_norm,
    ("rotary_pos_emb", "full"): _rotary(rotary.rotary_pos_emb_eager, 24),
    ("rotary_pos_emb", "partial"): _rotary(rotary.rotary_pos_emb_partial_eager, 10),
    ("swiglu_mlp", "standard"): _swiglu,
    ("v4_indexer", "standard"): _v4_indexer,
    ("v4_sparse_attention", "standard"): _v4_attention,
}
