"""Ops in two halves: against the eager definitions under autograd, and the tables against each other."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

torch = pytest.importorskip("torch", reason="the wrappers need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import random
from veomni.arguments import OpsImplementationConfig
from veomni.distributed.sequence_parallel import op_wrappers
from veomni.ops import KERNEL_REGISTRY
from veomni.ops.config import set_ops_config
from veomni.ops.kernels.rms_norm import eager as rms_norm_eager
from veomni.ops.kernels.rotary import eager as rotary_eager

RMS_NORM = {"standard": rms_norm_eager.rms_norm_eager, "qwen3_5": rms_norm_eager.rms_norm_qwen3_5_eager}
ROTARY = {"full": rotary_eager.rotary_pos_emb_eager, "partial": rotary_eager.rotary_pos_emb_partial_eager}


@pytest.fixture(autouse=True)
def no_config(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pretend that there is an NPU, for which torch_npu has a stand-in, and leave no configuration behind."""
    monkeypatch.setattr(op_wrappers, "IS_NPU_AVAILABLE", True)
    yield
    set_ops_config(None)


def select(implementation: str) -> None:
    config = OpsImplementationConfig.all_eager()
    config.rms_norm_implementation = config.rotary_pos_emb_implementation = implementation
    set_ops_config(config)


@pytest.mark.parametrize("variant", RMS_NORM)
@pytest.mark.parametrize("implementation", ["eager", "triton", "npu"])
def test_rms_norm(implementation: str, variant: str, fake_torch_npu: ModuleType) -> None:
    """Each half gives what the definition gives under autograd, and records nothing itself."""
    select(implementation)
    x, weight, grad = random(2, 5, 8), random(8, seed=1), random(2, 5, 8, seed=2).detach()
    wrapper = op_wrappers.get_op_wrapper(("rms_norm", variant))
    with torch.no_grad():
        output, saved = wrapper.forward(x, weight, 1e-6)
        gradients = wrapper.backward(grad, saved)
    expected = RMS_NORM[variant](x, weight, 1e-6)
    assert not output.requires_grad
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(gradients, torch.autograd.grad(expected, (x, weight), grad))
    assert ("npu_rms_norm" in fake_torch_npu.calls) == (implementation == "npu")


@pytest.mark.usefixtures("fake_torch_npu")
def test_npu_adds_one_to_small_weights_in_float32() -> None:
    """In the variant qwen3_5 a bfloat16 weight counts that bfloat16 cannot add to one, in both directions."""
    select("npu")
    x = random(7, 32, dtype=torch.bfloat16)
    weight = random(32, dtype=torch.bfloat16, seed=1, scale=1e-3)
    grad = random(7, 32, dtype=torch.bfloat16, seed=2).detach()
    wrapper = op_wrappers.get_op_wrapper(("rms_norm", "qwen3_5"))
    output, saved = wrapper.forward(x, weight, 1e-6)
    expected = rms_norm_eager.rms_norm_qwen3_5_eager(x, weight, 1e-6)
    assert torch.equal(output, expected)
    gradients = wrapper.backward(grad, saved)
    torch.testing.assert_close(gradients, torch.autograd.grad(expected, (x, weight), grad))


@pytest.mark.parametrize("variant", ROTARY)
@pytest.mark.parametrize("implementation", ["eager", "triton", "npu"])
@pytest.mark.usefixtures("fake_torch_npu")
def test_rotary(implementation: str, variant: str) -> None:
    """Each half gives what the definition gives under autograd."""
    select(implementation)
    q, k = random(2, 5, 3, 8), random(2, 5, 1, 8, seed=1)
    angles = random(1, 5, 4 if variant == "full" else 2, seed=2).detach().repeat(1, 1, 2)
    grads = tuple(random(*x.shape, seed=3).detach() for x in (q, k))
    wrapper = op_wrappers.get_op_wrapper(("rotary_pos_emb", variant))
    with torch.no_grad():
        output, saved = wrapper.forward(q, k, angles.cos(), angles.sin(), 2)
        gradients = wrapper.backward(grads, saved)
    expected = ROTARY[variant](q, k, angles.cos(), angles.sin(), 2)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(gradients, torch.autograd.grad(expected, (q, k), grads))


@pytest.mark.parametrize("implementation", ["eager", "triton"])
def test_rotary_by_float32_angles(implementation: str) -> None:
    """Float32 angles make float32 outputs of bfloat16 heads, and the gradients are bfloat16 again."""
    select(implementation)
    q, k = (random(2, 5, heads, 8, seed=heads).detach().bfloat16() for heads in (3, 1))
    angles = random(1, 5, 8, seed=2).detach()
    wrapper = op_wrappers.get_op_wrapper("rotary_pos_emb")
    output, saved = wrapper.forward(q, k, angles.cos(), angles.sin(), 2)
    gradients = wrapper.backward(output, saved)
    assert [x.dtype for x in (*output, *gradients)] == [torch.float32] * 2 + [torch.bfloat16] * 2


def test_npu_wrappers_need_an_npu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no NPU its wrappers are refused, and its files not imported."""
    monkeypatch.setattr(op_wrappers, "IS_NPU_AVAILABLE", False)
    select("npu")
    for op in ("rms_norm", "rotary_pos_emb"):
        with pytest.raises(RuntimeError) as caught:
            op_wrappers.get_op_wrapper(op)
        assert str(caught.value) == (
            f"{op}_implementation='npu': the wrapper 'npu' of {op} cannot be used on this machine; "
            "choose eager, liger_kernel, triton"
        )


def test_a_name_alone_means_the_default_variant() -> None:
    """Without a configuration and without a variant the wrapper is the eager one of the default variant."""
    x, weight = random(3, 8), random(8, seed=1)
    output, _ = op_wrappers.get_op_wrapper("rms_norm").forward(x, weight, 1e-6)
    torch.testing.assert_close(output, rms_norm_eager.rms_norm_eager(x, weight, 1e-6).detach())


@pytest.mark.parametrize("op", ["swiglu_mlp", ("rms_norm", "unweighted")])
def test_what_has_no_wrapper_is_refused(op: str | tuple[str, str]) -> None:
    """An op or a variant outside the tables is an error."""
    with pytest.raises(KeyError, match="there is no wrapper of"):
        op_wrappers.get_op_wrapper(op)


def test_tables_agree_with_each_other_and_with_the_registry() -> None:
    """Each op has an entry in every table; what is supported is registered for every supported variant."""
    tables = (
        op_wrappers._SUPPORTED_IMPLEMENTATIONS, op_wrappers._SUPPORTED_VARIANTS, op_wrappers._DEFAULT_VARIANTS,
        op_wrappers._CONFIG_FIELDS, op_wrappers._BUILDERS,
    )  # fmt: skip
    assert [set(table) for table in tables] == [{"rms_norm", "rotary_pos_emb"}] * 5
    for op, variants in op_wrappers._SUPPORTED_VARIANTS.items():
        assert op_wrappers._DEFAULT_VARIANTS[op] in variants
        for variant in variants:
            registered = set(KERNEL_REGISTRY.list_available(op, variant))
            assert registered | {"eager"} == op_wrappers._SUPPORTED_IMPLEMENTATIONS[op]
