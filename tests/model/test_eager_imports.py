"""Which import is to be deferred: that of a package, or the one that leads into a file made for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.models import model_of

BASE = {"veomni/__init__.py": "", "veomni/models/__init__.py": "", "veomni/ops/__init__.py": "from . import swiglu\n"}
KERNEL = "import triton\n\n\n@triton.jit\ndef kernel(x):\n    return x\n"
PLAIN = "\n\n".join(f"def plain_{number}(x):\n    return x\n" for number in range(6))
LATE = "def factory():\n    from .fused import kernel\n\n    return kernel\n\n\n"


def places(root: Path, files: dict[str, str]) -> list[tuple[str, int, str]]:
    """Module, line and package of each import to defer when the ops package is loaded."""
    model = model_of(root, {**BASE, **files})
    found = model.eager_imports.unguarded([model.ops_package])
    return [(one.step.place[0], one.step.place[1][0], one.package) for one in found]


@pytest.mark.parametrize(
    ("fused", "swiglu", "expected"),
    [
        pytest.param(KERNEL, "from . import fused\n", ("veomni.ops.swiglu", 1), id="made-with-the-package"),
        pytest.param(
            KERNEL + PLAIN, "from . import fused\n", ("veomni.ops.swiglu.fused", 1), id="one-kernel-among-many"
        ),
        pytest.param(
            KERNEL + PLAIN, LATE + "from . import fused\n", ("veomni.ops.swiglu", 7), id="imported-late-elsewhere"
        ),
        pytest.param(
            "import triton\n\n\ndef kernel(x):\n    return triton.cdiv(x, 2)\n",
            LATE + "from . import fused\n",
            ("veomni.ops.swiglu", 7),
            id="used-and-imported-late",
        ),
        pytest.param(
            "import triton\n\n\ndef kernel(x):\n    return x\n",
            LATE + "from . import fused\n",
            ("veomni.ops.swiglu.fused", 1),
            id="never-used",
        ),
    ],
)
def test_place(tmp_path: Path, fused: str, swiglu: str, expected: tuple[str, int]) -> None:
    """The import of the package unless its file is made for it."""
    files = {"veomni/ops/swiglu/__init__.py": swiglu, "veomni/ops/swiglu/fused.py": fused}
    assert places(tmp_path, files) == [(*expected, "triton")]


def test_a_call_in_another_module(tmp_path: Path) -> None:
    """A function with a lazy import is as it should be; the call of it at module level is not."""
    files = {
        "veomni/ops/swiglu/__init__.py": "from ..language import load\n\nTL = load()\n",
        "veomni/ops/language.py": "def load():\n    return _load()\n\n\ndef _load():\n    import triton\n",
    }
    assert places(tmp_path, files) == [("veomni.ops.swiglu", 3, "triton")]


def test_every_import_of_a_package_counts(tmp_path: Path) -> None:
    """The second import is reached only with the package, and still has to be deferred as well."""
    text = "import triton\nimport liger_kernel\nimport triton.language as tl\n"
    assert places(tmp_path, {"veomni/ops/swiglu/__init__.py": text}) == [
        ("veomni.ops.swiglu", 1, "triton"),
        ("veomni.ops.swiglu", 2, "liger_kernel"),
        ("veomni.ops.swiglu", 3, "triton"),
    ]


def test_chain(tmp_path: Path) -> None:
    """The chain goes from the root to the import of the package."""
    files = {
        "veomni/ops/swiglu/__init__.py": "from .gemm import swiglu\n",
        "veomni/ops/swiglu/gemm.py": "from . import triton_gemm\n\nswiglu = triton_gemm.kernel\n",
        "veomni/ops/swiglu/triton_gemm.py": KERNEL,
    }
    model = model_of(tmp_path, {**BASE, **files})
    (fault,) = model.eager_imports.unguarded([model.ops_package])
    assert [step.module for step in fault.chain] == [
        "veomni.ops", "veomni.ops.swiglu", "veomni.ops.swiglu.gemm", "veomni.ops.swiglu.triton_gemm",
    ]  # fmt: skip
    assert (fault.root, fault.step.module) == ("veomni.ops", "veomni.ops.swiglu.gemm")
