"""Example inputs of RMSNorm: sizes that fill no tile."""

from __future__ import annotations

from collections.abc import Iterator

from ...examples import Example, Examples, Function, Inputs
from . import eager


def _rms_norm(definition: Function, weighted: bool) -> Examples:
    def examples(inputs: Inputs) -> Iterator[Example]:
        for shape in ((3, 5, 96), (37, 4100)):
            weight = (inputs.random(shape[-1], seed=1),) if weighted else ()
            yield Example(definition, (inputs.random(*shape), *weight, 1e-6))

    return examples


EXAMPLES: dict[tuple[str, str], Examples] = {
    ("rms_norm", "qwen3_5"): _rms_norm(eager.rms_norm_qwen3_5_eager, weighted=True),
    ("rms_norm", "standard"): _rms_norm(eager.rms_norm_eager, weighted=True),
    ("rms_norm", "unweighted"): _rms_norm(eager.rms_norm_unweighted_eager, weighted=False),
}
