# ruff: noqa: E501 - a case is easier to read on one line.
"""What is recorded of a registration beside its names: factory, hardware, places, and the ops of the legacy registry."""

from __future__ import annotations

import pytest
from evaluate.pruned import FIRST_LINE, evaluated, factory_in

from veomni_opslint.registrations import KernelSpec

FACTORIES = {
    "def": ("def build():\n    pass\n{}build)", ("function", "build", 1)),
    "lambda": ("\n{}lambda: 1)", ("lambda", "<lambda>", 2)),
    "closure": ("def make():\n    def inner():\n        pass\n    return inner\n{}make())", ("function", "make.<locals>.inner", 2)),
    "lambda of a helper": ("def make():\n    return lambda: 1\n{}make())", ("lambda", "make.<locals>.<lambda>", 2)),
    "partial": ("import functools\ndef build(n):\n    pass\n{}functools.partial(build, 1))", ("partial", "build", 2)),
    "class": ("class Build:\n    pass\n{}Build)", ("class", "Build", 1)),
    "staticmethod": ("class C:\n    @staticmethod\n    def build():\n        pass\n{}C.build)", ("method", "C.build", 3)),
    "bound method": ("class C:\n    def build(self):\n        pass\n{}C().build)", ("method", "C.build", 2)),
    "external": ("from liger_kernel.ops import X\n{}X)", ("external", "liger_kernel.ops.X", 0)),
    "result of an external call": ("from liger_kernel.ops import make\n{}make())", ("call", "liger_kernel.ops.make", 0)),
    "string": ("{}'module:attr')", ("other", "", 0)),
    "decorated by the project": ("def d(f):\n    def w():\n        pass\n    return w\n@d\ndef build():\n    pass\n{}build)",
                                 ("function", "d.<locals>.w", 2)),
    "harmless decorator": ("import torch\n@torch.no_grad()\ndef build():\n    pass\n{}build)", ("function", "build", 3)),
    "unknown decorator": ("@outside.wrap\ndef build():\n    pass\n{}build)", "factory is decorated by outside.wrap, which is not followed"),
    "callable object": ("class C:\n    def __call__(self):\n        pass\n{}C())", "factory is an object of C, which can be called"),
    "name that is not defined": ("{}nowhere)", "factory uses the name nowhere, which is not defined here"),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), FACTORIES.values(), ids=FACTORIES)
def test_factory(code: str, expected: object) -> None:
    """A factory is known by its definition."""
    assert factory_in(code.replace("{}", "KERNEL_REGISTRY.register(spec('a', factory=") + ")") == expected


def test_factory_of_another_module() -> None:
    """Its module, name and place are those of the definition, not of an alias on the way."""
    others = {"impl.py": "from .deep import build as made\n", "deep.py": "\ndef _build():\n    pass\nbuild = _build\n"}
    (item,) = evaluated(
        "from . import impl\nKERNEL_REGISTRY.register(spec('a', factory=impl.made))", others
    ).kernel_specs
    found = item.factory
    assert (found.module, found.qualname, found.place.path, found.place.line) == (
        "ops.deep",
        "_build",
        "ops/deep.py",
        2,
    )


def test_details_of_a_factory() -> None:
    """The expression as written, and what a partial binds."""
    (item,) = evaluated(
        "import functools\ndef make(t):\n    return functools.partial(lambda a, b: a, t)\n"
        "KERNEL_REGISTRY.register(KernelSpec('a', 'op', 'v', factory=functools.partial(make(1), b=2), hardware=GPU))"
    ).kernel_specs
    found = item.factory
    assert (found.text, found.written.line - FIRST_LINE, found.bound, found.bound_names, found.closure) == (
        "functools.partial(make(1), b=2)", 4, 1, ("b",), True,
    )  # fmt: skip


HARDWARE = {
    "positional": ("HardwareRequirement('gpu', 80, 90)", ("gpu", 80, 90)),
    "keywords": ("HardwareRequirement(device_type='npu', max_compute_capability=9)", ("npu", None, 9)),
    "several devices": ("HardwareRequirement(['gpu', 'mlu'])", (("gpu", "mlu"), None, None)),
    "constants": ("HardwareRequirement(D.GPU, C.SM)", ("gpu", 90, None)),
    "replaced": ("dataclasses.replace(GPU, min_compute_capability=70)", ("gpu", 70, None)),
}


@pytest.mark.parametrize(("code", "expected"), HARDWARE.values(), ids=HARDWARE)
def test_hardware(code: str, expected: object) -> None:
    """A hardware requirement is known by its three fields."""
    before = "import dataclasses, enum\nclass D(str, enum.Enum):\n    GPU = 'gpu'\nclass C:\n    SM = 90\n"
    (item,) = evaluated(f"{before}KERNEL_REGISTRY.register(spec('a', hardware={code}))").kernel_specs
    found = item.hardware
    assert (found.device_type, found.min_compute_capability, found.max_compute_capability) == expected


