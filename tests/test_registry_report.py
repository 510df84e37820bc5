"""``opslint registry`` on a small tree, whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects import write_base_tree, write_files

from veomni_opslint.analysis import analyse
from veomni_opslint.discovery import discover
from veomni_opslint.model import OpsModel
from veomni_opslint.registry_document import registry_document
from veomni_opslint.registry_report import render_markdown, render_text
from veomni_opslint.reporters import Presentation

RMS_NORM = "veomni/ops/kernels/rms_norm/__init__.py"
GENERATED = "veomni/models/transformers/llama/generated/patched_modeling_llama_gpu.py"
PATCH_CONFIG = "veomni/models/transformers/llama/llama_gpu_patch_gen_config.py"

LOSS = """\
from ...config.registry import BackendSpec, OpScope, OpSpec, register_op
from ...kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

_loss = None

register_op(
    OpSpec(
        name="loss",
        config_field="loss_implementation",
        label="Loss",
        scope=OpScope.GLOBAL,
        default="eager",
        backends={"eager": BackendSpec(entry="veomni.ops.kernels.swiglu.eager:loss", requires=("triton",))},
        global_slot="veomni.ops.kernels.swiglu:_loss",
    )
)
if SOMETHING:
    KERNEL_REGISTRY.register(
        KernelSpec("fused", "loss", "causal", lambda: None, HardwareRequirement("gpu", 90, 90), "fast")
    )
KERNEL_REGISTRY.register(KernelSpec("odd", NAMES.pop(), "causal", lambda: None, HardwareRequirement("gpu")))


def apply_loss_patch(kernel):
    global _loss
    _loss = kernel


def loss(logits):
    if _loss is None:
        raise NotImplementedError("no kernel is bound")
    return _loss(logits)
"""

WRAPPERS = """\
_SUPPORTED_IMPLEMENTATIONS = {"rms_norm": frozenset({"eager"})}
_SUPPORTED_VARIANTS = {"rms_norm": frozenset({"standard"})}
_DEFAULT_VARIANTS = {"rms_norm": "standard"}
_CONFIG_FIELDS = {"rms_norm": "rms_norm_implementation"}


def _build_rms_norm(variant, impl_name):
    if impl_name == "eager":
        return object
    raise ValueError(impl_name)


_BUILDERS = {"rms_norm": _build_rms_norm}


def get_op_wrapper(name, ops_config):
    return _BUILDERS[name]("standard", "eager")
