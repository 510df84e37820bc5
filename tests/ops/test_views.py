"""Every kernel that runs here, on tensors whose elements do not follow each other in memory."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the kernels need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import check, examples_of
from veomni.ops import KERNEL_REGISTRY, KernelSpec

SPECS = [spec for spec in KERNEL_REGISTRY.specs() if spec.name in {"triton", "chunk_loss"}]


def view_of(x: object, dimension: int) -> object:
    """The same values as every second element along *dimension* of a larger tensor."""
    if not isinstance(x, torch.Tensor) or x.dim() == 0:
        return x
    behind = dimension % x.dim() + 1
    return (
        torch.stack((x, torch.full_like(x, 7)), dim=behind).select(behind, 0).detach().requires_grad_(x.requires_grad)
    )


@pytest.mark.parametrize("dimension", [0, -1])
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.op_name}-{spec.variant}-{spec.name}")
def test_views_are_read_where_their_elements_are(spec: KernelSpec, dimension: int) -> None:
    """Outputs and gradients are those of the definition, whichever arguments are views."""
    kernel = spec.factory()
    for example in examples_of(spec, torch.float32):
        arguments = [view_of(x, dimension) for x in example.arguments]
        check(
            example.adapt(kernel), example.adapt_definition(), *arguments,
            tolerance=2 * example.tolerance, **example.options,
        )  # fmt: skip
