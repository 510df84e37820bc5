"""A tiny ops package without torch in which faults are planted, and its run."""

from __future__ import annotations

from pathlib import Path

from support.projects import write_files

from veomni_opslint.check import Request
from veomni_opslint.runtime.command import Outcome, examine
from veomni_opslint.runtime.request import RuntimeOptions

REGISTRY = """
from dataclasses import dataclass
from typing import Any, Callable


@dataclass(frozen=True)
class HardwareRequirement:
    device_type: str
    min_compute_capability: int | None = None
    max_compute_capability: int | None = None

    def is_satisfied(self):
        return self.device_type == "any"


@dataclass(frozen=True)
class KernelSpec:
    name: str
    op_name: str
    variant: str
    factory: Callable[[], Callable[..., Any]]
    hardware: HardwareRequirement
    description: str = ""


class KernelRegistry:
    def __init__(self):
        self._specs = {}

    def register(self, spec, force=False):
        specs = self._specs.setdefault((spec.op_name, spec.variant), {})
        if spec.name in specs and not force:
            raise ValueError(f"duplicate kernel {spec.name}")
        specs[spec.name] = spec

    def resolve(self, op_name, variant, name):
        spec = self._specs[op_name, variant][name]
        if not spec.hardware.is_satisfied():
            raise RuntimeError("hardware")
        return spec.factory()


KERNEL_REGISTRY = KernelRegistry()
"""
HEALTHY = """
from ..kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

STATE = {"kernel": max}


def _first():
    return STATE["kernel"]


def _second():
    from .plain import add

    return add


ANY = HardwareRequirement("any")
KERNEL_REGISTRY.register(KernelSpec("first", "sum", "standard", _first, ANY))
KERNEL_REGISTRY.register(KernelSpec("second", "sum", "standard", _second, ANY))
KERNEL_REGISTRY.register(KernelSpec("npu", "sum", "standard", _second, HardwareRequirement("npu")))
"""
FILES = {
    "pyproject.toml": '[project]\nname = "tiny"\noptional-dependencies = { npu = ["torch-npu"] }\n',
    "tiny/__init__.py": "",
    "tiny/ops/__init__.py": "from . import kernels\n",
    "tiny/ops/kernel_registry.py": REGISTRY,
    "tiny/ops/kernels/__init__.py": "from . import healthy, planted\n",
    "tiny/ops/kernels/healthy.py": HEALTHY,
    "tiny/ops/kernels/plain.py": "def add(x, y):\n    return x + y\n",
    "tiny/ops/kernels/planted.py": "",
}
HEADER = """\
import os
import signal
import sys

from ..kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec


def _factory():
"""
REGISTERED = """

KERNEL_REGISTRY.register(KernelSpec("planted", "sum", "standard", _factory, HardwareRequirement("any")))
"""
FACTORY_LINE = HEADER.count("\n")
HEALTHY_STATES = {"first": "ok", "second": "ok", "npu": "gated"}
QUICK = RuntimeOptions(timeout=2.0, import_timeout=20.0, memory=1 << 28, jobs=2)


def write_tree(root: Path, **files: str) -> None:
    """The package with other contents for some of its files, named with ``__`` for ``/``."""
    write_files(root, {**FILES, **{f"tiny/ops/{path.replace('__', '/')}.py": text for path, text in files.items()}})


def factory(body: str) -> str:
    """The module ``planted`` with a kernel of that name whose factory has *body*."""
    return HEADER + "".join(f"    {line}\n" for line in body.splitlines()) + REGISTERED


def run_tree(root: Path, options: RuntimeOptions = QUICK) -> Outcome:
    """Run the package at *root*."""
    return examine(Request((str(root / "tiny"),), root=str(root)), options)
