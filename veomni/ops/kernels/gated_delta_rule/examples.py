"""Example inputs of the parts of gated-delta-rule attention: sizes that fill no tile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.nn import functional

from ...examples import Example, Examples, Inputs
from . import eager


def _packed(inputs: Inputs, tokens: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """A batch of two, and sequences of which one is a single token packed into one row."""
    yield 2, {}
    yield 1, {"cu_seqlens": torch.tensor([0, 5, 6, tokens], device=inputs.device)}


def _gated_norm(inputs: Inputs) -> Iterator[Example]:
    x, gate = inputs.random(3, 5, 60), inputs.random(3, 5, 60, seed=1)
    yield Example(eager.rms_norm_gated_eager, (x, gate, inputs.random(60, seed=2), 1e-6))


def _convolution(inputs: Inputs) -> Iterator[Example]:
    for batch, options in _packed(inputs, 75):
        x, weight = inputs.random(batch, 75, 40), inputs.random(40, 4, seed=1)
        yield Example(eager.causal_conv1d_eager, (x, weight, inputs.random(40, seed=2)), options)
        yield Example(eager.causal_conv1d_eager, (x, weight), options)


def _delta_rule(inputs: Inputs) -> Iterator[Example]:
    for batch, options in _packed(inputs, 75):
        q, k, v = (inputs.random(batch, 75, 2, 64, seed=seed) for seed in range(3))
        g = functional.logsigmoid(inputs.random(batch, 75, 2, seed=3, dtype=torch.float32)).detach().requires_grad_()
        beta = torch.sigmoid(inputs.random(batch, 75, 2, seed=4)).detach().requires_grad_()
        yield Example(eager.chunk_gated_delta_rule_eager, (q, k, v, g, beta), options)


EXAMPLES: dict[tuple[str, str], Examples] = {
    ("causal_conv1d", "standard"): _convolution,
    ("chunk_gated_delta_rule", "standard"): _delta_rule,
    ("rms_norm_gated", "standard"): _gated_norm,
}
