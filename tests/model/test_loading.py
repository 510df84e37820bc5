"""What importing a module loads at once."""

from __future__ import annotations

import pytest
from support.symbols import deep_facts, symbols_of

from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import text_of
from veomni_opslint.model.loading import Loading, Step
from veomni_opslint.model.run_by_call import RunByCall

HELPERS = "def load_triton():\n    import triton\ndef nothing(): pass\n"


def loading_of(files: dict[str, str]) -> Loading:
    """The loading of a project with these files."""
    symbols = symbols_of(files)
    return Loading(symbols, Dialect(), RunByCall(symbols, deep_facts(symbols)))


def written(loading: Loading, step: Step) -> str:
    """The module and the text of an import, marked ``?`` where it is not certain and ``~`` where it is tried."""
    text = text_of(loading.symbols.modules[step.module], step.imported.span)
    return f"{step.module}: {text}{'' if step.certain else '?'}{'~' if step.tried else ''}"


def steps_of(text: str) -> list[str]:
    """The imports that run when a module with this text is loaded, without the one of its helpers."""
    loading = loading_of({"m.py": text, "helpers.py": HELPERS})
    found = [written(loading, step) for step in loading.steps("m", certain=False)]
    return [one.removeprefix("m: ") for one in found if "helpers" not in one.partition(": ")[2]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import triton", ["import triton"]),
        ("from triton import x", ["from triton import x"]),
        ("class C:\n    import triton", ["import triton"]),
        ("class C:\n    class D:\n        import triton", ["import triton"]),
        ("import_module('triton')", ["import_module('triton')"]),
        ("def f():\n    import triton", []),
        ("async def f():\n    import triton", []),
        ("f = lambda: __import__('triton')", []),
        ("def f():\n    class C:\n        import triton", []),
        ("class C:\n    def f(self):\n        import triton", []),
        ("if TYPE_CHECKING:\n    import triton", []),
        ("if typing.TYPE_CHECKING:\n    import triton", []),
        ("if not TYPE_CHECKING:\n    import triton", ["import triton"]),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    import triton", ["import triton"]),
        ("if __name__ == '__main__':\n    import triton", []),
        ("if x:\n    import triton", ["import triton?"]),
        ("if x:\n    class C:\n        import triton", ["import triton?"]),
        ("if x:\n    import triton\nelse:\n    import triton", ["import triton?", "import triton?"]),
        ("if x or not x:\n    import triton", ["import triton"]),
        ("if False:\n    import triton", []),
        ("raise E\nimport triton", []),
        ("sys.exit()\nclass C:\n    import triton", []),
        ("if is_triton_available():\n    import triton", ["import triton?"]),
        ("if HAS_TRITON:\n    import triton", ["import triton?"]),
        ("if not is_triton_available():\n    import triton", ["import triton"]),
        ("if not is_triton_available():\n    raise E\nimport triton", ["import triton?"]),
        ("if is_package_available('triton'):\n    import triton", ["import triton?"]),
        ("if is_flash_attn_available():\n    import triton", ["import triton?"]),
        ("try:\n    import triton\nexcept ImportError:\n    triton = None", ["import triton~"]),
        ("try:\n    import triton\nexcept ImportError:\n    raise", ["import triton"]),
        ("with suppress(ImportError):\n    import triton", ["import triton~"]),
        ("try:\n    import x\nexcept ImportError:\n    import triton", ["import x~", "import triton"]),
        ("try:\n    import x\nexcept ImportError:\n    pass\nelse:\n    import triton", ["import x~", "import triton"]),
        ("import triton\nimport triton.language", ["import triton", "import triton.language"]),
        ("import triton\nimport flash_attn", ["import triton", "import flash_attn"]),
    ],
)
def test_imports_that_run(text: str, expected: list[str]) -> None:
    """Imports outside functions: those that run whatever is installed, and those that something may rule out."""
    assert steps_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f():\n    import triton\nf()", ["m: import triton"]),
        ("def f():\n    import triton\nx = [f()]", ["m: import triton"]),
        ("def f():\n    import triton\nclass C:\n    f()", ["m: import triton"]),
        ("def f():\n    import triton\n@f()\ndef g(): pass", ["m: import triton"]),
        ("def f():\n    import triton\nf", []),
        ("def f():\n    import triton\nif x:\n    f()", ["m: import triton?"]),
        ("def f():\n    import triton\nif TYPE_CHECKING:\n    f()", []),
        ("def f():\n    if x:\n        import triton\nf()", ["m: import triton?"]),
        ("def f():\n    import triton\ntry:\n    f()\nexcept ImportError:\n    pass", ["m: import triton~"]),
        ("def f():\n    try:\n        import triton\n    except ImportError:\n        0\nf()", ["m: import triton~"]),
        ("def f():\n    import triton\ndef g():\n    f()\ng()", ["m: import triton"]),
        ("def f():\n    import triton\ndef g():\n    if x: f()\ng()", ["m: import triton?"]),
        ("def f():\n    f()\n    import triton\nf()", ["m: import triton"]),
        ("def f():\n    import triton\n    yield\nf()", []),
        ("async def f():\n    import triton\nf()", []),
        ("def f():\n    def g():\n        import triton\nf()", []),
        ("def f():\n    def g():\n        import triton\n    g()\nf()", ["m: import triton"]),
        ("class C:\n    def f():\n        import triton\nC.f()", ["m: import triton"]),
        ("from helpers import load_triton\nload_triton()", ["helpers: import triton"]),
        ("import helpers as h\nh.load_triton()", ["helpers: import triton"]),
        ("from helpers import *\nload_triton()", ["helpers: import triton"]),
        ("from helpers import load_triton\ndef g():\n    load_triton()\ng()", ["helpers: import triton"]),
        ("from helpers import nothing\nnothing()", []),
        ("unknown()", []),
        ("f = unknown\nf()", []),
        ("if __name__ == '__main__':\n    from helpers import load_triton\n    load_triton()", []),
    ],
)
def test_functions_called_at_once(text: str, expected: list[str]) -> None:
    """A function that module-level code calls runs when the module is loaded, wherever it is defined."""
    loading = loading_of({"m.py": text, "helpers.py": HELPERS})
    found = [written(loading, step) for step in loading.steps("m", certain=False)]
    assert [one for one in found if "triton" in one and "from helpers" not in one] == expected


