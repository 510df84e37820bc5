"""Generated models: equal to their sources when eager, and with kernels; and what a failing build says."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the models need torch")
pytest.importorskip("triton", reason="the kernels need triton")

from kernel_cases import DEVICE
from veomni.arguments import OpsImplementationConfig, ops_config
from veomni.models.auto import build_foundation_model
from veomni.models.loader import MODELING_REGISTRY
from veomni.ops import KERNEL_REGISTRY, OpsConfigSlot, OpSlot, build_ALL_OPS, kernel_registry
from veomni.ops.config import get_ops_config, set_ops_config
from veomni.ops.kernel_registry import HardwareRequirement, KernelSpec
from veomni.ops.kernels import moe
from veomni.ops.kernels.moe.eager import moe_experts_eager

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


def test_wan_on_an_npu(monkeypatch: pytest.MonkeyPatch, fake_torch_npu: ModuleType) -> None:
    """The default configuration builds the diffusion transformer on an NPU, with the kernels that are made for it."""
    before = wan(OpsImplementationConfig.all_eager())
    monkeypatch.setattr(ops_config, "is_torch_npu_available", lambda: True)
    monkeypatch.setattr(HardwareRequirement, "is_satisfied", lambda requirement: requirement.device_type != "gpu")
    for mine, expected in zip(wan(OpsImplementationConfig()), before, strict=True):
        torch.testing.assert_close(mine, expected, rtol=1e-4, atol=1e-3)
    assert set(fake_torch_npu.calls) == {"npu_rms_norm", "npu_rotary_mul"}


@pytest.mark.parametrize("attention", ["flash_attention_2", "flash_attention_3", "flash_attention_4"])
def test_flash_attention_is_refused_on_an_npu(attention: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages of flash attention are made for GPUs."""
    monkeypatch.setattr(ops_config, "is_torch_npu_available", lambda: True)
    monkeypatch.setattr(HardwareRequirement, "is_satisfied", lambda requirement: requirement.device_type != "gpu")
    with pytest.raises(RuntimeError, match=f"attn_implementation='{attention}' cannot be used: it needs gpu"):
        make("decoder", OpsImplementationConfig.all_eager(attn_implementation=attention))


def test_wan_says_what_it_cannot_use() -> None:
    """A backend that the model opted out of is an error that lists what it can use."""
    ops = OpsImplementationConfig.all_eager(rotary_pos_emb_implementation="liger_kernel")
    with pytest.raises(ValueError, match="cannot be used by Wan; choose eager, triton"):
        wan(ops)


def test_each_model_keeps_its_fused_experts(caplog: pytest.LogCaptureFixture) -> None:
    """The pointer is bound with the slot of a model that calls it; models without it, or eager, leave it alone."""
    first = make("deepseek_v3", OpsImplementationConfig.all_eager(moe_implementation="fused_triton"))
    before = results(first)
    pointer = moe._fused_moe_forward
    assert pointer.__name__ == "fused_moe_triton"
    make("moe_decoder", OpsImplementationConfig.all_eager())
    make("moe_decoder", OpsImplementationConfig.all_eager(moe_implementation="fused_triton"))
    assert moe._fused_moe_forward is pointer
    assert torch.equal(results(first)[0], before[0])
    assert "fused_moe_forward changes" not in caplog.text


