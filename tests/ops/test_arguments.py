"""The configuration: unknown keys and values, and what NPUs can run."""

from __future__ import annotations

from pathlib import Path

import pytest

from veomni.arguments import (
    ArgumentsError,
    OpsImplementationConfig,
    TrainArguments,
    VeOmniArguments,
    build_arguments,
    load_arguments,
)
from veomni.arguments import ops_config as module
from veomni.models.transformers.moe_decoder.configuration_moe_decoder import MoeDecoderConfig
from veomni.ops import KERNEL_REGISTRY
from veomni.ops.config import list_ops


def job(**sections: object) -> dict[str, object]:
    return {"model": {"model_type": "decoder"}, **sections}


def test_a_file_with_overrides(tmp_path: Path) -> None:
    """Values come from the file, then from the overrides, then from the defaults."""
    pytest.importorskip("yaml", reason="the configuration is YAML")
    path = tmp_path / "job.yaml"
    path.write_text("model: {model_type: decoder}\ntrain: {max_steps: 3, learning_rate: 1e-2}\n")
    arguments = load_arguments(VeOmniArguments, path, ["data.seq_len=16", "train.max_steps=4"])
    assert (arguments.train.max_steps, arguments.train.learning_rate) == (4, 0.01)
    assert (arguments.data.seq_len, arguments.data.batch_size) == (16, 8)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (job(trian={}), "trian does not exist; did you mean train?"),
        (job(train={"max_step": 3}), "train.max_step does not exist; did you mean max_steps?"),
        (job(train={"max_steps": "many"}), "train.max_steps='many' must be of type int"),
        (job(train={"max_steps": True}), "train.max_steps=True must be of type int"),
        (job(train={"learning_rate": "fast"}), "train.learning_rate='fast' must be of type float"),
        (job(train={"aux_loss_weight": float("nan")}), "train.aux_loss_weight=nan must be a finite number"),
        (job(train={"learning_rate": "inf"}), "train.learning_rate=inf must be a finite number"),
        (job(train=[]), "train must be a mapping, not []"),
        (job(train={"max_steps": 0}), "train: max_steps must be positive, not 0"),
        ({"data": {}}, "model is missing"),
        ({"model": {}}, "model.model_type is missing"),
        (None, "the configuration must be a mapping, not None"),
        (
            {"model": {"model_type": "decoder", "ops_implementation": {"swiglu_mlp_implementation": "tritom"}}},
            (
                "model.ops_implementation.swiglu_mlp_implementation='tritom' is none of eager, liger_kernel, triton; "
                "did you mean triton?"
            ),
        ),
        (
            {"model": {"model_type": "decoder", "ops_implementation": {"rms_norm_implementation": "npu"}}},
            (
                "model.ops_implementation: rms_norm_implementation='npu' needs an NPU, and this machine has none; "
                "choose eager, liger_kernel, triton"
            ),
        ),
    ],
)
def test_what_does_not_fit_is_refused(tree: object, message: str) -> None:
    """Unknown keys, missing keys and wrong values are errors that name the place."""
    with pytest.raises(ArgumentsError) as caught:
        build_arguments(VeOmniArguments, tree)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["model: [", "\x00"])
def test_a_broken_file_is_refused(tmp_path: Path, text: str) -> None:
    """A file that is no YAML gives a message and no traceback of the parser."""
    pytest.importorskip("yaml", reason="the configuration is YAML")
    path = tmp_path / "job.yaml"
    path.write_text(text)
    with pytest.raises(ArgumentsError, match="cannot be read"):
        load_arguments(VeOmniArguments, path)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("model: {model_type: decoder}\ntrain: {max_steps: 3, max_steps: 4}\n", "max_steps"),
        ("model: {model_type: decoder}\ndata: {}\nmodel: {model_type: wan}\n", "model"),
    ],
)
def test_a_key_that_is_there_twice_is_refused(tmp_path: Path, text: str, key: str) -> None:
    """Of two values for one key none is taken."""
    pytest.importorskip("yaml", reason="the configuration is YAML")
    path = tmp_path / "job.yaml"
    path.write_text(text)
    with pytest.raises(ArgumentsError, match=f"cannot be read: the key '{key}' is there twice"):
        load_arguments(VeOmniArguments, path)


