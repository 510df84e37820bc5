"""Conditions where there is no NPU."""

from __future__ import annotations

import pytest
from support.symbols import deep_facts, symbols_of

from veomni_opslint.dialect import Dialect
from veomni_opslint.model.gates import Gates
from veomni_opslint.model.guards import Guards
from veomni_opslint.model.host import Host
from veomni_opslint.model.symbols import Symbols

FILES = {
    "p/__init__.py": "",
    "p/device.py": "from transformers.utils import is_torch_npu_available\n"
    "ON_NPU = is_torch_npu_available()\nON_GPU = not ON_NPU\nEITHER = ON_NPU or flag\nFLAG = flag()\n"
    "KIND = 'npu' if ON_NPU else 'gpu'\n"
    "FLAVOUR = 'plain'\nif ON_NPU:\n    FLAVOUR = 'ascend'\nelif flag():\n    FLAVOUR = 'fast'\n"
    "SET = 'npu' if ON_NPU else 'gpu'\ndef choose():\n    global SET\n    SET = 'npu'\n"
    "OPEN = read() if ON_NPU else 'gpu'\n"
    "def on_npu(): return is_torch_npu_available()\n"
    "def early():\n    if not on_npu():\n        return False\n    return True\n"
    "def no_npu(): return not early()\n"
    "def maybe(): return flag()\n"
    "def kind(): return KIND\ndef held(): return kind()\nCALLED = held()\ndef called(): return CALLED\n"
    "def npu_and(x): return x and on_npu()\n"
    "def loops(): return loops()\n"
    "def generated():\n    yield is_torch_npu_available()\n"
    "async def awaited(): return is_torch_npu_available()\n"
    "def require():\n    if not is_torch_npu_available():\n        raise RuntimeError\n"
    "def check(): require()\n"
    "def harmless(): pass\n"
    "def by_import():\n    try:\n        import torch_npu\n    except ImportError:\n        return False\n"
    "    return True\n",
    "p/other.py": "from p import device\nfrom .device import on_npu as renamed, ON_NPU as CONSTANT\n",
}


def guards_of(symbols: Symbols) -> Guards:
    """The guards of a project on a host without an NPU."""
    deep = deep_facts(symbols)
    return Guards(symbols, Host(Dialect()), deep, Gates(symbols, Dialect(), deep))


