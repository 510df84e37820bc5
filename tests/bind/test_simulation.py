"""``opslint bind`` on a small tree: what every slot gets, as rows of the result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from support.projects import write_base_tree, write_files

from veomni_opslint.analysis import analyse
from veomni_opslint.bind.devices import parse_device
from veomni_opslint.bind.job_file import read_job_file
from veomni_opslint.bind.simulation import Binding, bind
from veomni_opslint.discovery import discover
from veomni_opslint.errors import RunError
from veomni_opslint.model import OpsModel

ARGUMENTS = "veomni/arguments/arguments_types.py"
GENERATED = "veomni/models/transformers/llama/generated"
JOB = """\
from dataclasses import dataclass, field
from typing import Optional

from ..utils.import_utils import is_torch_npu_available

_NPU_ALLOWED = {"rms_norm_implementation": frozenset({"npu"}), "swiglu_mlp_implementation": frozenset()}
_NPU_REQUIRED = {"rms_norm_implementation": frozenset({"npu"})}
_NPU_DEFAULT_FALLBACK = {"rms_norm_implementation": "npu", "swiglu_mlp_implementation": "eager"}


@dataclass
class OpsImplementationConfig:
    rms_norm_implementation: str = "liger_kernel"
    swiglu_mlp_implementation: str = "triton"

    def __post_init__(self):
        if self.rms_norm_implementation == "fused":
            resolved = "npu" if is_torch_npu_available() else "liger_kernel"
            self.rms_norm_implementation = resolved


@dataclass
class ModelArguments:
    path: str = ""
    ops_implementation: Optional[OpsImplementationConfig] = field(default_factory=OpsImplementationConfig)


@dataclass
class JobArguments:
    model: "ModelArguments" = field(default_factory=ModelArguments)
"""
NPU_FILE = """\
from veomni.ops.dispatch import OpSlot

