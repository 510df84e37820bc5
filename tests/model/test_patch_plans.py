"""Tests of what patch configs are understood to say."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.models import model_of

from veomni_opslint.model.patch_plans import PatchPlan

FOLDER = "veomni/models/transformers/mini"
GENERATED = "veomni.models.transformers.mini.generated.patched_modeling_mini_gpu"
HEAD = """\
from veomni.patchgen import PatchConfig
config = PatchConfig(source_module="transformers.mini", target_file="patched_modeling_mini_gpu.py")
def patched(self):
    return 1
class Helper:
    pass
"""
EVERYTHING = {"code", "imports", "blocks", "dropped", "excluded"}


def plan_of(root: Path, text: str, **others: str) -> PatchPlan:
    """The plan of a config that has *text* after its head."""
    files = {f"{FOLDER}/{name}.py": code for name, code in others.items()}
    return model_of(root, {f"{FOLDER}/mini_gpu_patch_gen_config.py": HEAD + text, **files}).patch_plans[GENERATED]


def said(plan: PatchPlan) -> list[tuple[str, str, str]]:
    """Kind, target and origin of each piece of code."""
    return [
        (one.kind, one.target, one.definition.node.name if one.definition is not None else one.external)
        for one in plan.code
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('config.override_method("A.f", replacement=patched)', [("method", "A.f", "patched")]),
        ('config.override_method("A.f")(patched)', [("method", "A.f", "patched")]),
        ('config.replace_function("f", patched, {"A": "B"})', [("function", "f", "patched")]),
        ("config.add_helper(Helper)", [("helper", "Helper", "Helper")]),
        ('config.add_helper_after("A", Helper)', [("helper", "Helper", "Helper")]),
        ('config.replace_class("A", replacement=Helper)\nconfig.override_method("A.f", replacement=patched)',
         [("class", "A", "Helper")]),
        ('config.override_method("A.f", replacement=Helper)\nconfig.override_method("A.f", replacement=patched)',
         [("method", "A.f", "patched")]),
        ('for owner in ("A", "B"):\n    config.override_method(f"{owner}.f", replacement=patched)',
         [("method", "A.f", "patched"), ("method", "B.f", "patched")]),
        ('config.override_method("A.f", replacement=patched)\nconfig.exclude_from_output("A")', []),
        ('config.patches.append(create_patch_from_external("A", "lib.norms", "Norm"))',
         [("class", "A", "lib.norms.Norm")]),
        ('@config.override_method("A.f")\n@torch.no_grad()\ndef other(self):\n    pass', [("method", "A.f", "other")]),
    ],
)  # fmt: skip
def test_code(tmp_path: Path, text: str, expected: list[tuple[str, str, str]]) -> None:
    """Every way to ask for code is understood; the last patch of a target is the one that counts."""
    plan = plan_of(tmp_path, text)
    assert (said(plan), plan.unknown) == (expected, frozenset())


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("share(config)", EVERYTHING),
        ("if FLAG:\n    config.add_import('m', names=['a'])", EVERYTHING),
        ("config.post_import_blocks = []", {"blocks"}),
        ("config.override_method(TARGET, replacement=patched)", {"code"}),
        ("config.add_import(MODULE, names=['a'])", {"imports"}),
        ("config.drop_import_names(NAME)", {"dropped"}),
        ("config.add_post_import_block(code())", {"blocks"}),
        ("config.helpers.extend(one for one in others.helpers if good(one))", {"code"}),
        ("print('hello')", set()),
    ],
)
def test_unknown_parts(tmp_path: Path, text: str, unknown: set[str]) -> None:
    """What cannot be understood makes the parts that it may touch unknown, and no others."""
    assert plan_of(tmp_path, text).unknown == unknown


def test_imports_and_names(tmp_path: Path) -> None:
    """Imports with and without names and aliases, and names that are dropped or excluded."""
    plan = plan_of(
        tmp_path,
        'config.add_import("m", names=["a", "b as c"])\n'
        'config.add_import("numpy", alias="np", is_from_import=False)\n'
        'config.add_import("star")\n'
        'config.drop_import_names("x", "y")\n'
        'config.exclude_from_output("K")\n',
    )
    imports = [(one.module, one.name, one.bound) for one in plan.imports]
    assert imports == [("m", "a", "a"), ("m", "b", "c"), ("numpy", "", "np"), ("star", "*", "*")]
    assert (plan.dropped, plan.excluded) == (("x", "y"), ("K",))


def test_another_config(tmp_path: Path) -> None:
    """A config takes over lists of another one, some helpers only, and a copy of it can go on under a new target."""
    gpu = HEAD + 'config.add_import("m", names=["a"])\nconfig.add_helper(Helper)\nconfig.add_helper(patched)\n'
    start = "from .mini_gpu_patch_gen_config import config as gpu_config\nfrom veomni.patchgen import PatchConfig\n"
    npu = (
        f'{start}config = PatchConfig(source_module="transformers.mini", target_file="patched_modeling_mini_npu.py")\n'
        "config.additional_imports.extend(gpu_config.additional_imports)\n"
        'config.helpers.extend(one for one in gpu_config.helpers if one.__name__ != "Helper")\n'
    )
    other = (
        "from .mini_gpu_patch_gen_config import config\n"
        'config.target_file = "patched_modeling_mini_other.py"\nconfig.add_import("n", names=["b"])\n'
    )
    files = {"gpu": gpu, "npu": npu, "other": other}
    plans = model_of(
        tmp_path, {f"{FOLDER}/mini_{name}_patch_gen_config.py": text for name, text in files.items()}
    ).patch_plans
    found = {
        name.rpartition("_")[2]: ([one.bound for one in plan.imports], [one.target for one in plan.code])
        for name, plan in plans.items()
        if ".mini." in name
    }
    assert found == {
        "gpu": (["a"], ["Helper", "patched"]),
        "npu": (["a"], ["patched"]),
        "other": (["a", "b"], ["Helper", "patched"]),
    }
