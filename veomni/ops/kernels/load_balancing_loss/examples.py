"""Example inputs of the load-balancing loss: sizes that fill no tile."""

from __future__ import annotations

from collections.abc import Iterator

from ...examples import Example, Examples, Function, Inputs
from . import eager


def _load_balancing(inputs: Inputs) -> Iterator[Example]:
    def adapt(loss: Function) -> Function:
        return lambda logits, *rest: loss(logits.chunk(2), *rest)

    yield Example(eager.load_balancing_loss_eager, (inputs.random(90, 5), 5, 2), adapt=adapt, both=True)


EXAMPLES: dict[tuple[str, str], Examples] = {
    ("load_balancing_loss", "standard"): _load_balancing,
}
