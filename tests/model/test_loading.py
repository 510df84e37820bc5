"""What importing a module loads at once, and on what conditions."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.models import model_of

HEAD = "import os\nfrom typing import TYPE_CHECKING\n\nfrom importlib.util import find_spec\n\n"


def steps(root: Path, text: str) -> list[tuple[str, bool, bool]]:
    """What a module imports after its head: the name, whether certainly, whether tried."""
    files = {"veomni/__init__.py": "", "veomni/ops/__init__.py": HEAD + text, "veomni/ops/sub.py": ""}
    found = model_of(root, files).loading.steps("veomni.ops", certain=False)
    return [(step.imported.module or "." * step.imported.level, step.certain, step.tried) for step in found[3:]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import triton\n", [("triton", True, False)]),
        ("if TYPE_CHECKING:\n    import triton\n", []),
        ("if __name__ == '__main__':\n    import triton\n", []),
        ("if os.name == 'nt':\n    import triton\n", [("triton", False, False)]),
        ("if find_spec('triton'):\n    import triton\n", [("triton", False, False)]),
        ("if not find_spec('triton'):\n    import triton\n", [("triton", True, False)]),
        ("try:\n    import triton\nexcept ImportError:\n    pass\n", [("triton", True, True)]),
        ("try:\n    import triton\nexcept ImportError:\n    raise\n", [("triton", True, False)]),
        (
            "try:\n    import apex\nexcept ImportError:\n    import triton\n",
            [("apex", True, True), ("triton", True, False)],
        ),
        ("class Names:\n    import triton\n", [("triton", True, False)]),
        ("def load():\n    import triton\n\n\nload()\n", [("triton", True, False)]),
        ("def load():\n    import triton\n\n\nif os.name == 'nt':\n    load()\n", [("triton", False, False)]),
        (
            "def load():\n    import triton\n\n\ntry:\n    load()\nexcept ImportError:\n    pass\n",
            [("triton", True, True)],
        ),
        ("def load():\n    import triton\n", []),
        ("def load():\n    yield __import__('triton')\n\n\nload()\n", []),
    ],
)
def test_steps(tmp_path: Path, text: str, expected: list[tuple[str, bool, bool]]) -> None:
    """Certain is what runs whatever is installed; nothing is what cannot run at import."""
    assert steps(tmp_path, text) == expected


def test_a_name_that_falls_back_still_loads_its_submodule(tmp_path: Path) -> None:
    """``sub = None`` in the handler does not make ``from . import sub`` find something else."""
    text = "try:\n    from . import sub\nexcept ImportError:\n    sub = None\n"
    files = {"veomni/__init__.py": "", "veomni/ops/__init__.py": text, "veomni/ops/sub.py": "import os\n"}
    closure = model_of(tmp_path, files).loading.closure("veomni.ops")
    assert [step.module for step in closure.chain("veomni.ops.sub")] == ["veomni.ops"]


def test_the_chain_to_what_a_called_function_loads(tmp_path: Path) -> None:
    """The caller is the link, also where the module of the function is itself only tried."""
    files = {
        "veomni/__init__.py": "",
        "veomni/ops/__init__.py": "try:\n    from .loader import load\nexcept ImportError:\n    pass\n\nload()\n",
        "veomni/ops/loader.py": "def load():\n    from . import sub\n",
        "veomni/ops/sub.py": "",
    }
    closure = model_of(tmp_path, files).loading.closure("veomni.ops", tried=False)
    assert [step.place[0] for step in closure.chain("veomni.ops.sub")] == ["veomni.ops"]