veomni_rms_norm = OpSlot("rms_norm", "standard")
veomni_swiglu_mlp = OpSlot("swiglu_mlp", "standard")
"""


def model_of(root: Path, files: Mapping[str, str]) -> OpsModel:
    """The base tree with job arguments, and *files* laid over it."""
    write_base_tree(root)
    write_files(root, {"opslint.toml": "", ARGUMENTS: JOB, **files})
    return analyse(*discover([str(root / "veomni")])).model


def rows(result: Binding) -> list[tuple[str, str | None, str, str, str | None]]:
    """Slot, requested implementation, origin, status and stage."""
    return [
        (slot.slot.var, slot.requested, slot.origin, slot.status, slot.stage)
        for model in result.models
        for slot in model.slots
    ]


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (
            "gpu:90",
            [
                ("veomni_rms_norm", "liger_kernel", "default", "bound", None),
                ("veomni_swiglu_mlp", "triton", "default", "bound", None),
            ],
        ),
        (
            "gpu:75",
            [
                ("veomni_rms_norm", "liger_kernel", "default", "bound", None),
                ("veomni_swiglu_mlp", "triton", "default", "error", "hardware"),
            ],
        ),
        (
            "npu",
            [
                ("veomni_rms_norm", "npu", "npu_fallback", "bound", None),
                ("veomni_swiglu_mlp", "eager", "npu_fallback", "eager", None),
            ],
        ),
        (
            "cpu",
            [
                ("veomni_rms_norm", "liger_kernel", "default", "error", "hardware"),
                ("veomni_swiglu_mlp", "triton", "default", "error", "hardware"),
            ],
        ),
    ],
)
def test_defaults(device: str, expected: list[tuple[str, str, str, str, str | None]], tmp_path: Path) -> None:
    """Every device with the defaults; the NPU takes its fallbacks, from the only file of the model."""
    result = bind(model_of(tmp_path, {}), parse_device(device), {}, None, None)
    assert rows(result) == expected
    assert result.failed == any(row[3] == "error" for row in expected)


def test_a_job_file(tmp_path: Path) -> None:
    """The file of a job decides, through anchors and merge keys; what it does not name keeps its default."""
    job = "kept: &kept {rms_norm_implementation: fused}\nmodel:\n  ops_implementation:\n    <<: *kept\n"
    model = model_of(tmp_path, {"job.yaml": job})
    name, written, _ = read_job_file(model, str(tmp_path / "job.yaml"))
    result = bind(model, parse_device("npu"), written, name, None)
    assert rows(result) == [
        ("veomni_rms_norm", "npu", "config", "bound", None),
        ("veomni_swiglu_mlp", "eager", "npu_fallback", "eager", None),
    ]
    given = result.models[0].slots[0].given
    assert given is not None
    assert (str(given.place), result.config) == ("job.yaml:1:14", "job.yaml")


def test_rejected_values(tmp_path: Path) -> None:
    """A value that the tables do not allow stops every job, before any slot is bound."""
    job = "model: {ops_implementation: {rms_norm_implementation: npu, swiglu_mlp_implementation: liger}}\n"
    model = model_of(tmp_path, {"job.yaml": job})
    _, written, _ = read_job_file(model, str(tmp_path / "job.yaml"))
    result = bind(model, parse_device("gpu:90"), written, "job.yaml", None)
    assert rows(result) == [
        ("veomni_rms_norm", "npu", "config", "error", "config"),
        ("veomni_swiglu_mlp", "liger", "config", "error", "resolve"),
    ]
    assert [value.error for value in result.rejected] == ["ValueError: rms_norm_implementation='npu' needs an NPU"]


def test_npu_file(tmp_path: Path) -> None:
    """A model with a file for the NPU is bound from that file there, and from the other one elsewhere."""
    model = model_of(tmp_path, {f"{GENERATED}/patched_modeling_llama_npu.py": NPU_FILE})
    bound = {device: bind(model, parse_device(device), {}, None, "llama") for device in ("npu", "cpu", "gpu:80")}
    assert {device: [one.file.path for one in result.models] for device, result in bound.items()} == {
        "npu": [f"{GENERATED}/patched_modeling_llama_npu.py"],
        "cpu": [f"{GENERATED}/patched_modeling_llama_gpu.py"],
        "gpu:80": [f"{GENERATED}/patched_modeling_llama_gpu.py"],
    }


def test_what_cannot_be_known(tmp_path: Path) -> None:
    """A default, a variant or a registration that only a run could tell is unknown and fails nothing."""
    files = {
        ARGUMENTS: JOB.replace('swiglu_mlp_implementation: str = "triton"', "swiglu_mlp_implementation: str = pick()"),
        f"{GENERATED}/patched_modeling_llama_gpu.py": (
            "from veomni.ops.dispatch import OpSlot\n"
            'a = OpSlot("rms_norm", VARIANT)\nb = OpSlot("swiglu_mlp", "standard")\nc = OpSlot("rms_norm", "other")\n'
        ),
        "veomni/ops/kernels/odd/__init__.py": (
            "from ...kernel_registry import KERNEL_REGISTRY, KernelSpec\n\n"
            'KERNEL_REGISTRY.register(KernelSpec(NAME.pop(), "rms_norm", "other", print, None))\n'
        ),
        "veomni/ops/kernels/__init__.py": "from . import odd, rms_norm, swiglu\n",
    }
    result = bind(model_of(tmp_path, files), parse_device("gpu:90"), {}, None, None)
    assert rows(result) == [
        ("a", None, "default", "unknown", None),
        ("b", None, "default", "unknown", None),
        ("c", "liger_kernel", "default", "unknown", None),
    ]
    assert not result.failed


def test_a_slot_without_field(tmp_path: Path) -> None:
    """A slot whose config field does not exist stays eager."""
    files = {
        f"{GENERATED}/patched_modeling_llama_gpu.py": (
            'from veomni.ops.dispatch import OpSlot\nveomni_new = OpSlot("new_op", "standard")\n'
        )
    }
    result = bind(model_of(tmp_path, files), parse_device("gpu:90"), {}, None, None)
    assert rows(result) == [("veomni_new", "eager", "no_field", "eager", None)]


PATCH = """\
from ....ops.config.registry import BackendSpec, apply_per_model_patches

_TRITON = BackendSpec(entry="a:b")
_EXTRA = {"triton": _TRITON, "liger_kernel": None}


