# ruff: noqa: E501 - a case is easier to read on one line.
"""Names of the registry and of specs that come through other modules, and registrations of other modules."""

from __future__ import annotations

import pytest
from evaluate.pruned import HEADER, REGISTRY, evaluated, registered, registrations_of, short

CASES = {
    "alias at import": ("from .registry import KERNEL_REGISTRY as Q, KernelSpec as S\nQ.register(S('a', 'o', 'v', factory, GPU))", {}),
    "module attribute": ("import ops.registry as kr\nkr.KERNEL_REGISTRY.register(kr.KernelSpec('a', 'o', 'v', factory, GPU))", {}),
    "dotted": ("import ops.registry\nops.registry.KERNEL_REGISTRY.register(spec('a', 'o'))", {}),
    "relative": ("from . import registry\nfrom ..ops.registry import KERNEL_REGISTRY as Q\nQ.register(spec('a', 'o'))", {}),
    "star import": ("from .registry import *\nKERNEL_REGISTRY.register(spec('a', 'o'))", {}),
    "re-export": ("from .hub import REG\nREG.register(spec('a', 'o'))", {"hub.py": "from .registry import KERNEL_REGISTRY as REG\n"}),
    "star re-export": ("from .hub import *\nREG.register(spec('a', 'o'))",
                       {"hub.py": "from .inner import *\n__all__ = ['REG']\n", "inner.py": "from .registry import KERNEL_REGISTRY\nREG = KERNEL_REGISTRY\n"}),
    "import_module": ("import importlib\nimportlib.import_module('.registry', __package__).KERNEL_REGISTRY.register(spec('a', 'o'))", {}),
    "sys.modules": ("sys.modules['ops.registry'].KERNEL_REGISTRY.register(spec('a', 'o'))", {}),
    "bound method": ("add = KERNEL_REGISTRY.register\nadd(spec('a', 'o'))", {}),
    "getattr": ("getattr(KERNEL_REGISTRY, 'register')(spec('a', 'o'))", {}),
    "class attribute": ("class Ops:\n    reg = KERNEL_REGISTRY\n    add = reg.register\nOps.add(spec('a', 'o'))", {}),
    "partial": ("import functools\nfunctools.partial(KERNEL_REGISTRY.register, force=True)(spec('a', 'o'))", {}),
    "arguments as containers": ("KERNEL_REGISTRY.register(*[spec('a', 'o')], **{'force': True})", {}),
    "function": ("from .hub import get\nget().register(spec('a', 'o'))",
                 {"hub.py": "from . import registry\ndef get():\n    return registry.KERNEL_REGISTRY\n"}),
    "imported constants": ("from .names import OP\nfrom . import names\nKERNEL_REGISTRY.register(spec(names.NAME, OP))",
                           {"names.py": "OP = 'o'\nNAME = 'a'\n"}),
    "imported table": ("from .names import ROWS\nfor op, name in ROWS:\n    KERNEL_REGISTRY.register(spec(name, op))",
                       {"names.py": "ROWS = []\nROWS.append(('o', 'a'))\n"}),
    "imported helper": ("from .helpers import add\nadd('a')",
                        {"helpers.py": "from .registry import *\ndef add(n):\n    KERNEL_REGISTRY.register(KernelSpec(n, 'o', 'v', None, None))\n"}),
    "constants of a namespace package": ("from .sub.names import OP\nKERNEL_REGISTRY.register(spec('a', OP))", {"sub/names.py": "OP = 'o'\n"}),
}  # fmt: skip


@pytest.mark.parametrize(("code", "others"), CASES.values(), ids=CASES)
def test_alias(code: str, others: dict[str, str]) -> None:
    """However the names arrive, the registration is found."""
    assert registered(code, others) == ["o/v/a"]


ADD = "from .registry import *\ndef add(n, op='o'):\n    KERNEL_REGISTRY.register(KernelSpec(n, op, 'v', None, None))\n"


def test_module_that_does_not_name_the_registry() -> None:
    """A module that only calls helpers of other modules is run as well, through any number of them."""
    others = {
        "helpers.py": ADD,
        "more.py": "from .helpers import add as plus\ndef twice(n):\n    plus(n)\n    plus(n + n)\n",
        "user.py": "from . import more as m\nm.twice('a')\n",
        "unrelated.py": "def add(n):\n    pass\nadd('never')\n",
    }
    assert registered("", others) == ["o/v/a", "o/v/aa"]


