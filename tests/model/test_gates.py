"""Decorators and context managers of the project, on a host without an NPU."""

from __future__ import annotations

import pytest
from support.symbols import deep_facts, symbols_of

from veomni_opslint.dialect import Dialect
from veomni_opslint.model.gates import Gates
from veomni_opslint.model.guards import Guards
from veomni_opslint.model.host import Host
from veomni_opslint.model.symbols import Symbols

GUARDING = """
import contextlib
import functools
from p.device import IS_NPU_AVAILABLE

def plain(fn):
    return fn

def wrapping(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        if not IS_NPU_AVAILABLE:
            print("left out", fn)
            return None
        return fn(*args)
    return wrapper

def wrapping_others(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        return fn(*args) if not IS_NPU_AVAILABLE else None
    return wrapper

def choosing(fn):
    return fn if IS_NPU_AVAILABLE else plain

def refusing(fn):
    if not IS_NPU_AVAILABLE:
        raise RuntimeError(f"{fn.__name__} and {fn} need one")
    fn.__marked__ = True
    return fn

def naming(fn):
    print(fn.__name__)
    plain.__wrapped__ = fn
    return plain

def _run(fn, *args):
    return fn(*args) if IS_NPU_AVAILABLE else None

def partly(fn):
    return functools.partial(_run, fn)

def handing_on(fn):
    return wrapping(fn)

def taken(fn):
    return wrapping_others(fn)

def with_default(default=None, wanted=False):
    def decorate(fn):
        return fn if IS_NPU_AVAILABLE or not wanted else plain
    return decorate

def on_kind(kind):
    def decorate(fn):
        return fn if get_kind() == kind else plain
    return decorate

def on_one_of(*, kinds=("npu",)):
    def decorate(fn):
        return fn if get_kind() in kinds else plain
    return decorate

def get_kind():
    return "npu" if IS_NPU_AVAILABLE else "gpu"

def by_lambda(default):
    return lambda fn: fn if IS_NPU_AVAILABLE else default

def only_if(wanted):
    def decorate(fn):
        def wrapper(*args):
            return fn(*args) if wanted else None
        return wrapper
    return decorate

def both_ways(fn=None, *, default=None):
    if fn is None:
        return lambda one: both_ways(one, default=default)
    return fn if IS_NPU_AVAILABLE else plain

def ready_made(default):
    return make(default, IS_NPU_AVAILABLE)

def ready_made_otherwise(default):
    return make(default)

async def later(fn):
    return fn

class Kept:
    def __init__(self, fn):
        self.fn = fn

    def __call__(self, *args):
        return self.fn(*args) if IS_NPU_AVAILABLE else None

class KeptOtherwise(Kept):
    def __init__(self, fn):
        self.fn = fn

    def __call__(self, *args):
        return self.fn(*args)

class Wanting:
    def __init__(self, wanted):
        self.wanted = wanted

    def __call__(self, fn):
        return fn if self.wanted else plain

class Nothing:
    pass

@contextlib.contextmanager
def managed():
    if not IS_NPU_AVAILABLE:
        raise RuntimeError
    yield

@contextlib.contextmanager
def managed_if(wanted):
    assert wanted
    yield

@contextlib.contextmanager
def open_to_all():
    yield
"""
FILES = {
    "p/__init__.py": "",
    "p/device.py": "from transformers.utils import is_torch_npu_available\n"
    "IS_NPU_AVAILABLE = is_torch_npu_available()\n",
    "p/guarding.py": GUARDING,
}


@pytest.mark.parametrize(
    ("decorator", "runs"),
    [
        ("plain", True),
        ("wrapping", False),
        ("guarding.wrapping", False),
        ("wrapping_others", True),
        ("choosing", False),
        ("refusing", False),
        ("naming", False),
        ("partly", False),
        ("handing_on", False),
        ("taken", True),
        ("with_default()", True),
        ("with_default(wanted=True)", False),
        ("with_default(1, True)", False),
        ("on_kind('npu')", False),
        ("on_kind(kind='npu')", False),
        ("on_kind('gpu')", True),
        ("on_kind(unknown)", True),
        ("on_one_of()", False),
        ("on_one_of(kinds=('npu', 'cpu'))", False),
        ("on_one_of(kinds=['npu', 'ascend'])", False),
        ("on_one_of(kinds=['npu', 'gpu'])", True),
        ("on_one_of(kinds=unknown)", True),
        ("by_lambda(None)", False),
        ("only_if(IS_NPU_AVAILABLE)", False),
        ("only_if(wanted=IS_NPU_AVAILABLE)", False),
        ("only_if(True)", True),
        ("only_if(unknown())", True),
        ("both_ways", False),
        ("both_ways(default=1)", False),
        ("ready_made(1)", False),
        ("ready_made_otherwise(1)", True),
        ("later", True),
        ("Kept", False),
        ("KeptOtherwise", True),
        ("Wanting(IS_NPU_AVAILABLE)", False),
        ("Wanting(True)", True),
        ("Nothing", True),
        ("managed()", False),
        ("managed_if(IS_NPU_AVAILABLE)", False),
        ("managed_if(1)", True),
        ("open_to_all()", True),
        ("elsewhere.unknown", True),
        ("unknown(1)", True),
    ],
)
def test_decorator(decorator: str, runs: bool) -> None:
    """Whether a function with the decorator can run."""
    code = f"@{decorator}\ndef f(): pass\n"
    symbols, guards = guards_of(code)
    assert guards.possible("m", 0, symbols.modules["m"].scopes[-1].gate) is runs


@pytest.mark.parametrize(
    ("manager", "runs"),
    [
        ("managed()", False),
        ("guarding.managed()", True),
        ("managed_if(IS_NPU_AVAILABLE)", False),
        ("managed_if(wanted=IS_NPU_AVAILABLE)", False),
        ("managed_if(True)", True),
        ("open_to_all()", True),
        ("open_to_all(), managed()", False),
        ("Nothing()", True),
        ("unknown()", True),
    ],
)
def test_context_manager(manager: str, runs: bool) -> None:
    """Whether the body of ``with`` can run; a manager of another module is asked where its name speaks of a check."""
    symbols, guards = guards_of(f"with {manager}:\n    import mark\n")
    assert guards.possible("m", 0, symbols.modules["m"].imports[-1].when) is runs


def test_entered_by_stack() -> None:
    """A manager that an exit stack enters counts like one of ``with``."""
    symbols, guards = guards_of("with ExitStack() as stack:\n    stack.enter_context(managed())\n    import mark\n")
    assert not guards.possible("m", 0, symbols.modules["m"].imports[-1].when)


def guards_of(code: str) -> tuple[Symbols, Guards]:
    """A project with one more module, and its guards."""
    imports = "from p.guarding import *\nfrom p import guarding\nfrom p.device import IS_NPU_AVAILABLE\n"
    symbols = symbols_of({**FILES, "m.py": imports + code})
    deep = deep_facts(symbols)
    return symbols, Guards(symbols, Host(Dialect()), deep, Gates(symbols, Dialect(), deep))
