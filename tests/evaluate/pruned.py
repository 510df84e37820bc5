"""FileFacts with a pruned tree, made from text without the extractor, and short forms of what is registered."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from textwrap import dedent

from veomni_opslint.dialect import Dialect
from veomni_opslint.evaluate import evaluate
from veomni_opslint.facts import FileFacts
from veomni_opslint.registrations import Factory, KernelSpec, Registrations

REGISTRY = """
from dataclasses import dataclass, field
from enum import Enum


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
        self._specs = {}

    def register(self, spec, force=False):
        self._specs[spec.op_name, spec.variant, spec.name] = spec

    def register_many(self, specs, **options):
        for spec in specs:
            self.register(spec, **options)

    def names(self):
        return list(self._specs)


KERNEL_REGISTRY = KernelRegistry()


class OpScope(str, Enum):
    GLOBAL = "global"
    PER_MODEL = "per_model"


@dataclass(frozen=True)
class BackendSpec:
    entry: str
    requires: tuple[str, ...] = ()
    side_effect: str | None = None
    replace_forward: bool = False
    entry_is_factory: bool = False
    target_override: str | None = None


@dataclass(frozen=True)
class OpSpec:
    name: str
    config_field: str
    label: str
    scope: OpScope
    default: str
    backends: dict[str, BackendSpec] = field(default_factory=dict)
    global_slot: str | None = None


_OPS = {}


def register_op(spec):
    if spec.name in _OPS:
        raise ValueError(spec.name)
    _OPS[spec.name] = spec
"""
HEADER = """\
import os
import sys
import outside
from outside import HAS_A, HAS_B
from .registry import KERNEL_REGISTRY, BackendSpec, HardwareRequirement, KernelSpec, OpScope, OpSpec, register_op


def factory():
    return None


GPU = HardwareRequirement("gpu")


def spec(name, op_name="op", variant="v", factory=factory, hardware=GPU):
    return KernelSpec(name=name, op_name=op_name, variant=variant, factory=factory, hardware=hardware)


"""
FIRST_LINE = HEADER.count("\n")


def facts_of(path: str, text: str) -> FileFacts:
    """The facts of one file, with only what the evaluator reads."""
    tree = ast.parse(text)
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = []
        waiting.extend(ast.iter_child_nodes(node))
    return FileFacts(path=path, text=text, problem=None, tree=tree)


def project(files: Mapping[str, str]) -> tuple[dict[str, FileFacts], frozenset[str]]:
    """Modules and packages of a project given as its files by path."""
    modules, packages = {}, set()
    for path, text in files.items():
        name = path.removesuffix(".py").replace("/", ".")
        if name.endswith(".__init__"):
            name = name.removesuffix(".__init__")
            packages.add(name)
        modules[name] = facts_of(path, text)
    return modules, frozenset(packages)


def registrations_of(files: Mapping[str, str], dialect: Dialect | None = None) -> Registrations:
    """What the files of a project register."""
    modules, packages = project(files)
    return evaluate(modules, packages, dialect or Dialect())


def evaluated(code: str, others: Mapping[str, str] | None = None) -> Registrations:
    """What a module of a small project registers: *code* follows HEADER; *others* are modules beside it."""
    files = {"ops/__init__.py": "", "ops/registry.py": REGISTRY, "ops/kernels.py": HEADER + dedent(code)}
    files.update({f"ops/{name}": dedent(text) for name, text in (others or {}).items()})
    return registrations_of(files)


def short(spec: KernelSpec) -> str:
    """A spec as ``op/variant/name``, followed by its conditions."""
    return " if ".join((f"{spec.op_name}/{spec.variant}/{spec.name}", *spec.conditions))


def registered(code: str, others: Mapping[str, str] | None = None) -> list[str]:
    """The specs that *code* registers; anything unresolved is listed too."""
    found = evaluated(code, others)
    return [short(item) for item in found.kernel_specs] + [f"? {item.reason}" for item in found.unresolved]


def names(code: str, others: Mapping[str, str] | None = None) -> list[str]:
    """As ``registered``, for specs that differ only in their name."""
    return [item.removeprefix("op/v/") for item in registered(code, others)]


def factory_in(code: str, others: Mapping[str, str] | None = None) -> object:
    """The factory of the only spec: kind, qualified name, and the line relative to the code."""
    found = evaluated(code, others)
    (item,) = found.kernel_specs
    if not isinstance(item.factory, Factory):
        return item.factory.reason
    line = item.factory.place.line - FIRST_LINE if item.factory.place else 0
    return item.factory.kind, item.factory.qualname or item.factory.dotted, line
