"""Slots that the program binds on this machine, beside what is expected."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from runtime.planted import QUICK, run_tree, write_tree
from runtime.test_compare import GENERATED, MODELS
from support.command import opslint
from support.projects import write_files

DISPATCH = """
from .kernel_registry import KERNEL_REGISTRY


class OpSlot:
    def __init__(self, op_name, variant):
        self.op_name, self.variant, self.kernel = op_name, variant, None

    def bind(self, name):
        self.kernel = KERNEL_REGISTRY.resolve(self.op_name, self.variant, name) if name != "eager" else None

    use_non_eager_impl = property(lambda self: self.kernel is not None)

    def bound_kernel(self):
        return self.kernel
"""
AUTO = """
from ..ops.dispatch import OpSlot


def _bind_veomni_ops(module, config):
    for name in dir(module):
        slot = getattr(module, name)
        if isinstance(slot, OpSlot):
            slot.bind(getattr(config, f"{slot.op_name}_implementation", "eager"))
"""
CONFIG = """
from dataclasses import dataclass, field


@dataclass
class OpsImplementationConfig:
    sum_implementation: str = "first"


@dataclass
class Arguments:
    ops: OpsImplementationConfig = field(default_factory=OpsImplementationConfig)
"""
FILES = {
    **MODELS,
    GENERATED: MODELS[GENERATED] + 'veomni_none = OpSlot("nothing", "standard")\n',
    "tiny/ops/dispatch.py": DISPATCH,
    "tiny/models/auto.py": AUTO,
    "tiny/arguments.py": CONFIG,
}


def test_bound_as_expected(tmp_path: Path) -> None:
    """A slot has its kernel, one without a field stays eager, and both agree with the source."""
    write_tree(tmp_path)
    write_files(tmp_path, FILES)
    outcome = run_tree(tmp_path, replace(QUICK, model="small"))
    assert [(one.var, one.status, one.expected, one.kernel) for one in outcome.run.bindings] == [
        ("veomni_none", "eager", "eager", ""),
        ("veomni_sum", "bound", "bound", "builtins:max"),
    ]
    assert outcome.report.findings == ()


def test_other_than_expected(tmp_path: Path) -> None:
    """A function that binds in another way than opslint knows is a finding at the slot."""
    write_tree(tmp_path)
    changed = AUTO.replace("slot.bind(", 'slot.bind("eager" or ')
    write_files(tmp_path, {**FILES, "tiny/models/auto.py": changed})
    findings = run_tree(tmp_path, replace(QUICK, model="small")).report.findings
    assert [(finding.code, finding.place.path, finding.place.line) for finding in findings] == [
        ("OPS901", GENERATED, 4)
    ]


def test_job_file(tmp_path: Path) -> None:
    """The values of a job select the kernels; one that needs other hardware cannot be bound, as expected."""
    write_tree(tmp_path)
    write_files(tmp_path, {**FILES, "job.yaml": "ops:\n  sum_implementation: npu\n"})
    done = opslint("runtime", "tiny", "--config", "job.yaml", cwd=tmp_path)
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[lines.index("  model  slot         gets") :][:5] == [
        "  model  slot         gets",
        "  small  veomni_none  eager",
        "  small  veomni_sum   error: RuntimeError: hardware",
        "",
        "0 slots bound, 1 eager, 1 cannot be bound.",
    ]
    assert done.out.splitlines()[-1].startswith("no findings")