def test_place_of_a_called_function() -> None:
    """What makes the import run is the call at module level."""
    text = "from helpers import load_triton\n\ndef g():\n    load_triton()\n\ng()\n"
    loading = loading_of({"m.py": text, "helpers.py": HELPERS})
    last = loading.steps("m")[-1]
    assert (last.module, last.place) == ("helpers", ("m", (6, 0, 6, 1)))
    assert loading.steps("m")[0].place == ("m", (1, 0, 1, 31))


CHAIN = {
    "p/__init__.py": "from .ops import kernels\n",
    "p/ops/__init__.py": "from . import config\nif x:\n    from . import maybe\n",
    "p/ops/config.py": "try:\n    from . import tried\nexcept ImportError:\n    tried = None\n",
    "p/ops/tried.py": "import triton\n",
    "p/ops/maybe.py": "import flash_attn\n",
    "p/ops/kernels.py": "from .deep.leaf import f\ndef lazy():\n    from . import never\n",
    "p/ops/deep/leaf.py": "import liger_kernel.ops\nfrom torch import npu\ndef f(): pass\nfrom .. import kernels\n",
    "p/ops/never.py": "import quack\n",
}


def test_closure() -> None:
    """Everything that is loaded with a package, also by its submodules and in circles, and on which chain."""
    loading = loading_of(CHAIN)
    assert sorted(loading.closure("p").via) == [
        "p.ops", "p.ops.config", "p.ops.deep.leaf", "p.ops.kernels", "p.ops.tried",
    ]  # fmt: skip
    assert "p.ops.tried" not in loading.closure("p", tried=False)
    assert "p.ops.maybe" in loading.closure("p", certain=False)
    assert "p" in loading.closure("p")
    chain = loading.closure("p").chain("p.ops.deep.leaf")
    assert [written(loading, step) for step in chain] == [
        "p: from .ops import kernels",
        "p.ops.kernels: from .deep.leaf import f",
    ]
    assert loading.closure("p").chain("p") == ()


def test_chain_through_a_call() -> None:
    """Where a function of another module runs, the chain goes on from the module that calls it."""
    files = {
        "p/__init__.py": "from .caller import x\n",
        "p/caller.py": "from .helper import f\nx = f()\n",
        "p/helper.py": "def f():\n    from . import late\n",
        "p/late.py": "import triton\n",
    }
    loading = loading_of(files)
    chain = loading.closure("p").chain("p.late")
    assert [written(loading, step) for step in chain] == ["p: from .caller import x", "p.helper: from . import late"]


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("p.ops.deep.leaf", ["liger_kernel", "torch.npu"]),
        ("p.ops.tried", ["triton"]),
        ("p.ops.kernels", []),
        ("p.ops", []),
    ],
)
def test_optional_packages(module: str, expected: list[str]) -> None:
    """Optional packages that a module itself imports when it is loaded."""
    loading = loading_of(CHAIN)
    assert [name for step in loading.steps(module) for name in loading.packages(step.imported)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import triton", ("triton",)),
        ("import triton.language as tl", ("triton",)),
        ("import torch.npu", ("torch.npu",)),
        ("from torch import npu, cuda", ("torch.npu",)),
        ("from torch.npu.x import y", ("torch.npu",)),
        ("import torch", ()),
        ("import numpy", ()),
        ("from .triton import x", ()),
        ("import tritonic", ()),
    ],
)
def test_packages(text: str, expected: tuple[str, ...]) -> None:
    """Which optional packages an import names."""
    loading = loading_of({"p/__init__.py": text})
    assert loading.packages(loading.symbols.modules["p"].imports[0]) == expected


@pytest.mark.parametrize("package", ["triton", ""])
@pytest.mark.parametrize(
    ("text", "certain", "never"),
    [
        ("import x", True, False),
        ("if y:\n    import x", False, False),
        ("if TYPE_CHECKING:\n    import x", False, True),
        ("if a and not a:\n    import x", False, True),
        ("f()\nimport x", True, False),
        ("import flash_attn\nimport x", True, False),
    ],
)
def test_certain_and_never(text: str, certain: bool, never: bool, package: str) -> None:
    """A condition holds for certain, never, or as what is unknown decides."""
    loading = loading_of({"m.py": text})
    when = loading.symbols.modules["m"].imports[-1].when
    assert (loading.certain(when, package), loading.never(when, package)) == (certain, never)
