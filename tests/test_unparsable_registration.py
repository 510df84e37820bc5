"""A file that cannot be parsed is one finding: nothing is said about what it would have registered."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.models import model_of
from support.projects import places, write_base_tree, write_files

from veomni_opslint.check import Request, check
from veomni_opslint.findings import Severity
from veomni_opslint.model.registered_pairs import may_be_registered
from veomni_opslint.rule_loader import Selection

BROKEN = "\ndef broken(:\n"
PATCH = """\
from veomni.ops.config.registry import BackendSpec, apply_per_model_patches


def apply_veomni_wan_device_patch(hf_module):
    apply_per_model_patches(
        hf_module=hf_module,
        model_name="wan",
        targets={"rms_norm": "RMSNorm", "rotary": "apply_rope"},
        extra_backends={"rotary": {"other": BackendSpec(entry="veomni.ops.kernels.swiglu.triton:swiglu_triton")}},
    )
"""
OP_SPEC = """\
from .config.registry import BackendSpec, OpScope, OpSpec, register_op

register_op(
    OpSpec(
        name="{0}",
        config_field="attn_implementation",
        label="{0}",
        scope=OpScope.PER_MODEL,
        default="eager",
        backends={{"one": BackendSpec(entry="veomni.ops.kernels.swiglu.triton:swiglu_triton")}},
    )
)
"""


@pytest.mark.parametrize(
    "path",
    [
        "veomni/ops/kernels/rms_norm/__init__.py",
        "veomni/ops/kernels/swiglu/__init__.py",
        "veomni/ops/kernel_registry.py",
        "veomni/ops/dispatch.py",
        "veomni/models/transformers/llama/llama_gpu_patch_gen_config.py",
    ],
)
def test_no_cascade(path: str, tmp_path: Path) -> None:
    """Whatever registers kernels is broken: no other rule has anything to say."""
    assert _places_with_broken(tmp_path, path, {}) == Counter({(path, _lines(tmp_path, path), "OPS001"): 1})


def test_no_cascade_of_op_specs(tmp_path: Path) -> None:
    """A device patch may name an op that the broken file registers."""
    files = {
        "veomni/models/transformers/wan/__init__.py": "",
        "veomni/models/transformers/wan/device_patch.py": PATCH,
        "veomni/ops/legacy_norm.py": OP_SPEC.format("rms_norm"),
        "veomni/ops/legacy_rotary.py": OP_SPEC.format("rotary"),
        "veomni/ops/__init__.py": "from . import kernels, legacy_norm, legacy_rotary\n"
        "from .dispatch import OpsConfigSlot, OpSlot\n"
        "from .kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec\n",
    }
    path = "veomni/ops/legacy_rotary.py"
    assert ("veomni/models/transformers/wan/device_patch.py", 8, "OPS407") not in _places_with_broken(
        tmp_path, path, files
    )


def test_no_cascade_of_slots(tmp_path: Path) -> None:
    """The only slots for some kernels are in the broken files: nothing says that the kernels are unused."""
    folder = "veomni/models/transformers/llama"
    generated = f"{folder}/generated/patched_modeling_llama_gpu.py"
    broken = BROKEN.join([(Path(__file__).parent / "support/base_tree" / generated).read_text(encoding="utf-8"), ""])
    used = 'from veomni.ops.dispatch import OpSlot\n\nveomni_rms_norm = OpSlot("rms_norm", "standard")\n'
    other = "veomni/models/transformers/qwen/generated/patched_modeling_qwen_gpu.py"
    model = model_of(tmp_path, {generated: broken, other: used})
    (tmp_path / f"{folder}/llama_gpu_patch_gen_config.py").unlink()
    assert [slot.op_name for slot in model.slots if slot.source == "generated"] == ["rms_norm"]
    found = check(Request((str(tmp_path),), root=str(tmp_path), selection=Selection(select=("OPS303",))))
    assert [(one.code, one.place.path) for one in found.findings] == [("OPS001", generated)]


def test_other_kernels_are_still_judged(tmp_path: Path) -> None:
    """What the broken file names may be registered there; what it does not name, and others register, is not."""
    path = "veomni/ops/kernels/rms_norm/__init__.py"
    write_base_tree(tmp_path)
    broken = (tmp_path / path).read_text(encoding="utf-8") + BROKEN
    model = model_of(tmp_path, {path: broken})
    assert may_be_registered(model, "rms_norm", "gated")
    assert not may_be_registered(model, "swiglu_mlp", "gated")


def _places_with_broken(root: Path, path: str, files: dict[str, str]) -> Counter[tuple[str, int, str]]:
    write_base_tree(root)
    write_files(root, files)
    write_files(root, {path: (root / path).read_text(encoding="utf-8") + BROKEN})
    return places(check(Request((str(root),), root=str(root), min_severity=Severity.INFO)))


def _lines(root: Path, path: str) -> int:
    return len((root / path).read_text(encoding="utf-8").splitlines())
