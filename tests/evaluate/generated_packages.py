"""Random packages of several modules that register kernels, made of the idioms in generated_statements."""

from __future__ import annotations

import random

from evaluate.generated_code import Code
from evaluate.generated_flow import FINAL, FLOW, HELPERS
from evaluate.generated_statements import IDIOMS, wrapped
from evaluate.generated_text import FLAGS

_REGISTRY = """\
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class HardwareRequirement:
    device_type: str
    min_compute_capability: int | None = None
    max_compute_capability: int | None = None


@dataclass(frozen=True)
class KernelSpec:
    name: str
    op_name: str
    variant: str
    factory: object
    hardware: HardwareRequirement
    description: str = ""


class KernelRegistry:
    def __init__(self):
        self.log = []

    def register(self, spec, force=False):
        calls, frame = [], sys._getframe(1)
        while frame is not None:
            calls.append((frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno))
            if frame.f_code.co_name == "<module>":
                break
            frame = frame.f_back
        self.log.append((spec, force, calls))

    def register_many(self, specs, **options):
        for spec in specs:
            self.register(spec, **options)


KERNEL_REGISTRY = KernelRegistry()


def get_registry():
    return KERNEL_REGISTRY
"""
_HEADER = """\
import contextlib
import dataclasses
import enum
import functools
import itertools
import operator
import types
import typing
from dataclasses import replace

import hostinfo
from . import helpers
from . import kernel_registry as kr
from .flags import *
from .helpers import add as add_elsewhere
from .kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec, get_registry
from .kernel_registry import KERNEL_REGISTRY as R, HardwareRequirement as HW

WORDS = ["alpha", "beta", "gamma_1"]
DEVICES = ("gpu", "npu")
Spec = KernelSpec
register = R.register
"""
_FLAGS = (
    "import hostinfo\n\n"
    + "".join(f"{name} = hostinfo.{name}\n" for name in FLAGS)
    + """

def is_ready(name):
    return hostinfo.available(name)
"""
)


def package(seed: int, idioms: int = 5) -> dict[str, str]:
    """The files of one package by path."""
    rng = random.Random(seed)
    name = f"pkg{seed}"
    shared_code = Code(rng, certainty=1.0)
    shared = tuple(shared_code.fresh("SHARED_") for _ in range(3))
    definitions = [f"{word} = {shared_code.text()}" for word in shared]
    files = {
        f"{name}/__init__.py": "from .tables import *\nfrom . import first, second, final\n",
        f"{name}/kernel_registry.py": _REGISTRY,
        f"{name}/flags.py": _FLAGS,
        f"{name}/helpers.py": HELPERS,
        f"{name}/final.py": FINAL,
        f"{name}/tables.py": "\n".join([
            "import dataclasses\nimport enum\nimport functools\nimport operator\nimport types\nimport typing",
            'WORDS = ["alpha", "beta", "gamma_1"]', *shared_code.lines, *definitions,
            "def shared_factory():\n    return None\n",
        ]),
    }  # fmt: skip
    for module in ("first", "second"):
        code = Code(rng, shared)
        source = rng.choice(["from .tables import *", f"from .tables import {', '.join(shared)}, shared_factory",
                             f"from {name}.tables import {', '.join(shared)}, shared_factory"])  # fmt: skip
        for _ in range(idioms):
            block = wrapped(code, rng.choice(IDIOMS if rng.random() < 0.6 else FLOW)(code))
            code.add(*block)
        files[f"{name}/{module}.py"] = "\n".join([_HEADER, source, *code.lines, ""])
    return files