"""


def model_of(root: Path, files: dict[str, str]) -> OpsModel:
    """The model of the base tree with *files* laid over it."""
    write_base_tree(root)
    write_files(root, {"opslint.toml": "", **files})
    return analyse(*discover([str(root / "veomni")])).model


def test_document(tmp_path: Path) -> None:
    """Every part of the contract for a plain tree."""
    spec = {
        "op_name": "rms_norm",
        "variant": "standard",
        "name": "liger_kernel",
        "device_type": "gpu",
        "min_compute_capability": None,
        "max_compute_capability": None,
        "factory": "veomni.ops.kernels.rms_norm:_liger_factory",
        "file": RMS_NORM,
        "line": 16,
        "factory_file": RMS_NORM,
        "factory_line": 4,
        "description": "",
        "conditions": [],
    }
    swiglu = RMS_NORM.replace("rms_norm", "swiglu")
    arguments = "veomni/arguments/arguments_types.py"
    document = registry_document(model_of(tmp_path, {}))
    assert document == {
        "kernel_specs": [
            spec,
            {
                **spec,
                "name": "npu",
                "device_type": "npu",
                "factory": "veomni.ops.kernels.rms_norm:_npu_factory",
                "line": 25,
                "factory_line": 10,
            },
            {
                **spec,
                "op_name": "swiglu_mlp",
                "name": "triton",
                "min_compute_capability": 80,
                "factory": "veomni.ops.kernels.swiglu:_triton_factory",
                "file": swiglu,
                "line": 10,
                "factory_file": swiglu,
            },
        ],
        "op_specs": [],
        "op_slots": [
            {
                "file": path,
                "line": line,
                "var": f"veomni_{op}",
                "op_name": op,
                "variant": "standard",
                "source": source,
                "embedded": source == "patch_gen_config",
            }
            for path, line, op, source in (
                (GENERATED, 6, "rms_norm", "generated"),
                (GENERATED, 7, "swiglu_mlp", "generated"),
                (PATCH_CONFIG, 9, "rms_norm", "patch_gen_config"),
                (PATCH_CONFIG, 10, "swiglu_mlp", "patch_gen_config"),
            )
        ],
        "config_slots": [],
        "config_fields": [
            {"name": name, "default": default, "choices": choices, "file": arguments, "line": line}
            for name, default, choices, line in (
                ("attn_implementation", "sdpa", ["eager", "sdpa"], 15),
                ("rms_norm_implementation", "liger_kernel", None, 16),
                ("swiglu_mlp_implementation", "triton", None, 17),
            )
        ],
        "pointers": [],
        "wrappers": {},
        "unresolved": [],
    }


def test_legacy_registry_conditions_and_what_is_not_known(tmp_path: Path) -> None:
    """An OpSpec with its pointer, a conditional registration, and one whose content is not known."""
    path = "veomni/ops/kernels/swiglu/__init__.py"
    document = registry_document(model_of(tmp_path, {path: LOSS}))
    assert document["op_specs"] == [
        {
            "name": "loss",
            "config_field": "loss_implementation",
            "scope": "GLOBAL",
            "default": "eager",
            "global_slot": "veomni.ops.kernels.swiglu:_loss",
            "backends": {
                "eager": {
                    "entry": "veomni.ops.kernels.swiglu.eager:loss",
                    "requires": ["triton"],
                    "replace_forward": False,
                    "entry_is_factory": False,
                    "side_effect": None,
                    "target_override": None,
                }
            },
            "file": path,
            "line": 6,
        }
    ]
    module = "veomni.ops.kernels.swiglu"
    pointer = {"module": module, "name": "_loss", "op": "loss", "apply": ["apply_loss_patch"], "public": ["loss"]}
    assert document["pointers"] == [{**pointer, "file": path, "line": 4}]
    specs = document["kernel_specs"]
    assert isinstance(specs, list)
    assert [(spec["name"], spec["conditions"], spec["description"]) for spec in specs if spec["op_name"] == "loss"] == [
        ("fused", ["SOMETHING"], "fast")
    ]
    unresolved = document["unresolved"]
    assert isinstance(unresolved, list)
    assert [(item["file"], item["line"]) for item in unresolved] == [(path, 21)]


def test_wrappers(tmp_path: Path) -> None:
    """The tables as they are written."""
    path = "veomni/distributed/sequence_parallel/op_wrappers.py"
    assert registry_document(model_of(tmp_path, {path: WRAPPERS}))["wrappers"] == {
        "module": "veomni.distributed.sequence_parallel.op_wrappers",
        "file": path,
        "implementations": {"rms_norm": ["eager"]},
        "variants": {"rms_norm": ["standard"]},
        "default_variants": {"rms_norm": "standard"},
        "config_fields": {"rms_norm": "rms_norm_implementation"},
        "builders": {"rms_norm": {"function": "_build_rms_norm", "file": path, "line": 7}},
    }


def test_slot_that_a_later_one_replaces_is_left_out(tmp_path: Path) -> None:
    """Of two slots under one name only the last exists once the module is loaded."""
    source = 'from veomni.ops.dispatch import OpSlot\nslot = OpSlot("a", "b")\nslot = OpSlot("a", "c")\n'
    slots = registry_document(model_of(tmp_path, {GENERATED: source, PATCH_CONFIG: ""}))["op_slots"]
    assert isinstance(slots, list)
    assert [(slot["line"], slot["variant"]) for slot in slots] == [(3, "c")]


def test_text(tmp_path: Path) -> None:
    """Tables for a terminal."""
    assert render_text(model_of(tmp_path, {}), Presentation()) == (
        "Kernels by op and variant\n"
        "\n"
        "  op/variant           implementation  hardware  factory\n"
        "  rms_norm/standard    liger_kernel    gpu       veomni/ops/kernels/rms_norm/__init__.py:4\n"
        "                       npu             npu       veomni/ops/kernels/rms_norm/__init__.py:10\n"
        "  swiglu_mlp/standard  triton          gpu >=80  veomni/ops/kernels/swiglu/__init__.py:4\n"
        "\n"
        "Slots by op and variant\n"
        "\n"
        "  op/variant           generated  patch configs  other\n"
        "  rms_norm/standard    1          1\n"
        "  swiglu_mlp/standard  1          1\n"
        "\n"
        "Config fields\n"
        "\n"
        "  field                      default       declared                                choices\n"
        "  attn_implementation        sdpa          veomni/arguments/arguments_types.py:15  eager, sdpa\n"
        "  rms_norm_implementation    liger_kernel  veomni/arguments/arguments_types.py:16\n"
        "  swiglu_mlp_implementation  triton        veomni/arguments/arguments_types.py:17\n"
    )


def test_text_of_the_legacy_registry(tmp_path: Path) -> None:
    """Exact capabilities, backends, and what is not known have their place."""
    text = render_text(model_of(tmp_path, {"veomni/ops/kernels/swiglu/__init__.py": LOSS}), Presentation())
    assert "  loss/causal        fused           gpu =90   veomni/ops/kernels/swiglu/__init__.py:19\n" in text
    assert "  loss  GLOBAL  loss_implementation  eager    eager     veomni/ops/kernels/swiglu/__init__.py:6\n" in text
    assert "\nNot known\n\n  place                                     reason\n" in text


def test_markdown(tmp_path: Path) -> None:
    """The same tables for a page."""
    assert render_markdown(model_of(tmp_path, {}), Presentation()).startswith(
        "## Kernels by op and variant\n"
        "\n"
        "| op/variant | implementation | hardware | factory |\n"
        "| --- | --- | --- | --- |\n"
        "| rms_norm/standard | liger_kernel | gpu | veomni/ops/kernels/rms_norm/__init__.py:4 |\n"
        "|  | npu | npu | veomni/ops/kernels/rms_norm/__init__.py:10 |\n"
    )


@pytest.mark.parametrize("render", [render_text, render_markdown])
def test_tree_without_a_registry(render: object, tmp_path: Path) -> None:
    """An older generation has nothing to show, and is told so."""
    write_files(tmp_path, {"opslint.toml": "", "veomni/ops/__init__.py": "_op = None\n"})
    model = analyse(*discover([str(tmp_path)])).model
    assert callable(render)
    assert render(model, Presentation()) == "veomni registers no kernel and no op, and declares no slot.\n"
