"""How a kernel is compared with its eager definition, forward and gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import torch

from veomni.ops import KernelSpec
from veomni.ops.examples import Example, Inputs
from veomni.utils.device import get_device_type

DTYPES = [torch.float32, torch.bfloat16, torch.float16]
DEVICE = get_device_type()

_TOLERANCE = {torch.float32: 2e-5, torch.bfloat16: 1.6e-2, torch.float16: 2e-3, torch.float64: 1e-10}


def random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0, scale: float = 1.0) -> torch.Tensor:
    """A leaf tensor of normal random numbers that wants a gradient."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(*shape, generator=generator) * scale).to(DEVICE, dtype).requires_grad_()


def examples_of(spec: KernelSpec, dtype: torch.dtype) -> Iterator[Example]:
    """The examples that the folder of an op declares for a kernel."""
    table = import_module(f"{spec.factory.__module__}.examples").EXAMPLES
    yield from table[spec.op_name, spec.variant](Inputs(DEVICE, dtype))


def check(
    kernel: Callable[..., Any], definition: Callable[..., Any], *arguments: Any, tolerance: float = 1.0, **options: Any
) -> None:
    """Assert that *kernel* gives the outputs and gradients of *definition* computed in float32.

    The errors allowed are those of rounding to the dtype of the arguments, relative to the largest value of each
    result; *tolerance* multiplies them.
    """
    got, got_gradients = _run(kernel, arguments, options)
    precise = [x.detach().float().requires_grad_(x.requires_grad) if _is_float(x) else x for x in arguments]
    expected, expected_gradients = _run(definition, precise, options)
    allowed = max(_TOLERANCE[x.dtype] for x in arguments if _is_float(x)) * tolerance
    assert len(got) == len(expected)
    assert len(got_gradients) == len(expected_gradients)
    for mine, reference in zip(got + got_gradients, expected + expected_gradients, strict=True):
        assert mine.shape == reference.shape
        error = (mine.float() - reference.float()).abs()
        scale = max(1.0, reference.float().abs().max().item()) if reference.numel() else 1.0
        assert not error.isnan().any(), "the kernel left an element unwritten or computed NaN"
        assert error.max().item() <= allowed * scale if error.numel() else True


def _run(
    function: Callable[..., Any], arguments: Sequence[Any], options: dict[str, Any]
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    result = function(*arguments, **options)
    outputs = list(result) if isinstance(result, tuple) else [result]
    wanted = [x for x in arguments if isinstance(x, torch.Tensor) and x.requires_grad]
    differentiable = [x for x in outputs if x.requires_grad]
    if not wanted or not differentiable:
        return [x.detach() for x in outputs], []
    seeds = [
        torch.randn(x.shape, generator=torch.Generator().manual_seed(7 + i)).to(x.device, x.dtype)
        for i, x in enumerate(differentiable)
    ]
    return [x.detach() for x in outputs], list(torch.autograd.grad(differentiable, wanted, seeds))


def _is_float(x: Any) -> bool:
    return isinstance(x, torch.Tensor) and x.is_floating_point()