@pytest.mark.parametrize("name", ["triton", "mine"])
def test_a_kernel_from_elsewhere_can_be_the_fused_experts(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A kernel with the signature of the slot is also what the pointer calls; that another one was called is said."""

    def mine(experts: Any, hidden_states: torch.Tensor, *routing: torch.Tensor) -> torch.Tensor:
        return moe_experts_eager(hidden_states, *routing, experts.gate_up_proj, experts.down_proj, experts.limit)

    slot = ("moe_experts", "standard")
    make("deepseek_v3", OpsImplementationConfig.all_eager(moe_implementation="fused_triton"))
    monkeypatch.setitem(KERNEL_REGISTRY._specs, slot, dict(KERNEL_REGISTRY._specs[slot]))
    KERNEL_REGISTRY.register(KernelSpec(name, *slot, lambda: mine, HardwareRequirement("any")), force=True)
    ops = OpsImplementationConfig.all_eager()
    ops.moe_implementation = f"fused_{name}"
    model = make("deepseek_v3", ops)
    compare(results(model), results(source("deepseek_v3")), rtol=1e-5, atol=1e-6)
    change = "fused_moe_forward changes from fused_moe_triton to fused_moe_mine for every model that calls it"
    assert (change in caplog.text) == (name == "mine")


def state() -> list[object]:
    """All that a build binds: the configuration, the pointers, and the slots and patches of the modeling modules."""
    slots = [value for name in ("decoder", "deepseek_v3") for value in vars(modeling(name)).values()]
    patched = modeling("deepseek_v3")
    return [
        get_ops_config(),
        *build_ALL_OPS(),
        patched.apply_rotary_pos_emb,
        patched.DeepseekV3RMSNorm.forward,
        *(dict(vars(slot)) for slot in slots if isinstance(slot, OpSlot | OpsConfigSlot)),
    ]


def modeling(name: str) -> ModuleType:
    return importlib.import_module(f"veomni.models.transformers.{name}.generated.patched_modeling_{name}_gpu")


@pytest.mark.parametrize(
    ("name", "sizes", "selected"),
    [
        ("decoder", {}, {"cross_entropy_loss_implementation": "chunk_loss", "rms_norm_implementation": "npu"}),
        ("decoder", {}, {"attn_implementation": "flash_attention_2"}),
        ("decoder", {"head_dim": "odd"}, {"rms_norm_implementation": "triton"}),
        ("deepseek_v3", {}, {"rms_norm_implementation": "triton", "moe_implementation": "fused_npu"}),
        ("no_model", {}, {"load_balancing_loss_implementation": "triton"}),
    ],
)
def test_a_failed_build_changes_nothing(name: str, sizes: dict[str, str], selected: dict[str, str]) -> None:
    """Whatever stops a build, the models before it go on with what they were bound to."""
    for before in ("decoder", "deepseek_v3"):
        make(before, OpsImplementationConfig.all_eager())
    expected = state()
    ops = OpsImplementationConfig.all_eager()
    for field, value in selected.items():
        setattr(ops, field, value)
    config = SimpleNamespace(**{**vars(MODELING_REGISTRY.config("decoder")()), "model_type": name, **sizes})
    with pytest.raises((KeyError, RuntimeError, TypeError)):
        build_foundation_model(config, ops)
    assert state() == expected


def test_an_error_in_a_loader_is_not_a_missing_architecture(monkeypatch: pytest.MonkeyPatch) -> None:
    """An attribute that a device patch does not find is reported as it is."""
    make("deepseek_v3", OpsImplementationConfig.all_eager())
    monkeypatch.delattr(modeling("deepseek_v3"), "DeepseekV3RMSNorm")
    with pytest.raises(AttributeError, match="DeepseekV3RMSNorm"):
        make("deepseek_v3", OpsImplementationConfig.all_eager())


def test_a_model_type_is_registered_once() -> None:
    """A second model under the name of the first is refused."""
    with pytest.raises(ValueError, match="the model type 'decoder' is already registered"):
        MODELING_REGISTRY.register("decoder", dict)


@pytest.mark.parametrize(("model_type", "architecture"), [("no_model", "ForCausalLM"), ("decoder", "ForDreaming")])
def test_an_unknown_model_is_refused(model_type: str, architecture: str) -> None:
    """A model type or architecture that does not exist is a KeyError that names it."""
    config = MODELING_REGISTRY.config("decoder")(model_type=model_type)
    with pytest.raises(KeyError, match=rf"{model_type}|{architecture}"):
        build_foundation_model(config, OpsImplementationConfig.all_eager(), architecture)


@pytest.mark.parametrize(
    ("name", "selected", "message"),
    [
        (
            "decoder",
            {"rms_norm_implementation": "triton"},
            (
                "rms_norm_implementation='triton': kernel 'triton' of rms_norm/standard cannot be used: it needs gpu, "
                "which this machine does not have; choose eager"
            ),
        ),
        (
            "moe_decoder",
            {"moe_implementation": "fused_triton"},
            (
                "moe_implementation='fused_triton': kernel 'triton' of moe_experts/gpt_oss cannot be used: "
                "it needs gpu, compute capability >= 80, which this machine does not have; choose eager"
            ),
        ),
        (
            "moe_decoder",
            {"load_balancing_loss_implementation": "triton"},
            (
                "load_balancing_loss_implementation='triton' cannot be used: it needs gpu, "
                "which this machine does not have; choose eager"
            ),
        ),
        (
            "decoder",
            {"attn_implementation": "flash_attention_3"},
            (
                "attn_implementation='flash_attention_3' cannot be used: it needs gpu, compute capability >= 80, "
                "which this machine does not have; choose eager, sdpa"
            ),
        ),
    ],
)
def test_missing_hardware_fails_the_build(
    monkeypatch: pytest.MonkeyPatch, name: str, selected: dict[str, str], message: str
) -> None:
    """What this machine cannot run stops the build, with the field, the reason and what to choose."""
    monkeypatch.setattr(kernel_registry.HardwareRequirement, "is_satisfied", lambda one: one.device_type == "any")
    with pytest.raises(RuntimeError) as caught:
        make(name, OpsImplementationConfig.all_eager(**selected))
    assert str(caught.value) == message


def test_wan_needs_the_hardware_of_its_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend of the legacy registry is refused by the build and not by the first step."""
    monkeypatch.setattr(kernel_registry.HardwareRequirement, "is_satisfied", lambda _: False)
    with pytest.raises(RuntimeError, match=r"rms_norm_implementation='triton' cannot be used: it needs gpu, .* eager"):
        wan(OpsImplementationConfig.all_eager(rms_norm_implementation="triton"))


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