def test_a_merged_key_may_be_given_again(tmp_path: Path) -> None:
    """A mapping may replace what it takes over from another one, in whichever order they are read."""
    pytest.importorskip("yaml", reason="the configuration is YAML")
    path = tmp_path / "job.yaml"
    path.write_text(
        "model:\n  model_type: decoder\n"
        "  config: {a: &a {max_steps: 3, seed: 1}, b: &b {<<: *a, seed: 2}}\n"
        "train: {<<: *b, max_steps: 5}\n"
    )
    train = load_arguments(VeOmniArguments, path).train
    assert (train.max_steps, train.seed) == (5, 2)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """A path that does not exist gives a message."""
    pytest.importorskip("yaml", reason="the configuration is YAML")
    with pytest.raises(ArgumentsError, match="cannot be read"):
        load_arguments(VeOmniArguments, tmp_path / "none.yaml")


@pytest.mark.parametrize("override", ["train", "=3", "train.=3", "model.model_type.name=3"])
def test_a_wrong_override_is_refused(tmp_path: Path, override: str) -> None:
    """An override without a value or a name, or inside a plain value, is an error."""
    pytest.importorskip("yaml", reason="the configuration is YAML")
    path = tmp_path / "job.yaml"
    path.write_text("model: {model_type: decoder}\n")
    with pytest.raises(ArgumentsError, match=r"form section|no section"):
        load_arguments(VeOmniArguments, path, [override])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_numbers_given_in_python_are_checked(value: float) -> None:
    """A job that is not read from a file is checked like one that is."""
    for name in ("learning_rate", "weight_decay", "aux_loss_weight"):
        with pytest.raises(ValueError, match=f"^{name} must be .*, not {value}$"):
            TrainArguments(**{name: value})


def test_gpu_defaults_give_way_on_an_npu(monkeypatch: pytest.MonkeyPatch) -> None:
    """On an NPU a default, also one that is written out, becomes its fallback; what else cannot run is refused."""
    monkeypatch.setattr(module, "is_torch_npu_available", lambda: True)
    config = OpsImplementationConfig()
    assert {name: getattr(config, name) for name in module._NPU_DEFAULT_FALLBACK} == module._NPU_DEFAULT_FALLBACK
    assert OpsImplementationConfig.all_eager(rms_norm_implementation="triton").rms_norm_implementation == "npu"
    with pytest.raises(ValueError, match="rms_norm_implementation='liger_kernel' cannot run on an NPU; choose eager"):
        OpsImplementationConfig(rms_norm_implementation="liger_kernel")


@pytest.mark.parametrize("field", ["rms_norm_implementation", "mhc_implementation", "attn_implementation"])
def test_choices_are_checked_in_python_too(field: str) -> None:
    """A value that no YAML file could have is refused where the configuration is made."""
    with pytest.raises(ValueError, match=rf"^{field}='tielang' is none of eager, .*"):
        OpsImplementationConfig.all_eager(**{field: "tielang"})


def test_every_word_is_checked_in_python_too() -> None:
    """A dtype, and the kind of the experts of a model, are words of which each means something."""
    with pytest.raises(ValueError, match="dtype='bfloat15' is none of float32, bfloat16; did you mean bfloat16"):
        TrainArguments(dtype="bfloat15")
    with pytest.raises(ValueError, match="experts='gptoss' is none of swiglu, gpt_oss; did you mean gpt_oss"):
        MoeDecoderConfig(experts="gptoss")


def test_every_default_of_an_npu_is_allowed_there() -> None:
    """No fallback names what the table of allowed values refuses."""
    for name, value in module._NPU_DEFAULT_FALLBACK.items():
        assert value in module._NPU_ALLOWED[name] | {"eager"}


def test_tables_and_registry_agree() -> None:
    """Each registered op has its field in the table for NPUs, and each field there has an op."""
    slots = {spec.op_name for spec in KERNEL_REGISTRY.specs()}
    names = {"moe_implementation" if op == "moe_experts" else f"{op}_implementation" for op in slots}
    assert names | {op.config_field for op in list_ops()} == set(module._NPU_ALLOWED)
