"""Generated models: equal to their sources when eager, and with kernels; and what a failing build says."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the models need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import DEVICE
from veomni.arguments import OpsImplementationConfig
from veomni.models.auto import build_foundation_model
from veomni.models.loader import MODELING_REGISTRY
from veomni.ops import kernel_registry
from veomni.ops.config import set_ops_config
from veomni.ops.kernels import moe

DECODERS = {
    "decoder": ({}, "Decoder"),
    "moe_decoder": ({"swiglu_limit": 1.0}, "MoeDecoder"),
    "moe_decoder/gpt_oss": ({"experts": "gpt_oss"}, "MoeDecoder"),
    "hybrid_decoder": ({}, "HybridDecoder"),
    "deepseek_v3": ({"index_topk": 5}, "DeepseekV3"),
    "deepseek_v4": ({"index_topk": 5}, "DeepseekV4"),
}
KERNELS = {
    "moe_implementation": "fused_triton",
    "cross_entropy_loss_implementation": "chunk_loss",
    "rms_norm_implementation": "triton",
    "rotary_pos_emb_implementation": "triton",
    "swiglu_mlp_implementation": "triton",
    "load_balancing_loss_implementation": "triton",
    "v4_indexer_implementation": "triton",
    "v4_sparse_attention_implementation": "triton",
}


@pytest.fixture(autouse=True)
def clean_state(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let kernels for GPUs be bound, as they run in the interpreter, and leave no configuration behind."""
    monkeypatch.setattr(
        kernel_registry.HardwareRequirement, "is_satisfied", lambda requirement: requirement.device_type != "npu"
    )
    yield
    set_ops_config(None)
    moe.apply_veomni_fused_moe_patch("eager")


def make(name: str, ops: OpsImplementationConfig) -> torch.nn.Module:
    model_type, sizes = name.partition("/")[0], DECODERS[name][0]
    torch.manual_seed(0)
    return build_foundation_model(MODELING_REGISTRY.config(model_type)(**sizes), ops).to(DEVICE)


def source(name: str) -> torch.nn.Module:
    model_type, (sizes, prefix) = name.partition("/")[0], DECODERS[name]
    module = importlib.import_module(f"veomni.models.transformers.{model_type}.modeling_{model_type}")
    torch.manual_seed(0)
    return getattr(module, f"{prefix}ForCausalLM")(MODELING_REGISTRY.config(model_type)(**sizes)).to(DEVICE)


def results(model: torch.nn.Module) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    input_ids = torch.randint(256, (2, 9), generator=torch.Generator().manual_seed(1)).to(DEVICE)
    output = model(input_ids, input_ids)
    loss = output.loss + getattr(output, "aux_loss", torch.zeros((), device=DEVICE))
    gradients = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
    return loss.detach(), dict(zip(dict(model.named_parameters()), gradients, strict=True))


def compare(mine: Any, theirs: Any, **tolerance: float) -> None:
    torch.testing.assert_close(mine[0], theirs[0], **tolerance)
    for name, expected in theirs[1].items():
        assert (mine[1][name] is None) == (expected is None), name
        if expected is not None:
            torch.testing.assert_close(
                mine[1][name], expected, msg=lambda text, name=name: f"{name}: {text}", **tolerance
            )


