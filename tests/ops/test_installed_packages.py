"""Every kernel that this machine can run, with the real packages, against its eager definition.

The other tests use stand-ins where a package may be missing. Here nothing stands in: what cannot be run is skipped, and
the reason says which package or which hardware is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import DEVICE, check, examples_of, random
from veomni.ops import KERNEL_REGISTRY, KernelSpec
from veomni.ops.examples import Example, Inputs
from veomni.ops.kernel_registry import KernelUnavailableError
from veomni.ops.kernels.attention import eager, get_local_attention
from veomni.ops.kernels.moe.examples import EXAMPLES as MOE_EXAMPLES
from veomni.ops.kernels.rms_norm.examples import EXAMPLES
from veomni.utils.import_utils import is_package_available

# What other packages warn of is not ours to repair.
pytestmark = pytest.mark.filterwarnings("default")

INPUTS = Inputs(DEVICE, torch.float32)
_NOT_FOR_FLOAT32 = {"quack", "flashmla", "tile_kernels"}
_TOLERANCES = {
    # Their products of float32 are taken in TF32, which has ten bits.
    ("fla", torch.float32): 400,
}


def _packages(spec: KernelSpec) -> set[str]:
    return {requirement.module for requirement in spec.requires}


def _selections() -> list[Any]:
    return [
        pytest.param(spec, dtype, id=f"{spec.op_name}-{spec.variant}-{spec.name}-{str(dtype).removeprefix('torch.')}")
        for spec in KERNEL_REGISTRY.specs()
        for dtype in (torch.float32, torch.bfloat16)
        if spec.hardware.device_type != "npu" and not (dtype == torch.float32 and _packages(spec) & _NOT_FOR_FLOAT32)
    ]


@pytest.mark.parametrize(("spec", "dtype"), _selections())
def test_kernel(spec: KernelSpec, dtype: torch.dtype) -> None:
    """Outputs and all gradients, at sizes that fill no tile, are those of the definition."""
    kernel = _resolve(spec)
    for case in examples_of(spec, dtype):
        tolerance = max(case.tolerance, _TOLERANCES.get((spec.name, dtype), 0))
        check(case.adapt(kernel), case.adapt_definition(), *case.arguments, tolerance=tolerance, **case.options)


def _resolve(spec: KernelSpec) -> Callable[..., Any]:
    if spec.name == "liger_kernel" and not is_package_available("liger_kernel"):
        pytest.skip("liger_kernel is not installed")
    try:
        kernel = KERNEL_REGISTRY.resolve(spec.op_name, spec.variant, spec.name)
    except KernelUnavailableError as error:
        pytest.skip(str(error))
    assert kernel is not None
    return kernel


@pytest.mark.parametrize("queries", [77, 5])
@pytest.mark.parametrize("width", [64, 128])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("name", ["sdpa", "flash_attention_2", "flash_attention_3", "flash_attention_4"])
def test_attention(name: str, causal: bool, width: int, queries: int) -> None:
    """Grouped heads, an odd number of tokens, and queries that are the last of the keys, in bfloat16."""
    if name == "sdpa":
        if causal and queries != 77:
            pytest.skip("sdpa aligns causal masks at the first key, and refuses")
    elif DEVICE == "cpu":
        pytest.skip("flash attention needs a GPU")
    try:
        attend = get_local_attention(name)
    except RuntimeError as error:
        pytest.skip(str(error))
    q = random(2, queries, 4, width, dtype=torch.bfloat16)
    k, v = (random(2, 77, 2, width, dtype=torch.bfloat16, seed=seed) for seed in (1, 2))
    check(attend, eager.attention_eager, q, k, v, causal=causal, tolerance=2)


def test_a_case_that_is_wrong_fails() -> None:
    """The comparison notices a kernel that computes something else."""
    case = next(iter(EXAMPLES["rms_norm", "standard"](INPUTS)))
    wrong = Example(case.definition, (*case.arguments[:-1], 1.0))
    with pytest.raises(AssertionError):
        check(lambda x, weight, _: case.definition(x, weight, 1e-6), wrong.definition, *wrong.arguments)


def test_module_arguments() -> None:
    """Kernels that take a module get one that holds the arguments of the definition."""
    seen: list[SimpleNamespace] = []
    case = next(iter(MOE_EXAMPLES["moe_experts", "standard"](INPUTS)))
    case.adapt(lambda module, *_: seen.append(module))(*case.arguments)
    assert vars(seen[0]) == {"gate_up_proj": case.arguments[3], "down_proj": case.arguments[4], "limit": 3.5}
