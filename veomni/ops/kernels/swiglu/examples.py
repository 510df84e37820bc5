"""Example inputs of the SwiGLU MLP: sizes that fill no tile."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from torch.nn import functional

from ...examples import Example, Examples, Function, Inputs
from . import eager


def _swiglu(inputs: Inputs) -> Iterator[Example]:
    def adapt(mlp: Function) -> Function:
        def run(x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
            names = ("gate_proj", "up_proj", "down_proj")
            weights = zip(names, (gate, up, down), strict=True)
            return mlp(SimpleNamespace(**{name: partial(functional.linear, weight=w) for name, w in weights}), x)

        return run

    def definition(mlp: Any, x: torch.Tensor) -> torch.Tensor:
        return mlp.down_proj(eager.silu_mul_eager(mlp.gate_proj(x), mlp.up_proj(x)))

    weights = [inputs.random(*shape, seed=i, scale=0.2) for i, shape in enumerate([(44, 24), (44, 24), (24, 44)])]
    yield Example(definition, (inputs.random(3, 5, 24, seed=3), *weights), adapt=adapt, both=True)


EXAMPLES: dict[tuple[str, str], Examples] = {
    ("swiglu_mlp", "standard"): _swiglu,
}
