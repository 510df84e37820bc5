# ruff: noqa: E501 - a case is easier to read on one line.
"""Which modules are run."""

from __future__ import annotations

from evaluate.pruned import HEADER, REGISTRY, project, registrations_of

from veomni_opslint.dialect import Dialect
from veomni_opslint.evaluate import evaluate

FILES = {
    "pkg/__init__.py": "",
    "pkg/ops/__init__.py": "from . import kernels\n",
    "pkg/ops/registry.py": REGISTRY,
    "pkg/ops/kernels.py": HEADER + "from ..names import NAME\nKERNEL_REGISTRY.register(spec(NAME))\n",
    "pkg/names.py": "from .more import *\nNAME = MORE + 'x'\n",
    "pkg/more.py": "MORE = 'm'\n",
    "pkg/ops/user.py": "from .registry import KERNEL_REGISTRY\ndef use():\n    KERNEL_REGISTRY.resolve('a')\n",
    "pkg/models/model.py": "from ..ops.registry import KERNEL_REGISTRY\nkernel = KERNEL_REGISTRY.resolve('op', 'v', 'x')\n",
    "pkg/models/other.py": "from .model import kernel\n\n\ndef register():\n    return kernel\n\n\nregister()\n",
}


def test_only_what_registers_is_run() -> None:
    """Modules that read the registry are left alone; others are run for the names that are needed."""
    found = registrations_of(FILES)
    assert [item.name for item in found.kernel_specs] == ["mx"]
    assert found.unresolved == ()
    assert found.evaluated_modules == ("pkg.more", "pkg.names", "pkg.ops", "pkg.ops.kernels", "pkg.ops.registry")


def test_given_roots() -> None:
    """The caller can say which modules to run."""
    modules, packages = project(FILES)
    assert evaluate(modules, packages, Dialect(), roots=["pkg.more", "no.such"]).evaluated_modules == (
        "pkg",
        "pkg.more",
    )


def test_other_names() -> None:
    """A fork that renamed its registry says so in the dialect."""
    files = {path: text.replace("KERNEL_REGISTRY", "KERNELS").replace(".register(", ".add(").replace("KernelSpec", "Kernel")
             .replace("def register(", "def add(") for path, text in FILES.items()}  # fmt: skip
    dialect = Dialect(registry="KERNELS", register_method="add", kernel_spec="Kernel")
    assert [item.name for item in registrations_of(files, dialect).kernel_specs] == ["mx"]
    assert registrations_of(files).kernel_specs == ()