def test_unknown_capability() -> None:
    """A field that is not known is said to be so, and the others are kept."""
    (item,) = evaluated(
        "KERNEL_REGISTRY.register(spec('a', hardware=HardwareRequirement('gpu', outside.SM)))"
    ).kernel_specs
    assert item.hardware.device_type == "gpu"
    assert item.hardware.min_compute_capability.reason == (
        "min_compute_capability comes from outside.SM, which is known only at run time"
    )


def _lines(item: KernelSpec) -> tuple[str, ...]:
    places = (item.place, item.spec_place, item.caller)
    return tuple(
        f"{place.path.removeprefix('ops/')}:{place.line - FIRST_LINE * ('kernels' in place.path)}" for place in places
    )


def test_places_of_a_direct_registration() -> None:
    """The call of register, the KernelSpec call, and the same call as the caller."""
    (item,) = evaluated(
        "a = KernelSpec(\n    'a', 'op', 'v', factory, GPU)\nfor _ in 'x':\n    KERNEL_REGISTRY.register(a)"
    ).kernel_specs
    assert _lines(item) == ("kernels.py:4", "kernels.py:1", "kernels.py:4")
    assert (item.place.column, item.spec_place.column, item.module) == (5, 5, "ops.kernels")


def test_places_through_helpers() -> None:
    """Inside a helper of another module: the calls there, and the statement here that led to them."""
    others = {
        "helpers.py": "from .registry import *\ndef add(n):\n    s = KernelSpec(n, 'op', 'v', None, None)\n"
        "    KERNEL_REGISTRY.register(s)\n\ndef kernel(n):\n    def d(f):\n        add(n)\n        return f\n    return d\n"
    }
    code = (
        "from .helpers import add, kernel\nif True:\n    add(\n        'a')\n\n@kernel('b')\ndef build():\n    pass\n"
    )
    found = evaluated(code, others).kernel_specs
    assert [_lines(item) for item in found] == [
        ("helpers.py:4", "helpers.py:3", "kernels.py:3"), ("helpers.py:4", "helpers.py:3", "kernels.py:6"),
    ]  # fmt: skip
    assert {item.module for item in found} == {"ops.kernels"}


def test_force() -> None:
    """Given as keyword or position, through a helper or not."""
    found = evaluated(
        "def add(s, **o):\n    KERNEL_REGISTRY.register(s, **o)\nadd(spec('a'), force=True)\nKERNEL_REGISTRY.register(spec('b'), True)\nadd(spec('c'))"
    )
    assert [(item.name, item.force) for item in found.kernel_specs] == [("a", True), ("b", True), ("c", False)]


def test_columns_count_characters() -> None:
    """Columns are counted in characters, from one."""
    (item,) = evaluated("é = 'é'; KERNEL_REGISTRY.register(spec(é))").kernel_specs
    assert (item.place.column, item.name) == (10, "é")


def test_op_specs() -> None:
    """An op of the legacy registry with its backends."""
    code = (
        "COMMON = {'requires': ('torch_npu',)}\n"
        "for n in ('norm', 'rope'):\n"
        "    register_op(OpSpec(name=n, config_field=f'{n}_implementation', label=n.title(), scope=OpScope.PER_MODEL,\n"
        "                       default='eager', backends={'npu': BackendSpec(entry=f'm.{n}:f', replace_forward=True, **COMMON),\n"
        "                                                  'eager': BackendSpec('m:e')}))\n"
        "register_op(OpSpec('loss', 'loss_implementation', 'Loss', OpScope('global'), 'eager', global_slot='m:_loss'))\n"
    )
    found = evaluated(code)
    assert found.unresolved == ()
    rows = [
        (item.name, item.config_field, item.label, item.scope, item.default, item.global_slot)
        for item in found.op_specs
    ]
    assert rows == [
        ("norm", "norm_implementation", "Norm", "PER_MODEL", "eager", None),
        ("rope", "rope_implementation", "Rope", "PER_MODEL", "eager", None),
        ("loss", "loss_implementation", "Loss", "GLOBAL", "eager", "m:_loss"),
    ]
    backends = {name: (item.entry, item.requires, item.replace_forward) for name, item in found.op_specs[1].backends}
    assert backends == {"npu": ("m.rope:f", ("torch_npu",), True), "eager": ("m:e", (), False)}
    assert (found.op_specs[2].backends, found.op_specs[0].place.line - FIRST_LINE) == ((), 3)


def test_op_specs_that_are_not_known() -> None:
    """The reasons are given field by field, and for the whole where the name is not known."""
    found = evaluated(
        "register_op(OpSpec('a', 'f', 'l', outside.SCOPE, 'eager' if HAS_A else 'x', outside.backends()))\n"
        "register_op(OpSpec(outside.NAME, 'f', 'l', OpScope.GLOBAL, 'eager'))"
    )
    assert [(item.default, item.conditions) for item in found.op_specs] == [
        ("eager", ("HAS_A",)),
        ("x", ("not (HAS_A)",)),
    ]
    assert found.op_specs[0].scope.reason == "scope comes from outside.SCOPE, which is known only at run time"
    assert (
        found.op_specs[0].backends.reason == "backends comes from outside.backends(), which is known only at run time"
    )
    assert [item.reason for item in found.unresolved] == [
        "name comes from outside.NAME, which is known only at run time"
    ]
