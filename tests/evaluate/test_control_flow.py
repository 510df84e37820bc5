# ruff: noqa: E501 - a case is easier to read on one line.
"""Loops, branches, exceptions and other statements around registrations."""

from __future__ import annotations

import pytest
from evaluate.pruned import names

CASES = {
    "for with unpacking": ("for n, (a, *b) in [('x', 'pq')]:\n    R(spec(n + a + b[0]))", ["xpq"]),
    "for else": ("for n in 'ab':\n    R(spec(n))\nelse:\n    R(spec('end'))", ["a", "b", "end"]),
    "break skips else": ("for n in 'abc':\n    if n == 'b':\n        break\n    R(spec(n))\nelse:\n    R(spec('end'))", ["a"]),
    "continue": ("for n in 'abc':\n    if n == 'b':\n        continue\n    R(spec(n))", ["a", "c"]),
    "while": ("n = 0\nwhile n < 2:\n    n += 1\n    R(spec(str(n)))", ["1", "2"]),
    "while True": ("n = 0\nwhile True:\n    n += 1\n    if n > 2:\n        break\n    R(spec(str(n)))", ["1", "2"]),
    "consuming a queue": ("q = ['a', 'b']\nwhile q:\n    R(spec(q.pop()))", ["b", "a"]),
    "known condition": ("if 1 > 2:\n    R(spec('a'))\nelif 'x' in 'xy':\n    R(spec('b'))", ["b"]),
    "main guard": ("if __name__ == '__main__':\n    R(spec('a'))", []),
    "TYPE_CHECKING": ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    R(spec('a'))\nelse:\n    R(spec('b'))", ["b"]),
    "try": ("try:\n    R(spec('a'))\nexcept ValueError:\n    R(spec('b'))\nelse:\n    R(spec('c'))\nfinally:\n    R(spec('d'))",
            ["a", "c", "d"]),
    "caught KeyError": ("try:\n    n = {}['a']\nexcept KeyError:\n    n = 'b'\nR(spec(n))", ["b"]),
    "caught custom error": ("class E(ValueError):\n    pass\ntry:\n    raise E('x')\nexcept E:\n    R(spec('a'))", ["a"]),
    "error of a helper": (("def f(n):\n    if n:\n        raise ValueError(n)\n    return 'ok'\ntry:\n    v = f(1)\n"
                          "except (TypeError, ValueError):\n    v = f(0)\nR(spec(v))"), ["ok"]),
    "module that ends": ("R(spec('a'))\nraise SystemExit\nR(spec('b'))", ["a"]),
    "with": ("import contextlib\nwith contextlib.nullcontext(), open('f') as f:\n    R(spec('a'))", ["a"]),
    "contextmanager": ("import contextlib\n@contextlib.contextmanager\ndef c():\n    yield 'n'\nwith c() as n:\n    R(spec(n))", ["n"]),
    "class with __enter__": (("class C:\n    def __enter__(self):\n        return 'n'\n    def __exit__(self, *e):\n        R(spec('end'))\n"
                             "with C() as n:\n    R(spec(n))"), ["n", "end"]),
    "match": ("match ('a', {'k': 'v'}):\n    case ('b', _):\n        R(spec('no'))\n    case (x, {'k': y}) if x:\n        R(spec(x + y))",
              ["av"]),
    "match or and capture": (("for n in ('p', 'q', 3):\n    match n:\n        case 'p' | 'z' as m:\n            R(spec(m))\n"
                             "        case int():\n            R(spec('int'))\n        case _:\n            R(spec('other'))"),
                             ["p", "other", "int"]),
    "match class": ("import dataclasses\n@dataclasses.dataclass\nclass D:\n    a: str\nmatch D('x'):\n    case D(a=v):\n        R(spec(v))",
                    ["x"]),
    "del": ("n = 'a'\ndel n\ntry:\n    n\nexcept NameError:\n    R(spec('gone'))", ["gone"]),
    "del of an attribute": ("class C:\n    n = 'a'\nc = C()\nc.n = 'b'\ndel c.n\nR(spec(c.n))", ["a"]),
    "class body": ("class C:\n    for n in 'ab':\n        R(spec(n))", ["a", "b"]),
    "expressions": ("_ = R(spec('a'))\nTrue and R(spec('b'))\n[R(spec(n)) for n in 'cd']\nassert R(spec('e')) is None",
                    ["a", "b", "c", "d", "e"]),
    "list of a map": ("list(map(R, [spec('a')]))", ["a"]),
    "what is not consumed does not run": ("map(R, [spec('a')])\n(R(s) for s in [spec('b')])", []),
    "iterator": ("it = iter('ab')\nR(spec(next(it)))\nfor n in it:\n    R(spec(n))", ["a", "b"]),
    "function never called": ("def apply():\n    R(spec('a'))", []),
    "conditional rows": ("rows = ['a']\nif HAS_A:\n    rows.append('b')\nelse:\n    rows += ['c']\nfor n in rows:\n    R(spec(n))",
                         ["a", "b if HAS_A", "c if not (HAS_A)"]),
    "conditional entries": ("t = {'a': 'x'}\nif HAS_A:\n    t['b'] = 'y'\nfor k in t:\n    R(spec(k))\nR(spec(t.get('b', 'none')))",
                            ["a", "b if HAS_A", "y if HAS_A", "none if not (HAS_A)"]),
    "conditional tuple": ("rows = ('a',) + (('b',) if HAS_A else ())\nfor n in rows:\n    R(spec(n))", ["a", "b if HAS_A"]),
    "conditional length": ("rows = ['a']\nif HAS_A:\n    rows.append('b')\nR(spec(f'n{len(rows)}'))",
                           ["n2 if HAS_A", "n1 if not (HAS_A)"]),
    "conditional break": ("for n in 'ab':\n    if n == 'b':\n        if HAS_A:\n            break\n    R(spec(n))\nelse:\n    R(spec('end'))",
                          ["a", "b if not (HAS_A)", "end if not (HAS_A)"]),
    "filtered by an unknown test": ("for n in [n for n in 'ab' if outside.ok(n)]:\n    R(spec(n))",
                                    ["a if outside.ok(n)", "b if outside.ok(n)"]),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), CASES.values(), ids=CASES)
def test_statement(code: str, expected: list[str]) -> None:
    """Each statement registers what it registers when it runs."""
    assert names("R = KERNEL_REGISTRY.register\n" + code) == expected