def test_table_filled_by_other_modules() -> None:
    """Modules of the package run when they are imported, in order, so that what they add is there."""
    files = {
        "ops/__init__.py": "from . import registry, first, second\nfrom . import all_of_them\n",
        "ops/registry.py": "class KernelRegistry:\n    def register(self, spec):\n        pass\nKERNEL_REGISTRY = KernelRegistry()\n",
        "ops/table.py": "TABLE = {}\ndef kernel(name):\n    def decorate(f):\n        TABLE[name] = f\n        return f\n    return decorate\n",
        "ops/first.py": "from .table import TABLE\nTABLE['b'] = print\n",
        "ops/second.py": "from .table import kernel\n@kernel('a')\ndef build():\n    pass\n",
        "ops/all_of_them.py": "from out import KernelSpec\nfrom .registry import KERNEL_REGISTRY\nfrom .table import TABLE\n"
                              "for name, factory in TABLE.items():\n"
                              "    KERNEL_REGISTRY.register(KernelSpec(name, 'o', 'v', factory, None))\n",
    }  # fmt: skip
    assert [short(item) for item in registrations_of(files).kernel_specs] == ["o/v/b", "o/v/a"]


def test_table_filled_by_a_module_imported_under_a_condition() -> None:
    """What such a module changes elsewhere is unknown; what it registers itself is its own affair."""
    others = {
        "table.py": "ROWS = []\n",
        "extra.py": "from .table import ROWS\nfrom .registry import *\nROWS.append('b')\n"
                    "KERNEL_REGISTRY.register(KernelSpec('extra', 'o', 'v', None, None))\n",
    }  # fmt: skip
    code = "if HAS_A:\n    from . import extra\nfrom .table import ROWS\nfor n in ROWS:\n    KERNEL_REGISTRY.register(spec(n))"
    files = {"ops/__init__.py": "from . import a_first\n", "ops/registry.py": REGISTRY, "ops/a_first.py": HEADER + code}
    files.update({f"ops/{name}": text for name, text in others.items()})
    found = registrations_of(files)
    assert [short(item) for item in found.kernel_specs] == ["o/v/extra"]
    assert [item.reason for item in found.unresolved] == [
        "name changes when ops.extra is imported, which depends on a condition"
    ]


def test_out_of_tree_kernels() -> None:
    """Where the registry lies outside the project, the dialect says what its names are."""
    text = (
        "from veomni.ops.kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec\n"
        "from veomni.ops.config.registry import BackendSpec, OpScope, OpSpec, register_op\n"
        "KERNEL_REGISTRY.register(KernelSpec('a', 'o', 'v', print, HardwareRequirement('gpu', 90)))\n"
        "register_op(OpSpec('o', 'o_implementation', 'O', OpScope.GLOBAL, 'eager', {'x': BackendSpec('m:f')}))\n"
    )
    found = registrations_of({"plugin.py": text})
    assert [short(item) for item in found.kernel_specs] == ["o/v/a"]
    assert [(item.name, item.scope, item.default) for item in found.op_specs] == [("o", "GLOBAL", "eager")]
    assert found.unresolved == ()


def test_fields_of_the_projects_own_class() -> None:
    """A fork's order of fields and its defaults count, not those of the dialect."""
    files = {
        "ops/registry.py": "from typing import NamedTuple\nclass HardwareRequirement(NamedTuple):\n    device_type: str = 'npu'\n"
                           "class KernelSpec(NamedTuple):\n    op_name: str\n    variant: str\n    name: str\n    factory: object\n"
                           "    hardware: HardwareRequirement = HardwareRequirement()\nclass KernelRegistry:\n    pass\n"
                           "KERNEL_REGISTRY = KernelRegistry()\n",
        "ops/kernels.py": "from .registry import *\nKERNEL_REGISTRY.register(KernelSpec('o', 'v', 'n', print))\n",
    }  # fmt: skip
    (item,) = registrations_of(files).kernel_specs
    assert (short(item), item.hardware.device_type, item.hardware.min_compute_capability, item.description) == (
        "o/v/n", "npu", None, "",
    )  # fmt: skip


def test_circular_imports() -> None:
    """Modules that import each other are run once each."""
    others = {
        "left.py": "from .right import R\nL = 'l'\n",
        "right.py": "from .left import L\nfrom .registry import KERNEL_REGISTRY as R\n",
    }
    assert registered("from .left import R, L\nR.register(spec(L, 'o'))", others) == ["o/v/l"]


def test_order_of_modules() -> None:
    """Specs are in order of module path, and within a module in order of execution."""
    add = "from .registry import *\nfor n in ('{}2', '{}1'):\n    KERNEL_REGISTRY.register(KernelSpec(n, 'o', 'v', None, None))\n"
    found = evaluated("", {"b.py": add.replace("{}", "b"), "a.py": add.replace("{}", "a")})
    assert [item.name for item in found.kernel_specs] == ["a2", "a1", "b2", "b1"]
