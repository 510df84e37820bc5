# ruff: noqa: E501 - a case is easier to read on one line.
"""Hostile and huge code: bounded work, no exception, and a reason where something may be missing."""

from __future__ import annotations

import ast
import sys

import pytest
from evaluate.pruned import HEADER, REGISTRY, names, project

from veomni_opslint.dialect import Dialect
from veomni_opslint.evaluate import evaluate
from veomni_opslint.facts import FileFacts

AFTER = "\nKERNEL_REGISTRY.register(spec('after'))"
HARMLESS = {
    "powers": "n = 10**10**10\nm = 1 << 10**9\nk = 2 ** -10**9",
    "repetition": "s = 'a' * 10**10\nt = (1,) * 10**9\nu = [1] * 10**9",
    "doubling": "s = 'a'\nl = [1]\nt = (1,)\nn = [1]\nfor i in range(64):\n    s += s\n    l += l\n    t = (t, t)\n    n = [n, n]\nx = str(n)\ny = {t: 1}",
    "ranges": "x = list(range(10**12))\ny = sum(range(10**9))\nz = len(range(10**9))",
    "widths": "a = '%1000000000d' % 1\nb = '{:>1000000000}'.format('a')\nc = f\"{'a':>100000000}\"\nd = 'a'.ljust(10**10)",
    "replacement": "x = 'a' * 1000\nfor i in range(9):\n    x = x.replace('a', x)\n    y = x.join([x] * 1000)",
    "endless iterators": "import itertools\nx = list(itertools.count())\ny = list(zip(itertools.cycle('ab'), 'xyz'))",
    "products": "import itertools\nx = list(itertools.product(range(1000), repeat=10))",
    "growing while iterated": "x = [1]\nfor i in x:\n    x.append(i)",
    "containers in themselves": "x = []\nx.append(x)\nd = {}\nd['d'] = d\noutside.use(x, d)\nfor i in x:\n    pass",
    "long text": "\n".join(f"x{i} = {i}" for i in range(3000)),
}
RECURSIVE = {
    "recursion": "def f(n):\n    return f(n + 1)\nf(0)",
    "mutual properties": "class A:\n    @property\n    def x(self):\n        return self.x\nA().x",
    "attributes made of attributes": "class A:\n    def __getattr__(self, n):\n        return getattr(self, n + 'x')\nA().q",
    "endless generator": "def g():\n    while True:\n        yield 1\nlist(g())",
}
STATEMENTS = {
    "recursion": "def f(n):\n    if n < 0:\n        KERNEL_REGISTRY.register(spec('a'))\n    return f(n + 1)\nf(0)",
    "generator": "def g():\n    while True:\n        yield spec('a')\nfor s in g():\n    KERNEL_REGISTRY.register(s)",
    "nested conditions": "".join(f"{'    ' * i}if outside.x{i}:\n" for i in range(60))
    + "    " * 60
    + "KERNEL_REGISTRY.register(spec('a'))",
}
MODULES = {
    "endless loop": "while True:\n    pass",
    "huge loop": "for i in range(10**12):\n    pass",
    "exponential recursion": "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(35)",
    "nested unknown loops": "".join(f"{'    ' * i}for a{i} in outside.x{i}:\n" for i in range(15))
    + "    " * 15
    + "KERNEL_REGISTRY.register(spec(a3))",
    "chain of conditions": "import flags\nG0 = flags.A0\n"
    + "".join(f"G{n} = not G{n - 1} and (flags.A{n % 60} or G{n - 1})\n" for n in range(1, 400))
    + "if G399:\n    KERNEL_REGISTRY.register(spec('a'))",
}


@pytest.mark.parametrize("code", HARMLESS.values(), ids=HARMLESS)
def test_value_too_large(code: str) -> None:
    """A value that is too large is unknown; what does not depend on it is not affected."""
    assert names(code + AFTER) == ["after"]


@pytest.mark.parametrize("code", RECURSIVE.values(), ids=RECURSIVE)
def test_recursion_that_registers_nothing(code: str) -> None:
    """A statement that cannot be followed, and names nothing that registers, is passed over."""
    assert names(code + AFTER) == ["after"]


def test_values_of_a_statement_that_is_passed_over() -> None:
    """What such a statement binds, or may have changed, is unknown from then on."""
    code = "rows = ['a']\ndef f(n):\n    rows.append(n)\n    return f(n + 1)\nx = f(rows and 0)\nfor n in (x, *rows):\n    KERNEL_REGISTRY.register(spec(n))"
    assert names(code) == ["? name calls functions within each other too deeply"]


