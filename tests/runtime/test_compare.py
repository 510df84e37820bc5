"""The registry as it runs against the registry as it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from runtime.planted import FILES, run_tree, write_tree
from support.projects import write_files

SPECS = """
import os

from ..kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec


def _one():
    return max


def _other():
    return min

"""
CONFIG = """
from dataclasses import dataclass
from typing import Literal


@dataclass
class OpsImplementationConfig:
    sum_implementation: Literal["eager", "first"] = "first"
"""
MODEL = """
from tiny.ops.dispatch import OpSlot

veomni_sum = OpSlot("sum", "standard")
"""
DISPATCH = """
class OpSlot:
    def __init__(self, op_name, variant):
        self.op_name, self.variant = op_name, variant
"""
GENERATED = "tiny/models/transformers/small/generated/patched_modeling_small_gpu.py"
MODELS = {
    "tiny/ops/dispatch.py": DISPATCH,
    "tiny/arguments.py": CONFIG,
    GENERATED: MODEL,
    **{
        f"tiny/models/{folder}__init__.py": ""
        for folder in ("", "transformers/", "transformers/small/", "transformers/small/generated/")
    },
}
TWICE = 'KERNEL_REGISTRY.register(KernelSpec("x", "sum", "standard", {}, HardwareRequirement("any")){})\n'


def findings(root: Path) -> list[tuple[str, int, str]]:
    """Path, line and the beginning of the message of each finding of OPS901."""
    report = run_tree(root).report
    assert {finding.code for finding in report.findings} <= {"OPS901"}
    return [
        (finding.place.path, finding.place.line, finding.message.partition("; what depends")[0])
        for finding in report.findings
    ]


def test_equal_trees(tmp_path: Path) -> None:
    """Kernels, slots and fields that run as they are written give nothing."""
    write_tree(tmp_path)
    write_files(tmp_path, MODELS)
    outcome = run_tree(tmp_path)
    assert outcome.report.findings == ()
    assert [(module.status, len(module.slots)) for module in outcome.run.modules] == [("ok", 1)]
    assert outcome.run.config_fields == (
        {"name": "sum_implementation", "default": "first", "choices": ["eager", "first"]},
    )


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        (
            'if os.environ.get("TINY_EXTRA"):\n    ' + TWICE.format("_one", ""),
            15,
            (
                "sum/standard `x` is not registered in the running program: "
                'it is registered only if `os.environ.get("TINY_EXTRA")`'
            ),
        ),
        (
            TWICE.format("_one", "") + 'object.__setattr__(SPECS["x"].hardware, "device_type", "npu")\n',
            14,
            "sum/standard `x` differs: device_type is 'any' in the source and 'npu' when it runs",
        ),
        (
            TWICE.format("_one", "") + 'object.__setattr__(SPECS["x"], "factory", _other)\n',
            14,
            "sum/standard `x` differs: factory is `_one` in the source and `_other` when it runs",
        ),
    ],
    ids=["environment", "hardware", "factory"],
)
def test_kernels(source: str, line: int, message: str, tmp_path: Path) -> None:
    """A kernel that is missing when it runs, or is another one, is reported where it is registered."""
    write_tree(tmp_path, kernels__planted=SPECS + source.replace("SPECS", 'KERNEL_REGISTRY._specs["sum", "standard"]'))
    assert findings(tmp_path) == [("tiny/ops/kernels/planted.py", line, message)]


def test_replaced_kernel_is_the_last(tmp_path: Path) -> None:
    """A kernel that another one replaces with force is no difference."""
    write_tree(tmp_path, kernels__planted=SPECS + TWICE.format("_one", "") + TWICE.format("_other", ", force=True"))
    assert findings(tmp_path) == []


def test_slots(tmp_path: Path) -> None:
    """A slot that is made, or changed, when the module runs is reported."""
    write_tree(tmp_path)
    changed = MODEL + 'veomni_sum.variant = "fast"\nglobals()["veomni_" + "more"] = OpSlot("sum", "standard")\n'
    write_files(tmp_path, {**MODELS, GENERATED: changed})
    assert findings(tmp_path) == [
        (GENERATED, 1, "the slot `veomni_more` exists only when the module runs"),
        (GENERATED, 4, "the slot `veomni_sum` differs: variant is 'standard' in the source and 'fast' when it runs"),
    ]


def test_config_fields(tmp_path: Path) -> None:
    """A default that is another one when it runs is reported at the field."""
    write_tree(tmp_path)
    changed = CONFIG + '\nOpsImplementationConfig.__dataclass_fields__["sum_implementation"].default = "eager"\n'
    write_files(tmp_path, {**MODELS, "tiny/arguments.py": changed})
    assert findings(tmp_path) == [
        (
            "tiny/arguments.py",
            8,
            (
                "OpsImplementationConfig.sum_implementation differs: "
                "default is 'first' in the source and 'eager' when it runs"
            ),
        )
    ]


CHAIN = {
    "flash_attn/__init__.py": "from . import ops\n",
    "flash_attn/ops.py": "",
    "between.py": "import flash_attn\n",
    "tiny/ops/kernels/planted.py": "from . import middle\n",
    "tiny/ops/kernels/middle.py": "def load():\n    import flash_attn\n\n\nload()\n",
}


def test_optional_package_is_named_with_its_chain(tmp_path: Path) -> None:
    """The finding is at the import, the way there is beside it, and the package has its cost."""
    write_files(tmp_path, {**FILES, **CHAIN})
    outcome = run_tree(tmp_path)
    finding = outcome.report.findings[0]
    assert [one.code for one in outcome.report.findings] == ["OPS902"]
    assert (finding.place.path, finding.place.line) == ("tiny/ops/kernels/middle.py", 2)
    assert [(related.place.path, related.message) for related in finding.related] == [
        ("tiny/ops/__init__.py", "`tiny.ops` imports `tiny.ops.kernels`"),
        ("tiny/ops/kernels/__init__.py", "`tiny.ops.kernels` imports `tiny.ops.kernels.planted`"),
        ("tiny/ops/kernels/planted.py", "`tiny.ops.kernels.planted` imports `tiny.ops.kernels.middle`"),
    ]
    assert [cost.modules for cost in outcome.run.imported.packages if cost.package == "flash_attn"] == [2]


def test_optional_package_of_another_package(tmp_path: Path) -> None:
    """What a package outside the project imports is in the report and is no finding."""
    outside = tmp_path / "outside"
    write_files(
        tmp_path,
        {**FILES, "tiny/ops/kernels/planted.py": f"import sys\nsys.path.append({str(outside)!r})\nimport between\n"},
    )
    write_files(outside, {name: CHAIN[name] for name in ("flash_attn/__init__.py", "flash_attn/ops.py", "between.py")})
    outcome = run_tree(tmp_path)
    assert outcome.report.findings == ()
    assert [link.module for link in outcome.run.imported.optional[0].chain][-2:] == ["between", "flash_attn"]