def apply_device_patch():
    apply_per_model_patches(
        hf_module=object(),
        model_name="Wan",
        targets={"rms_norm": "RMSNorm", "rope": "apply_rope"},
        extra_backends={"rope": _EXTRA},
    )
"""
OPS = """\
from ...config.registry import BackendSpec, OpScope, OpSpec, register_op

for name, field in (("rms_norm", "rms_norm_implementation"), ("rope", "rms_norm_implementation")):
    register_op(
        OpSpec(
            name=name,
            config_field=field,
            label=name,
            scope=OpScope.PER_MODEL,
            default="liger_kernel",
            backends={"liger_kernel": BackendSpec("a:b"), "npu": BackendSpec("a:c", requires=("torch_npu",))},
        )
    )
"""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("liger_kernel", [("rms_norm", "bound"), ("rope", "error")]),
        ("triton", [("rms_norm", "error"), ("rope", "bound")]),
        ("eager", [("rms_norm", "eager"), ("rope", "eager")]),
    ],
)
def test_device_patches(value: str, expected: list[tuple[str, str]], tmp_path: Path) -> None:
    """A model's own backends come before those of the op, and one that is None is barred."""
    files = {
        "veomni/models/transformers/wan/__init__.py": "",
        "veomni/models/transformers/wan/device_patch.py": PATCH,
        "veomni/ops/kernels/legacy/__init__.py": OPS,
        "veomni/ops/kernels/__init__.py": "from . import legacy, rms_norm, swiglu\n",
        "job.yaml": f"model: {{ops_implementation: {{rms_norm_implementation: {value}}}}}\n",
    }
    model = model_of(tmp_path, files)
    _, written, _ = read_job_file(model, str(tmp_path / "job.yaml"))
    result = bind(model, parse_device("gpu:90"), written, "job.yaml", "wan")
    assert [(patch.target.op_name, patch.status) for patch in result.patches] == expected
    assert bind(model, parse_device("gpu:90"), written, "job.yaml", "llama").patches == ()


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ("model: [", "is no valid YAML"),
        ("a: 1\n---\nb: 2\n", "it holds more than one document"),
        ("- model\n", "holds no mapping of arguments"),
        ("jobs: {}\n", "none of its keys is an argument of a job (model)"),
        (
            "model: {ops_implementation: {rms_norm_implementaton: eager}}\n",
            "no field `rms_norm_implementaton`, so a job ignores it; did you mean `rms_norm_implementation`?",
        ),
    ],
)
def test_faulty_job_files(job: str, message: str, tmp_path: Path) -> None:
    """What a job could not use, or would ignore, is an error that says where."""
    model = model_of(tmp_path, {"job.yaml": job})
    with pytest.raises(RunError) as raised:
        read_job_file(model, str(tmp_path / "job.yaml"))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [("lama", "there are llama; did you mean `llama`?"), ("x", "--model x: no model with slots is called that")],
)
def test_unknown_model(name: str, message: str, tmp_path: Path) -> None:
    """A model that does not exist ends the run, with the nearest one that does."""
    with pytest.raises(RunError) as raised:
        bind(model_of(tmp_path, {}), parse_device("cpu"), {}, None, name)
    assert message in str(raised.value)


@pytest.mark.parametrize("text", ["gpu", "gpu:", "gpu:9.0", "npu:1", "", "cuda", "gpu:1000"])
def test_unknown_device(text: str) -> None:
    """What is no device ends the run."""
    with pytest.raises(RunError, match="is none of gpu:N, npu and cpu"):
        parse_device(text)


def test_nothing_to_bind(tmp_path: Path) -> None:
    """A tree without config class, or without slots, is told so instead of being reported fine."""
    with pytest.raises(RunError, match="has no OpsImplementationConfig with fields"):
        bind(model_of(tmp_path / "a", {ARGUMENTS: ""}), parse_device("cpu"), {}, None, None)
    empty = model_of(tmp_path / "b", {f"{GENERATED}/patched_modeling_llama_gpu.py": ""})
    with pytest.raises(RunError, match="has an OpSlot, so there is nothing to bind"):
        bind(empty, parse_device("cpu"), {}, None, None)
