# ruff: noqa: E501 - a case is easier to read on one line.
"""Which conditions a registration is reported with."""

from __future__ import annotations

import pytest
from evaluate.pruned import names

CASES = {
    "if": ("if HAS_A:\n    R(spec('a'))", ["a if HAS_A"]),
    "else": ("if HAS_A:\n    pass\nelse:\n    R(spec('a'))", ["a if not (HAS_A)"]),
    "elif": ("if HAS_A:\n    n = 'a'\nelif HAS_B:\n    n = 'b'\nelse:\n    n = 'c'\nR(spec(n))",
             ["a if HAS_A", "b if not (HAS_A) if HAS_B", "c if not (HAS_A) if not (HAS_B)"]),
    "outermost first": ("if HAS_A:\n    if outside.ok(1):\n        R(spec('a'))", ["a if HAS_A if outside.ok(1)"]),
    "text on several lines": ("if (HAS_A and\n        HAS_B):\n    R(spec('a'))", ["a if HAS_A and HAS_B"]),
    "part that is known": ("if True and HAS_A:\n    R(spec('a'))", ["a if True and HAS_A"]),
    "known in spite of an unknown part": ("if False and HAS_A:\n    R(spec('a'))\nif True or HAS_A:\n    R(spec('b'))", ["b"]),
    "environment": ("if os.environ.get('X') == '1':\n    R(spec('a'))", ["a if os.environ.get('X') == '1'"]),
    "version": ("if sys.version_info >= (3, 12):\n    R(spec('a'))", ["a if sys.version_info >= (3, 12)"]),
    "availability": ("from importlib.util import find_spec\nif find_spec('triton') is not None:\n    R(spec('a'))",
                     ["a if find_spec('triton') is not None"]),
    "project guard": ("def ready():\n    return outside.ok('x')\nif ready():\n    R(spec('a'))", ["a if ready()"]),
    "guard variable": ("READY = outside.ok('x') and not HAS_A\nif READY:\n    R(spec('a'))", ["a if READY"]),
    "the same condition again": ("if HAS_A:\n    n = 'a'\nelse:\n    n = 'b'\nif HAS_A:\n    R(spec(n))", ["a if HAS_A"]),
    "the opposite condition": ("if not HAS_A:\n    n = 'a'\nelse:\n    n = 'b'\nif HAS_A:\n    R(spec(n))", ["b if HAS_A"]),
    "assigned in one branch": ("n = 'a'\nif HAS_A:\n    n = 'b'\nR(spec(n))", ["b if HAS_A", "a if not (HAS_A)"]),
    "conditional expression": ("R(spec('a' if HAS_A else 'b', variant='x' if HAS_A else 'y'))",
                               ["op/x/a if HAS_A", "op/y/b if not (HAS_A)"]),
    "early return": ("def add():\n    if not HAS_A:\n        return\n    R(spec('a'))\nadd()\nR(spec('b'))", ["a if not (not HAS_A)", "b"]),
    "several returns": ("def pick():\n    if HAS_A:\n        return 'a'\n    if HAS_B:\n        return 'b'\n    return 'c'\nR(spec(pick()))",
                        ["a if HAS_A", "b if not (HAS_A) if HAS_B", "c if not (HAS_A) if not (HAS_B)"]),
    "uncaught exception": ("if not HAS_A:\n    raise RuntimeError('no')\nR(spec('a'))", ["a"]),
    "caught exception": (("def need():\n    if not HAS_A:\n        raise RuntimeError('no')\ntry:\n    need()\n    R(spec('a'))\n"
                         "except RuntimeError:\n    R(spec('b'))"), ["a if not (not HAS_A)", "b if not HAS_A"]),
    "optional import": ("try:\n    import triton\nexcept ImportError:\n    R(spec('b'))\nelse:\n    R(spec('a'))",
                        ["a if import triton", "b if not (import triton)"]),
    "flag of an optional import": ("try:\n    import triton\n    OK = True\nexcept ImportError:\n    OK = False\nif OK:\n    R(spec('a'))",
                                   ["a if OK"]),
    "two optional imports": ("try:\n    import triton\n    from quack import x\n    n = 'a'\nexcept ImportError:\n    n = 'b'\nR(spec(n))",
                             ["b if not ((import triton) and (from quack import x))", "a if import triton if from quack import x"]),
    "import of the standard library": ("try:\n    import json\n    R(spec('a'))\nexcept ImportError:\n    R(spec('b'))", ["a"]),
    "suppress": ("import contextlib\nwith contextlib.suppress(ImportError):\n    import triton\n    R(spec('a'))\nR(spec('b'))",
                 ["a if import triton", "b"]),
    "loop with unknown rounds": ("for _ in outside.rounds():\n    R(spec('a'))\nR(spec('b'))", ["a if for _ in outside.rounds()", "b"]),
    "conditional registry": ("reg = KERNEL_REGISTRY if HAS_A else None\nif reg is not None:\n    reg.register(spec('a'))",
                             ["a if reg is not None"]),
    "membership": ("if 'npu' in os.environ['D'].split(','):\n    R(spec('a'))", ["a if 'npu' in os.environ['D'].split(',')"]),
    "match": ("match outside.device():\n    case 'gpu':\n        R(spec('a'))\n    case _:\n        R(spec('b'))",
              ["a if outside.device() matches 'gpu'", "b if not (outside.device() matches 'gpu')"]),
    "mutated attribute": ("class C:\n    n = 'a'\nif HAS_A:\n    C.n = 'b'\nR(spec(C.n))", ["b if HAS_A", "a if not (HAS_A)"]),
    "unpacked": ("a, b = ('x', 'y') if HAS_A else ('p', 'q')\nR(spec(a + b))", ["xy if HAS_A", "pq if not (HAS_A)"]),
    "both branches alike": ("if HAS_A:\n    n = 'a'\nelse:\n    n = 'a'\nR(spec(n))", ["a"]),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), CASES.values(), ids=CASES)
def test_conditions(code: str, expected: list[str]) -> None:
    """Conditions that may hold or not are reported by their text, and values keep to them."""
    assert names("R = KERNEL_REGISTRY.register\n" + code) == expected