def truth(test: str, imports: str = "from p.device import *\nfrom p import device, other\n") -> bool | None:
    """The truth of a test without an NPU."""
    symbols = symbols_of({**FILES, "m.py": f"{imports}if {test}:\n    import mark\n"})
    guards = guards_of(symbols)
    return guards.truth("m", 0, symbols.modules["m"].imports[-1].when)


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("is_torch_npu_available()", False),
        ("utils.is_torch_npu_available()", False),
        ("not is_torch_npu_available()", True),
        ("IS_NPU_AVAILABLE", False),
        ("torch.npu.is_available()", False),
        ("torch_npu.npu.is_available()", False),
        ("torch.cuda.is_available()", None),
        ("IS_CUDA_AVAILABLE", None),
        ("TYPE_CHECKING", False),
        ("x", None),
        ("x and IS_NPU_AVAILABLE", False),
        ("x or IS_NPU_AVAILABLE", None),
        ("is_package_available('torch_npu')", False),
        ("find_spec('torch_npu')", False),
        ("importlib.util.find_spec('torch_npu') is not None", False),
        ("importlib.util.find_spec('torch_npu') is None", True),
        ("is_package_available('triton')", None),
        ("hasattr(torch, 'npu')", False),
        ("getattr(torch, 'npu', None)", False),
        ("getattr(torch, 'npu', None) is not None", False),
        ("hasattr(torch, 'cuda')", None),
        ("'torch_npu' in sys.modules", False),
        ("'torch_npu' not in sys.modules", True),
        ("_AVAILABLE['torch_npu']", False),
        ("_AVAILABLE['triton']", None),
        ("device.type == 'npu'", False),
        ("get_device_type() == 'npu'", False),
        ("'npu' == device_type", False),
        ("device_type != 'npu'", True),
        ("device_type in ('npu', 'ascend')", False),
        ("device_type in ('npu', 'cuda')", None),
        ("device_type == 'cuda'", None),
        ("name == 'npu'", None),
        ("'npu' in device_name", False),
        ("'npu' in name", None),
    ],
)
def test_tests(test: str, expected: bool | None) -> None:
    """Guards of the dialect, tests for the package and tests of the device, in every spelling."""
    assert truth(test) is expected


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("ON_NPU", False),
        ("ON_GPU", True),
        ("device.ON_NPU", False),
        ("other.CONSTANT", False),
        ("other.device.ON_GPU", True),
        ("EITHER", None),
        ("FLAG", None),
        ("KIND == 'npu'", False),
        ("'npu' != device.KIND", True),
        ("KIND == 'gpu'", True),
        ("KIND in ('npu', 'ascend')", False),
        ("KIND == other.KIND", None),
        ("FLAVOUR == 'ascend'", False),
        ("FLAVOUR == 'plain'", None),
        ("FLAVOUR is None", False),
        ("SET == 'npu'", None),
        ("OPEN == 'npu'", False),
        ("OPEN == 'gpu'", True),
        ("kind() == 'npu'", False),
        ("kind() == 'gpu'", True),
        ("kind() == 'cpu'", False),
        ("held() == 'npu'", False),
        ("called() == 'gpu'", True),
        ("read() == 'npu'", None),
        ("on_npu()", False),
        ("other.renamed()", False),
        ("early()", False),
        ("no_npu()", True),
        ("maybe()", None),
        ("npu_and(1)", False),
        ("by_import()", False),
        ("loops()", None),
        ("generated()", None),
        ("awaited()", None),
        ("unknown()", None),
        ("device.unknown()", None),
    ],
)
def test_names_and_functions_of_the_project(test: str, expected: bool | None) -> None:
    """A guard may be held by a name or returned by a function, in any module."""
    assert truth(test) is expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("require()", False),
        ("check()", False),
        ("device.require()", False),
        ("harmless()", True),
        ("unknown()", True),
        ("maybe()", True),
        ("import torch_npu", False),
        ("import triton", None),
    ],
)
def test_statements_that_end_without_an_npu(statement: str, expected: bool | None) -> None:
    """What follows a call that raises without an NPU, or an import of its package, is not reached."""
    symbols = symbols_of({**FILES, "m.py": f"from p.device import *\nfrom p import device\n{statement}\nimport mark\n"})
    guards = guards_of(symbols)
    assert guards.truth("m", 0, symbols.modules["m"].imports[-1].when) is expected


def test_on_gpu() -> None:
    """The same guards on a host with a CUDA device."""
    symbols = symbols_of(
        {"m.py": "if torch.cuda.is_available():\n    import a\nelif device == 'cuda':\n    import b\n"}
    )
    guards = guards_of(symbols)
    first, second = (imported.when for imported in symbols.modules["m"].imports)
    assert (guards.possible("m", 0, first), guards.possible("m", 0, second)) == (True, True)
    assert (guards.on_gpu().possible("m", 0, first), guards.on_gpu().possible("m", 0, second)) == (True, False)


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [
        ("require_torch_npu", False),
        ("testing.require_npu", False),
        ("pytest.mark.skipif(not is_torch_npu_available(), reason='x')", False),
        ("unittest.skipUnless(IS_NPU_AVAILABLE, 'x')", False),
        ("pytest.mark.skipif(is_torch_npu_available(), reason='x')", True),
        ("skip_on_npu", None),
        ("require_gpu", None),
    ],
)
def test_gates(decorator: str, expected: bool | None) -> None:
    """A decorator may keep the body from running where there is no NPU."""
    symbols = symbols_of({"m.py": f"@{decorator}\ndef f():\n    import torch_npu\n"})
    guards = guards_of(symbols)
    assert guards.truth("m", 1, symbols.modules["m"].scopes[1].gate) is expected
