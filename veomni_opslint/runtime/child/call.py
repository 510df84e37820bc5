"""A kernel called with the example inputs that its package declares, against the definition declared beside them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

from .errors import describe_error
from .watch import Message

# What rounding to a dtype allows, relative to the largest value of a result.
_ALLOWED = {"torch.float32": 2e-5, "torch.bfloat16": 1.6e-2, "torch.float16": 2e-3, "torch.float64": 1e-10}
_SEED = 7


class Inputs:
    """What makes the inputs of the examples."""

    def __init__(self, torch: Any, device: str, dtype: Any) -> None:
        self.device = device
        self.dtype = dtype
        self._torch = torch

    def random(self, *shape: int, seed: int = 0, scale: float = 1.0, dtype: Any = None) -> Any:
        """A leaf tensor of normal random numbers that wants a gradient, the same on every device."""
        generator = self._torch.Generator().manual_seed(seed)
        values = self._torch.randn(*shape, generator=generator) * scale
        return values.to(self.device, dtype or self.dtype).requires_grad_()


def call_kernel(kernel: Any, spec: Any, request: Message) -> Message:
    """What came of it: ``offered`` is whether there are examples for the kernel."""
    make = _examples(spec, request)
    if make is None:
        return {"offered": False}
    import torch

    device = _device(torch)
    dtype = torch.float32 if device == "cpu" else torch.bfloat16
    result: Message = {"offered": True, "examples": 0, "forward": 0.0, "backward": None, "passed": True}
    result["dtype"] = str(dtype).removeprefix("torch.")
    try:
        for example in make(Inputs(torch, device, dtype)):
            _compare(torch, kernel, example, result)
    except MemoryError:
        raise
    except BaseException as error:
        result.update(passed=False, error=describe_error(error))
    return result


def _examples(spec: Any, request: Message) -> Any:
    """The function of the table for the op and variant, in the folder of the factory; None where there is none."""
    home = sys.modules.get(getattr(spec.factory, "__module__", None) or "")
    if home is None:
        return None
    folder = home.__name__ if hasattr(home, "__path__") else home.__name__.rpartition(".")[0]
    name = f"{folder}.{request['examples_module']}"
    if importlib.util.find_spec(name) is None:
        return None
    table = getattr(importlib.import_module(name), request["examples_table"], {})
    return table.get((spec.op_name, spec.variant))


def _device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    npu = getattr(torch, "npu", None)
    return "npu" if npu is not None and npu.is_available() else "cpu"


def _compare(torch: Any, kernel: Any, example: Any, result: Message) -> None:
    arguments, options = example.arguments, example.options
    floats = [x for x in arguments if isinstance(x, torch.Tensor) and x.is_floating_point()]
    precise = [x.detach().float().requires_grad_(x.requires_grad) if _among(x, floats) else x for x in arguments]
    got, gradients = _run(torch, example.adapt(kernel), arguments, options)
    wanted, wanted_gradients = _run(torch, example.adapt_definition(), precise, options)
    allowed = max((_ALLOWED[str(x.dtype)] for x in floats), default=0.0) * example.tolerance
    if (len(got), len(gradients)) != (len(wanted), len(wanted_gradients)):
        raise ValueError(
            f"the kernel gives {len(got)} results and {len(gradients)} gradients, its definition {len(wanted)} and "
            f"{len(wanted_gradients)}"
        )
    forward = [_error(mine, theirs) for mine, theirs in zip(got, wanted, strict=True)]
    backward = [_error(mine, theirs) for mine, theirs in zip(gradients, wanted_gradients, strict=True)]
    result["examples"] += 1
    result["forward"] = max(result["forward"], *forward)
    if backward:
        result["backward"] = max(result["backward"] or 0.0, *backward)
    result["allowed"] = max(allowed, result.get("allowed", 0.0))
    # A comparison with NaN is false, so it is asked whether every error is within what is allowed.
    result["passed"] = result["passed"] and all(error <= allowed for error in (*forward, *backward))


def _run(torch: Any, function: Any, arguments: Any, options: Any) -> tuple[list[Any], list[Any]]:
    returned = function(*arguments, **options)
    outputs = list(returned) if isinstance(returned, tuple) else [returned]
    leaves = [x for x in arguments if isinstance(x, torch.Tensor) and x.requires_grad]
    differentiable = [x for x in outputs if x.requires_grad]
    gradients: list[Any] = []
    if leaves and differentiable:
        seeds = [
            torch.randn(x.shape, generator=torch.Generator().manual_seed(_SEED + number)).to(x.device, x.dtype)
            for number, x in enumerate(differentiable)
        ]
        gradients = list(torch.autograd.grad(differentiable, leaves, seeds))
    return [x.detach() for x in outputs], gradients


def _error(mine: Any, theirs: Any) -> float:
    """The largest difference relative to the largest value, or to 1 where all are smaller."""
    if mine.shape != theirs.shape:
        raise ValueError(f"a result has the shape {tuple(mine.shape)}, that of the definition {tuple(theirs.shape)}")
    if not theirs.numel():
        return 0.0
    scale = max(1.0, float(theirs.float().abs().max()))
    return float((mine.float() - theirs.float()).abs().max()) / scale


def _among(value: Any, group: list[Any]) -> bool:
    return any(value is one for one in group)
