"""Code that would take for ever, or all memory, if it were run or followed without a limit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evaluation.survive.case import ODD, PACKAGE, Case, write, written

HEAD = "from ..kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec\n\n"
REGISTER = 'KERNEL_REGISTRY.register(KernelSpec({}, "norm", "standard", max, HardwareRequirement("any")))\n'

EVALUATED = {
    "endless loop": "while True:\n    {register}",
    "long loop": "for i in range(10 ** 12):\n    {register}",
    "loops in loops": "".join(f"{'    ' * n}for i{n} in range(1000):\n"
    "" for n in range(12)) + "    " * 12 + "{register}",
    "long text": "i = 'a' * 10 ** 11\n{register}",
    "long list": "i = [0] * 10 ** 11\n{register}",
    "large power": "i = 9 ** 9 ** 9\n{register}",
    "large shift": "i = 1 << 10 ** 12\n{register}",
    "large format": "i = '{{:100000000000}}'.format(1)\n{register}",
    "large formatted text": "i = f'{{1:>100000000000}}'\n{register}",
    "large percent format": "i = '%100000000000d' % 1\n{register}",
    "doubling": "i = 'a'\nfor _ in range(200):\n    i = i + i\n{register}",
    "doubling lists": "i = [1]\nfor _ in range(200):\n    i = [i, i]\n{register}",
    "nested replication": "i = [[['a'] * 10000] * 10000] * 10000\n{register}",
    "comprehension": "i = [a + b + c for a in range(10 ** 6) for b in range(10 ** 6) for c in range(10 ** 6)]\n"
    "{register}",
    "product": "import itertools\n\ni = list(itertools.product(range(1000), repeat=1000))\n{register}",
    "recursion": "def f(n):\n    return f(n + 1)\n\n\ni = f(0)\n{register}",
    "mutual recursion": "def f(n):\n    return g(n)\n\n\ndef g(n):\n    return f(n)\n\n\ni = f(0)\n{register}",
    "branching recursion": "def f(n):\n    return f(n - 1) + f(n - 1) if n else 'a'\n\n\ni = f(60)\n{register}",
    "registering recursion": "def f(i):\n    {register}    f(i + 'a')\n    f(i + 'b')\n\n\nf('a')\n",
    "many registrations": "for i in [str(n) for n in range(200000)]:\n    {register}",
    "division by zero": "i = 'a' * (1 // 0)\n{register}",
    "index out of range": "i = ('a',)[7]\n{register}",
    "missing key": "i = {{'a': 1}}['b']\n{register}",
    "unhashable key": "i = {{[]: 'a'}}\n{register}",
    "unorderable": "i = sorted([1, 'a', None])[0]\n{register}",
    "wrong format": "i = '%s %s' % ('a',)\n{register}",
    "wrong format index": "i = '{{}} {{}}'.format('a')\n{register}",
    "format of an attribute": "i = '{{0.__class__.__mro__}}'.format('a')\n{register}",
    "unpacking of another length": "i, j = ('a', 'b', 'c')\n{register}",
    "deleted": "i = 'a'\ndel i\n{register}",
    "used before": "{register}i = 'a'\n",
    "names itself": "i = [i]\n{register}",
    "holds itself": "i = []\ni.append(i)\n{register}",
    "cyclic dictionary": "i = {{}}\ni['a'] = i\n{register}",
    "class of itself": "class A(A):\n    pass\n\n\ni = A.name\n{register}",
    "cyclic classes": "class A(B):\n    pass\n\n\nclass B(A):\n    pass\n\n\ni = A.name\n{register}",
    "exits": "raise SystemExit\n{register}",
    "star arguments": "i = dict(**{{'a' * 10: 1}}, **{{'b': 2}})\nKERNEL_REGISTRY.register(KernelSpec(*i, **i))\n",
    "global of nothing": "def f():\n    global i\n    {register}\n\nf()\n",
    "nonlocal": "def f():\n    i = 'a'\n\n    def g():\n        nonlocal i\n        i = 'b'\n\n    g()\n"
    "    {register}\n\nf()\n",
    "generator without end": "def f():\n    while True:\n        yield 'a'\n\n\nfor i in f():\n    {register}",
    "decorator of itself": "@f\ndef f():\n    pass\n\n\ni = f()\n{register}",
    "default of itself": "def f(i=f):\n    {register}\n\nf()\n",
    "assignment in an expression": "[(i := 'a' * n) for n in range(10 ** 9)]\n{register}",
    "match without end": "i = 'a'\nfor n in range(10 ** 10):\n    match n:\n        case 0:\n            {register}",
    "try in a loop": "i = 'a'\nwhile True:\n    try:\n        {register}    except ValueError:\n        continue\n",
}  # fmt: skip


def cases() -> Iterator[Case]:
    """One case for each trap."""
    for name, code in EVALUATED.items():
        text = _with_registration(code)
        yield Case(f"evaluated: {name}", written(ODD, HEAD + text), "quiet")
    yield from _conditions()
    yield from _imports()
    yield from _documents()
    yield Case("spread over a thousand files", _many_files)


def _with_registration(code: str) -> str:
    """*code* with the registration at each place that asks for one."""
    return code.format(register="REGISTER\n").replace("REGISTER", REGISTER.format("i").strip())


def _conditions() -> Iterator[Case]:
    names = [f"A{n}" for n in range(60)]
    flags = "from flags import *\n\n\n"
    nested = (
        "".join(f"{'    ' * n}if {name}:\n" for n, name in enumerate(names[:60])) + "    " * 60 + "import torch_npu\n"
    )
    yield Case("conditions: nested", written(ODD, flags + nested))
    in_a_row = (
        "def f():\n" + "".join(f"    if {name}:\n        return 1\n" for name in names) + "    import torch_npu\n"
    )
    yield Case("conditions: returns in a row", written(ODD, flags + in_a_row))
    choices = "def f():\n" + "".join(
        f"    if {name}:\n        x = 1\n    else:\n        x = 2\n" for name in names * 20
    )
    yield Case("conditions: choices in a row", written(ODD, flags + choices + "    import torch_npu\n"))
    long = " or ".join(f"({a} and not {b})" for a in names[:30] for b in names[30:])
    yield Case("conditions: long", written(ODD, f"{flags}if {long}:\n    import torch_npu\n"))
    guards = "".join(f"G{n} = not G{n - 1} and (A{n % 60} or G{n - 1})\n" for n in range(1, 400))
    yield Case(
        "conditions: chain of guards",
        written(ODD, f"{flags}G0 = A0\n{guards}if G399:\n    import torch_npu\n"),
    )
    loops = (
        "def f():\n"
        + "".join(
            f"{'    ' * n}for _ in a:\n{'    ' * n}    if A{n}:\n{'    ' * n}        continue\n" for n in range(1, 18)
        )
        + "    " * 18
        + "import torch_npu\n"
    )
    yield Case("conditions: loops", written(ODD, flags + loops))
    calls = (
        "".join(f"def f{n}():\n    return f{n + 1}() and A{n % 60}\n\n\n" for n in range(400))
        + "def f400():\n    return f0()\n\n\n"
    )
    yield Case(
        "conditions: guards that call each other",
        written(ODD, f"{flags}{calls}if f0():\n    import torch_npu\n"),
    )


def _imports() -> Iterator[Case]:
    def chain(root: Path) -> None:
        for number in range(2000):
            write(root, f"{PACKAGE}/ops/kernels/m{number}.py", f"from . import m{number + 1}\n")
        write(root, f"{PACKAGE}/ops/kernels/m2000.py", "import torch_npu\nimport triton\n")
        write(root, ODD, "from . import m0\n")

    def cycle(root: Path) -> None:
        for number in range(300):
            write(root, f"{PACKAGE}/ops/kernels/m{number}.py", f"from .m{(number + 1) % 300} import *\n")
        write(root, ODD, "from .m0 import anything\nfrom . import odd\nfrom .odd import *\n")

    def all_of_all(root: Path) -> None:
        text = "".join(f"from . import m{number}\n" for number in range(150))
        for number in range(150):
            write(root, f"{PACKAGE}/ops/kernels/m{number}.py", text)
        write(root, ODD, "from . import m0\n")

    def calls(root: Path) -> None:
        text = "".join(f"def f{n}():\n    f{(n + 1) % 1500}()\n    f{(n * 7) % 1500}()\n\n\n" for n in range(1500))
        write(root, ODD, text + "def g():\n    import torch_npu\n\n\nf0()\n")

    yield Case("imports: chain", chain)
    yield Case("imports: cycle of stars", cycle)
    yield Case("imports: each of each", all_of_all)
    yield Case("imports: calls in cycles", calls)
    yield Case("imports: too many dots", written(ODD, "from " + "." * 3000 + " import x\n"))
    yield Case("imports: long name", written(ODD, "import " + ".".join(["a"] * 5000) + "\n"))
    yield Case(
        "imports: names that are no text",
        written(
            ODD,
            "import importlib\n\nimportlib.import_module(7)\n__import__(None)\nimportlib.import_module('..' * 50, 7)\n",
        ),
    )
    yield Case(
        "imports: embedded in itself",
        written(f"{PACKAGE}/models/a/a_gpu_patch_gen_config.py", _nested_blocks(40)),
    )


def _documents() -> Iterator[Case]:
    config = (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass OpsImplementationConfig:\n"
        '    norm_implementation: str = "plain"\n'
    )
    head = "| Kernel | Config field | Values |\n|---|---|---|\n"
    texts = {
        "wide table": "|" + " a |" * 20000 + "\n|" + "---|" * 20000 + "\n|" + " `norm_implementation` |" * 20000 + "\n",
        "long cell": head + "| Norm | `norm_implementation` | " + "`plain`, " * 40000 + "|\n",
        "long paragraph": "Set `norm_implementation=plane` in `veomni/ops/nowhere.py`.\n" * 8000,
        "many blocks": "```python\nfrom veomni.ops import nothing\n```\n" * 4000,
        "braces": "`veomni/ops/" + "{a,b}" * 30 + ".py`\n",
    }
    for name, text in texts.items():

        def build(root: Path, text: str = text) -> None:
            write(root, f"{PACKAGE}/arguments/arguments_types.py", config)
            write(root, "docs/kernels.md", text)

        yield Case(f"documents: {name}", build, arguments=("{root}", "--root", "{root}"))


def _nested_blocks(depth: int) -> str:
    text = "slot = 1\n"
    for _ in range(depth):
        text = f"config.add_post_import_block({text[:20000]!r})\n"
    return text


def _many_files(root: Path) -> None:
    for number in range(1000):
        text = HEAD + "def _factory():\n    return max\n\n\n" + REGISTER.format(f'"k{number}"')
        write(root, f"{PACKAGE}/ops/kernels/k{number}.py", text)
    write(root, ODD, "".join(f"from . import k{number}\n" for number in range(1000)))