@pytest.mark.parametrize("code", STATEMENTS.values(), ids=STATEMENTS)
def test_statement_too_deep(code: str) -> None:
    """A statement that cannot be followed is reported, and the rest of the module is run."""
    found = names(code + AFTER)
    assert found[0] == "after"
    assert [item[:2] for item in found[1:]] == ["? "]


@pytest.mark.parametrize("code", MODULES.values(), ids=MODULES)
def test_module_too_long(code: str) -> None:
    """When the budget of a module is spent, one entry stands for all that may follow."""
    assert names(code + AFTER) == ["? the code of this module takes too long to follow"]


def test_many_independent_conditions() -> None:
    """Conditions one after the other cost no more than each alone."""
    code = "".join(f"if outside.x{i}:\n    KERNEL_REGISTRY.register(spec('a{i}'))\n" for i in range(100))
    assert names(code) == [f"a{i} if outside.x{i}" for i in range(100)]


def test_too_many_alternatives() -> None:
    """A value with too many alternatives is unknown."""
    code = (
        "n = ''\n"
        + "".join(f"if outside.x{i}:\n    n += '{i}'\n" for i in range(40))
        + "KERNEL_REGISTRY.register(spec(n))"
    )
    assert names(code) == ["? name depends on too many conditions"]


def _nested(kind: str, depth: int) -> ast.expr:
    node: ast.expr = ast.Constant(1)
    for _ in range(depth):
        if kind == "sum":
            node = ast.BinOp(node, ast.Add(), ast.Constant(1))
        elif kind == "negation":
            node = ast.UnaryOp(ast.Not(), node)
        elif kind == "list":
            node = ast.List([node], ast.Load())
        elif kind == "attribute":
            node = ast.Attribute(node, "a", ast.Load())
        else:
            node = ast.Call(node, [], [])
    return node


@pytest.mark.parametrize("kind", ["sum", "negation", "list", "attribute", "call"])
def test_deep_nesting(kind: str) -> None:
    """An expression nested 5,000 deep ends in no exception, and what follows it is found."""
    modules, packages = project({"ops/__init__.py": "", "ops/registry.py": REGISTRY})
    text = HEADER + "x = 1" + AFTER
    tree = ast.parse(text)
    modules["ops.kernels"] = FileFacts(path="ops/kernels.py", text=text, problem=None, tree=tree)
    (assignment,) = (node for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "x")
    deep = _nested(kind, 5_000)
    for node in ast.walk(deep):
        ast.copy_location(node, assignment.value)
    assignment.value = deep
    limit = sys.getrecursionlimit()
    found = evaluate(modules, packages, Dialect())
    assert [item.name for item in found.kernel_specs] == ["after"]
    assert sys.getrecursionlimit() == limit


def test_unparsable_and_empty_modules() -> None:
    """A module without a tree is as if it lay outside the project."""
    modules, packages = project({"ops/__init__.py": "", "ops/kernels.py": HEADER + AFTER, "empty.py": ""})
    modules["ops.registry"] = FileFacts(path="ops/registry.py", text="def", problem=None, tree=None)
    assert [item.name for item in evaluate(modules, packages, Dialect()).kernel_specs] == ["after"]


def test_function_that_cannot_be_read() -> None:
    """A function whose body is not at hand is reported where it is called, if it may register."""
    code = HEADER + "def add():\n    KERNEL_REGISTRY.register(spec('a'))\n\nadd()" + AFTER
    modules, packages = project({"ops/__init__.py": "", "ops/registry.py": REGISTRY, "ops/kernels.py": code})
    facts = modules["ops.kernels"]
    broken = FileFacts(
        path=facts.path, text=facts.text.replace("def add():", "def add(:"), problem=None, tree=facts.tree
    )
    modules["ops.kernels"] = broken
    found = evaluate(modules, packages, Dialect())
    assert [item.name for item in found.kernel_specs] == ["after"]
    assert [item.reason for item in found.unresolved] == ["add() registers kernels, but its source cannot be read"]


def test_no_project() -> None:
    """Nothing registers nothing."""
    found = evaluate({}, frozenset(), Dialect())
    assert (found.kernel_specs, found.op_specs, found.unresolved, found.evaluated_modules) == ((), (), (), ())
