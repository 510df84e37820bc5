# ruff: noqa: E501 - a case is easier to read on one line.
"""Functions and classes of the project that build or register specs."""

from __future__ import annotations

import pytest
from evaluate.pruned import names

CASES = {
    "defaults and keywords": ("def add(n, v='x', *, t='z'):\n    R(spec(n + v + t))\nadd('a')\nadd('b', t='q', v='w')", ["axz", "bwq"]),
    "variadic": ("def add(*ns, **more):\n    for n in ns:\n        R(spec(n + more.get('s', '')))\nadd('a', *['b'], **{'s': '!'})", ["a!", "b!"]),
    "early return": ("def add(n):\n    if not n:\n        return\n    R(spec(n))\nadd('')\nadd('a')", ["a"]),
    "recursion": ("def add(n):\n    if n:\n        R(spec(str(n)))\n        add(n - 1)\nadd(2)", ["2", "1"]),
    "closure": ("def group(p):\n    def add(n):\n        R(spec(p + n))\n    return add\na = group('x')\na('1')\ngroup('y')('2')", ["x1", "y2"]),
    "nonlocal": (("def outer():\n    c = 0\n    def add():\n        nonlocal c\n        c += 1\n        R(spec(str(c)))\n    return add\n"
                 "a = outer()\na()\na()"), ["1", "2"]),
    "global": ("c = 0\ndef add():\n    global c\n    c += 1\n    R(spec(str(c)))\nadd()\nadd()", ["1", "2"]),
    "late binding": ("fs = [lambda: n for n in 'ab']\nfor f in fs:\n    R(spec(f()))", ["b", "b"]),
    "early binding": ("fs = [lambda n=n: n for n in 'ab']\nfor f in fs:\n    R(spec(f()))", ["a", "b"]),
    "generator function": (("def g(ns):\n    for n in ns:\n        yield spec(n)\n    yield from (spec(n) for n in 'z')\n"
                           "for s in g('ab'):\n    R(s)"), ["a", "b", "z"]),
    "lambda": ("add = lambda n: R(spec(n))\nadd('a')", ["a"]),
    "partial": ("import functools\nadd = functools.partial(lambda v, n: R(spec(n + v)), 'x')\nadd(n='a')", ["ax"]),
    "decorator that registers": (("def kernel(n):\n    def d(f):\n        R(spec(n, factory=f))\n        return f\n    return d\n"
                                 "@kernel('a')\n@kernel('b')\ndef k():\n    pass"), ["b", "a"]),
    "harmless decorators": (("import functools\ndef twice(f):\n    @functools.wraps(f)\n    def w(*a):\n        return f(*a)\n    return w\n"
                            "@twice\ndef add(n):\n    R(spec(n + add.__name__))\nadd('x')"), ["xadd"]),
    "cached function runs once": (("import functools\n@functools.lru_cache(maxsize=None)\ndef add(n):\n    R(spec(n))\n"
                                  "add('a')\nadd('a')\nadd('b')"), ["a", "b"]),
    "methods and inheritance": (("class P:\n    def __init__(self, n):\n        self.n = n\n    @property\n    def full(self):\n"
                                "        return 'p' + self.n\nclass Q(P):\n    def __init__(self, n):\n        super().__init__(n + 'q')\n"
                                "    def add(self):\n        R(spec(self.full))\n        return self\nQ('a').add().add()"), ["paq", "paq"]),
    "staticmethod and classmethod": (("class C:\n    rows = []\n    @staticmethod\n    def make(n):\n        return spec(n)\n"
                                     "    @classmethod\n    def add(cls, n):\n        cls.rows.append(cls.make(n))\nC.add('a')\nC.rows += [C.make('b')]\n"
                                     "for s in C.rows:\n    R(s)"), ["a", "b"]),
    "__call__": ("class C:\n    def __call__(self, n):\n        R(spec(n))\nC()('a')", ["a"]),
    "__init_subclass__": (("class B:\n    def __init_subclass__(cls, n=None, **k):\n        super().__init_subclass__(**k)\n        R(spec(n or cls.__name__))\n"
                          "class X(B, n='x'):\n    pass\nclass Y(X):\n    pass"), ["x", "Y"]),
    "__post_init__": ("import dataclasses\n@dataclasses.dataclass\nclass D:\n    n: str\n    def __post_init__(self):\n        R(spec(self.n))\nD('a')",
                      ["a"]),
    "iterable object": ("class C:\n    def __iter__(self):\n        return iter('ab')\nfor n in C():\n    R(spec(n))", ["a", "b"]),
    "spec with its own __init__": ("class S(KernelSpec):\n    def __init__(self, n):\n        super().__init__(n, 'op', 'v', factory, GPU)\nR(S('a'))",
                                   ["a"]),
    "spec subclass with defaults": (("import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass S(KernelSpec):\n    hardware: object = GPU\n"
                                    "R(S('a', 'op', 'v', factory))"), ["a"]),
    "partial of KernelSpec": (("import functools\nS = functools.partial(KernelSpec, op_name='op', hardware=GPU)\n"
                              "R(S(name='a', variant='v', factory=factory))"), ["a"]),
    "keywords of a dict": (("base = dict(op_name='op', variant='v', factory=factory, hardware=GPU)\n"
                           "for n in 'ab':\n    R(KernelSpec(name=n, **base))\nR(KernelSpec(**base | {'name': 'c'}))"), ["a", "b", "c"]),
    "keywords that depend": ("more = {'op_name': 'x'} if HAS_A else {}\nR(spec('a', **more))", ["x/v/a if HAS_A", "a if not (HAS_A)"]),
    "replace": ("import dataclasses\nbase = spec('a')\nR(base)\nR(dataclasses.replace(base, name='b'))", ["a", "b"]),
    "asdict": ("import dataclasses\nrow = dataclasses.asdict(GPU)\nR(spec(row['device_type']))", ["gpu"]),
    "registry method of a fork": ("KERNEL_REGISTRY.register_many([spec('a'), spec('b')], force=True)", ["a", "b"]),
    "helper with a return value": ("def add(n):\n    R(spec(n))\n    return n\nadd(add('a') + 'b')", ["a", "ab"]),
    "irrelevant code": ("import logging\nlog = logging.getLogger(__name__)\nlog.info('%s', [1])\nx = outside.build(3).y[0] + 1\nR(spec('a'))", ["a"]),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), CASES.values(), ids=CASES)
def test_helper(code: str, expected: list[str]) -> None:
    """Each helper is followed as it is called."""
    assert names("R = KERNEL_REGISTRY.register\n" + code) == expected
