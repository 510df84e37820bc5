"""Example inputs of kernels: what each is called with, and the definition that it must equal.

Each op folder has a module ``examples`` with a table ``EXAMPLES`` by (op, variant). ``opslint runtime --call`` and the
tests of the reference package run them on the machine that they are on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

Function = Callable[..., Any]


def _unchanged(function: Function) -> Function:
    return function


@dataclass(frozen=True)
class Example:
    """One call: *definition* with *arguments* and *options* is what a kernel must equal.

    ``adapt`` gives a kernel the signature of the definition. With ``both`` the definition is adapted as well.
    ``tolerance`` multiplies the error that rounding to the dtype of the arguments allows.
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


@dataclass(frozen=True)
class Inputs:
    """Makes the inputs of examples, on a device and in a dtype."""

    device: str
    dtype: torch.dtype

    def random(self, *shape: int, seed: int = 0, scale: float = 1.0, dtype: torch.dtype | None = None) -> torch.Tensor:
        """A leaf tensor of normal random numbers that wants a gradient."""
        generator = torch.Generator().manual_seed(seed)
        values = torch.randn(*shape, generator=generator) * scale
        return values.to(self.device, dtype or self.dtype).requires_grad_()


Examples = Callable[[Inputs], Iterator[Example]]
