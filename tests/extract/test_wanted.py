"""Lines that make a function worth a walk."""

from __future__ import annotations

import pytest

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.wanted import wanted_lines


@pytest.mark.parametrize(
    "line",
    [
        "    import a.b",
        "\timport\ta",
        "    import\\",
        "    from a import b",
        "    from . import b",
        "from.a import b",
        "    from a import(b)",
        "x = 1; import a",
        "if x: import a",
        "if x: from a import b",
        "try: from.a import b",
        "else:import a",
        "    global x",
        "x = importlib.import_module('a')",
        "x = __import__ ('a')",
        "X = OpSlot('a', 'b')",
        "X = OpsConfigSlot(",
        "if is_torch_npu_available():",
        "if IS_NPU_AVAILABLE:",
        "torch_npu.x()",
        "torch.npu.x()",
        "config.add_post_import_block(x)",
        "BackendSpec('a:b')",
    ],
)
def test_wanted(line: str) -> None:
    """Statements and names that rules ask for, in every spelling."""
    assert wanted_lines(f"x = 1\n\n{line}\ny = 2\n", Dialect()) == [3]


@pytest.mark.parametrize(
    "line",
    [
        "x = 1",
        "import a",
        "from a import b",
        "# it is important to import nothing",
        "an import of the file",
        ">>> from a import b",
        "    This is imported from a, then import b.",
        "reimport = 1",
        "important = 1",
        "x.import_ = 1",
        "globals()",
        "a global b",
        "slot: OpSlot",
        "f = import_module",
        "x.is_available()",
    ],
)
def test_not_wanted(line: str) -> None:
    """Prose and names that merely contain such a word."""
    assert wanted_lines(f"{line}\n", Dialect()) == []


@pytest.mark.parametrize(
    "line",
    [
        "from veomni.ops import OpSlot as S",
        "import torch_npu as t",
        "from torch import npu",
        "from torch.npu import x",
        "from torch_npu.y import x",
    ],
)
def test_any_line_may_be_wanted(line: str) -> None:
    """Where a name of the dialect goes under another one, the text does not tell where it is used."""
    assert wanted_lines(f"x = 1\n{line}\n", Dialect()) is None


def test_several() -> None:
    """Every line once for each word, in order."""
    assert wanted_lines(" import a; import b\nx\n import c", Dialect()) == [1, 1, 3]


def test_long_lines() -> None:
    """In a line that goes on and on, what is near decides."""
    assert wanted_lines("x = 1\n " + "import a; " * 100, Dialect()) == [2] * 100
    assert wanted_lines(f"x = '{'y' * 1000} import a'", Dialect()) == []


def test_continued_at_the_margin() -> None:
    """Behind a backslash, a statement at the margin belongs to the line above, which may be in a function."""
    assert wanted_lines("def f():\n    x = 1; \\\nimport a\n", Dialect()) == [3]
