# ruff: noqa: E501 - a case is easier to read on one line.
"""Expressions that give the names of a spec."""

from __future__ import annotations

import pytest
from evaluate.pruned import names

LOOP = "\nfor n in found:\n    KERNEL_REGISTRY.register(spec(n))"
CASES = {
    "f-string with format and conversion": ("found = [f'{1:02d}_{\"a\"!r}', f'{\"x\":>3}']", ["01_'a'", "  x"]),
    "percent": ("found = ['%s-%03d' % ('a', 7), '%(k)s' % {'k': 'b'}]", ["a-007", "b"]),
    "format": ("found = ['{}{}'.format('a', 1), '{b[0]}{a.tag}'.format(a=K, b='xy')]\n", ["a1", "xt"]),
    "str methods": ("found = ['Ab'.lower(), 'a_b'.split('_')[1], 'pre_x'.removeprefix('pre_'), 'x'.join('ab')]",
                    ["ab", "b", "x", "axb"]),
    "slices": ("found = ['abc'[1:], ['p', 'q'][-1], ('r', 's')[::-1][0]]", ["bc", "q", "s"]),
    "dict lookups": ("t = {'a': 'x'}\nfound = [t['a'], t.get('b', 'y'), t.setdefault('c', 'z')]", ["x", "y", "z"]),
    "comprehensions": ("found = [a + b for a in 'xy' for b in ('1', '2') if a != 'x' or b == '2']", ["x2", "y1", "y2"]),
    "dict comprehension": ("found = {k.upper(): 1 for k in ('a', 'b')}", ["A", "B"]),
    "generator": ("found = (c for c in 'ab')", ["a", "b"]),
    "star in displays": ("found = [*'ab', *{'c': 1}, *range(0)]", ["a", "b", "c"]),
    "sorted and reversed": ("found = sorted(['bb', 'a'], key=len) + list(reversed('xy'))", ["a", "bb", "y", "x"]),
    "enumerate": ("found = [f'{i}{c}' for i, c in enumerate('ab', start=1)]", ["1a", "2b"]),
    "zip": ("found = [a + b for a, b in zip('ab', 'xyz')] + list(dict(zip('k', 'v')).values())", ["ax", "by", "v"]),
    "map and filter": ("found = list(map(str.upper, filter(None, ['a', '', 'b'])))", ["A", "B"]),
    "min, max, sum": ("found = [min('b', 'a'), max(['x', 'yy'], key=len), str(sum([1, 2]))]", ["a", "yy", "3"]),
    "itertools": ("import itertools as it\nfound = [''.join(p) for p in it.product('ab', '1')] + list(it.chain('x', 'y'))",
                  ["a1", "b1", "x", "y"]),
    "chain.from_iterable": ("from itertools import chain\nfound = chain.from_iterable([['a'], ('b',)])", ["a", "b"]),
    "reduce and operator": ("import functools, operator\nfound = [functools.reduce(operator.add, 'ab', 'c')]", ["cab"]),
    "conditional expressions": ("found = ['a' if len('xx') == 2 else 'b', '' or 'c', 'd' and 'e']", ["a", "c", "e"]),
    "chained comparison": ("found = ['in' if 0 < 5 < 3 else 'out']", ["out"]),
    "walrus": ("found = [(w := 'a') + w, w]", ["aa", "a"]),
    "unpacking": ("(a, *b), c = ('xyz', 'q')\nfound = [a, *b, c]", ["x", "y", "z", "q"]),
    "augmented": ("a = 'x'\na += 'y'\na *= 2\nfound = [a]\nfound += ['z']", ["xyxy", "z"]),
    "list methods": ("found = ['b']\nfound.insert(0, 'a')\nfound.extend('cd')\nfound.remove('c')\nfound.pop()", ["a", "b"]),
    "dict methods": ("t = {'a': 1}\nt.update(b=2)\nt['c'] = 3\ndel t['a']\nt |= {'d': 4}\nfound = t.keys()", ["b", "c", "d"]),
    "set algebra": ("found = sorted({'a', 'b'} & {'b', 'c'} | {'z'})", ["b", "z"]),
    "a set of names": ("found = {'a', 'b'}", ["a", "b"]),
    "class attributes": ("class C(K):\n    more = 'm'\n    both = more + 'n'\nfound = [C.tag, C.both, C().more]", ["t", "mn", "m"]),
    "enum": ("import enum\nclass E(enum.Enum):\n    A = 'x'\n    B = enum.auto()\nfound = [E.A.value, E.B.name, E['A'].value, E('x').name]",
             ["x", "B", "x", "A"]),
    "enum members in order": ("import enum\nclass E(str, enum.Enum):\n    A = 'x'\n    B = 'y'\nfound = [e.value for e in E]", ["x", "y"]),
    "StrEnum text": ("import enum\nclass E(enum.StrEnum):\n    A = 'x'\nfound = [f'{E.A}', E.A + 'y', E.A]", ["x", "xy", "x"]),
    "str enum in an f-string": ("import enum\nclass E(str, enum.Enum):\n    A = 'x'\nfound = [f'{E.A}', f'{E.A.value}']", ["E.A", "x"]),
    "dataclass": (("import dataclasses\n@dataclasses.dataclass\nclass D:\n    a: str\n    b: str = 'y'\nd = D('x')\n"
                  "found = [d.a, d.b, dataclasses.replace(d, a='z').a]"), ["x", "y", "z"]),
    "default factory": (("from dataclasses import dataclass, field\n@dataclass\nclass D:\n    a: list = field(default_factory=list)\n"
                        "d = D()\nd.a.append('x')\nfound = d.a + D().a"), ["x"]),
    "NamedTuple": (("from typing import NamedTuple\nclass T(NamedTuple):\n    a: str\n    b: str = 'y'\nt = T('x')\n"
                   "found = [t.a, t[1], *t._replace(b='z')]"), ["x", "y", "x", "z"]),
    "namedtuple": ("from collections import namedtuple\nT = namedtuple('T', 'a b')\nfound = T('x', b='y')", ["x", "y"]),
    "SimpleNamespace": ("import types\nfound = [types.SimpleNamespace(a='x').a]", ["x"]),
    "defaultdict": ("from collections import defaultdict\nt = defaultdict(list)\nt['k'].append('x')\nfound = t['k']", ["x"]),
    "str, int and repr": ("found = [str(1.5), repr('a'), str(int('7') + 1), chr(97)]", ["1.5", "'a'", "8", "a"]),
    "getattr and setattr": ("setattr(K, 'new', 'n')\nfound = [getattr(K, 'new'), getattr(K, 'none', 'd')]", ["n", "d"]),
    "names of modules": ("found = [__name__.rpartition('.')[2]]", ["kernels"]),
    "names of functions": ("found = [factory.__name__]", ["factory"]),
    "Literal": ("from typing import Literal, get_args\nT = Literal['a', 'b']\nfound = get_args(T)", ["a", "b"]),
    "fields": ("import dataclasses\nfound = [f.name for f in dataclasses.fields(HardwareRequirement)][:1]", ["device_type"]),
    "translate": ("found = ['a-b'.translate(str.maketrans('-', '_'))]", ["a_b"]),
    "next with a default": ("found = [next((c for c in 'ab' if c == 'z'), 'd'), next(iter('q'))]", ["d", "q"]),
    "any and all": ("found = ['y' if any(c == 'a' for c in 'ab') and all('xx') else 'n']", ["y"]),
    "isinstance": ("found = [n if isinstance(n, str) else n[0] for n in ['a', ('b',)]]", ["a", "b"]),
    "globals": ("tail = 'x'\nfound = [globals()['tail']]", ["x"]),
    "a slice of a conditional list": ("found = ['a']\nif HAS_A:\n    found.append('b')\nfound = found[:]", ["a", "b if HAS_A"]),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), CASES.values(), ids=CASES)
def test_expression(code: str, expected: list[str]) -> None:
    """Each expression gives the strings that Python gives."""
    assert names("class K:\n    tag = 't'\n" + code + LOOP) == expected