@pytest.mark.parametrize("name", DECODERS)
def test_an_eager_model_is_its_source(name: str) -> None:
    """The generated file with every slot eager gives loss and gradients of the source that it was made from."""
    compare(results(make(name, OpsImplementationConfig.all_eager())), results(source(name)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", DECODERS)
def test_kernels_change_nothing_but_speed(name: str) -> None:
    """With every kernel of ours bound, loss and gradients are those of the source."""
    ops = OpsImplementationConfig.all_eager(**KERNELS)
    compare(results(make(name, ops)), results(source(name)), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", DECODERS)
def test_without_labels_there_are_logits(name: str) -> None:
    """A model without labels gives the logits of its source, and no loss."""
    input_ids = torch.randint(256, (2, 9), generator=torch.Generator().manual_seed(1)).to(DEVICE)
    output = make(name, OpsImplementationConfig.all_eager())(input_ids)
    assert output.loss is None
    torch.testing.assert_close(output.logits, source(name)(input_ids).logits)


def wan(ops: OpsImplementationConfig) -> list[torch.Tensor]:
    torch.manual_seed(0)
    model = build_foundation_model(MODELING_REGISTRY.config("wan")(), ops, "Model").to(DEVICE)
    output = model(torch.randn(2, 4, 2, 4, 6).to(DEVICE), torch.tensor([1.0, 700.0], device=DEVICE))
    output.square().sum().backward()
    return [output.detach(), *(x.grad for x in model.parameters())]


def test_wan_is_patched_and_put_back() -> None:
    """The diffusion transformer computes the same with kernels, and is itself again under the next configuration."""
    before = wan(OpsImplementationConfig.all_eager())
    patched = wan(OpsImplementationConfig.all_eager(**KERNELS))
    from veomni.models.transformers.wan import modeling_wan

    assert modeling_wan.rope_apply.__name__ == "rope_apply_wan_triton"
    after = wan(OpsImplementationConfig.all_eager())
    assert modeling_wan.rope_apply.__name__ == "rope_apply"
    assert all(torch.equal(x, y) for x, y in zip(before, after, strict=True))
    for mine, expected in zip(patched, before, strict=True):
        torch.testing.assert_close(mine, expected, rtol=1e-4, atol=1e-3)


def test_wan_says_what_it_cannot_use() -> None:
    """A backend that the model opted out of is an error that lists what it can use."""
    ops = OpsImplementationConfig.all_eager(rotary_pos_emb_implementation="liger_kernel")
    with pytest.raises(ValueError, match="cannot be used by Wan; choose eager, triton"):
        wan(ops)


def test_the_pointer_follows_the_slot() -> None:
    """Building a model binds the pointer of fused experts to what the slot is bound to, and unbinds it."""
    make("deepseek_v3", OpsImplementationConfig.all_eager(moe_implementation="fused_triton"))
    assert moe._fused_moe_forward is not None
    make("deepseek_v3", OpsImplementationConfig.all_eager())
    assert moe._fused_moe_forward is None


@pytest.mark.parametrize(("model_type", "architecture"), [("no_model", "ForCausalLM"), ("decoder", "ForDreaming")])
def test_an_unknown_model_is_refused(model_type: str, architecture: str) -> None:
    """A model type or architecture that does not exist is a KeyError that names it."""
    config = MODELING_REGISTRY.config("decoder")(model_type=model_type)
    with pytest.raises(KeyError, match=rf"{model_type}|{architecture}"):
        build_foundation_model(config, OpsImplementationConfig.all_eager(), architecture)


def test_missing_hardware_fails_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that this machine cannot run stops the build, with the reason, before anything is constructed."""
    monkeypatch.setattr(kernel_registry.HardwareRequirement, "is_satisfied", lambda _: False)
    with pytest.raises(RuntimeError, match="kernel 'triton' of rms_norm/standard cannot be used: it needs gpu"):
        make("decoder", OpsImplementationConfig.all_eager(rms_norm_implementation="triton"))


@pytest.mark.parametrize("model", ["decoder", "moe_decoder", "hybrid_decoder", "deepseek_v3", "deepseek_v4"])
def test_npu_files_are_the_source_when_eager(model: str, fake_torch_npu: ModuleType) -> None:
    """The generated file for NPUs imports anywhere, and with every slot unbound is its source."""
    module = importlib.import_module(f"veomni.models.transformers.{model}.generated.patched_modeling_{model}_npu")
    torch.manual_seed(0)
    sizes, prefix = DECODERS[model]
    generated = getattr(module, f"{prefix}ForCausalLM")(MODELING_REGISTRY.config(model)(**sizes)).to(DEVICE)
    compare(results(generated), results(source(model)), rtol=1e-5, atol=1e-6)
    assert fake_torch_npu.calls == []
    assert sys.modules["torch_npu"] is fake_torch_npu
