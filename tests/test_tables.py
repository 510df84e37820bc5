"""Tables of the commands: as wide as their cells, or as the terminal."""

from __future__ import annotations

import pytest

from veomni_opslint.cli.rule_list import render_rules
from veomni_opslint.reporters import Presentation
from veomni_opslint.reporters.table import markdown_table, text_table
from veomni_opslint.rule_loader import load_rules

COLUMNS = ("op/variant", "implementations", "declared")
ROWS = (
    ("rms_norm/standard", "liger_kernel, npu", "veomni/ops/kernels/rms_norm/__init__.py:4"),
    ("swiglu_mlp/standard", "", "veomni/ops/kernels/swiglu/__init__.py:12"),
)


def test_without_a_terminal() -> None:
    """Every column is as wide as it needs to be."""
    assert text_table(COLUMNS, ROWS) == (
        "  op/variant           implementations    declared\n"
        "  rms_norm/standard    liger_kernel, npu  veomni/ops/kernels/rms_norm/__init__.py:4\n"
        "  swiglu_mlp/standard                     veomni/ops/kernels/swiglu/__init__.py:12\n"
    )


def test_wide_terminal() -> None:
    """Where a terminal has room for it, the table is the same; its header is dim on request."""
    assert text_table(COLUMNS, ROWS, Presentation(columns=200)) == text_table(COLUMNS, ROWS)
    first, *_ = text_table(COLUMNS, ROWS, Presentation(columns=200, colour=True)).splitlines()
    assert first == "\x1b[2m  op/variant           implementations    declared\x1b[0m"


def test_narrow_terminal() -> None:
    """The widest columns are broken after spaces and slashes."""
    assert text_table(COLUMNS, ROWS, Presentation(columns=70)) == (
        "  op/variant           implementations    declared\n"
        "  rms_norm/standard    liger_kernel, npu  veomni/ops/kernels/rms_norm/\n"
        "                                          __init__.py:4\n"
        "  swiglu_mlp/standard                     veomni/ops/kernels/swiglu/\n"
        "                                          __init__.py:12\n"
    )


@pytest.mark.parametrize("width", [*range(44, 90, 3)])
def test_nothing_is_lost(width: int) -> None:
    """No line is wider than the terminal, and all that is in the cells is still there."""
    lines = text_table(COLUMNS, ROWS, Presentation(columns=width)).splitlines()
    assert [line for line in lines if len(line) > width] == []
    written = "".join(sorted("".join(lines).replace(" ", "")))
    assert written == "".join(sorted("".join(map("".join, (COLUMNS, *ROWS))).replace(" ", "")))


def test_long_names() -> None:
    """A name that alone is too wide is broken after its parts; one without parts, anywhere; no column under 12."""
    rows = (("load_balancing_loss_implementation", "averylongnameofakernel", "x"),)
    assert text_table(("field", "name", "one"), rows, Presentation(columns=30)) == (
        "  field         name          one\n"
        "  load_         averylongnam  x\n"
        "  balancing_    eofakernel\n"
        "  loss_\n"
        "  implementati\n"
        "  on\n"
    )


def test_control_characters() -> None:
    """A name cannot steer the terminal."""
    assert text_table(("a",), (("x\x1b[0m",),)) == "  a\n  x\\x1b[0m\n"


def test_markdown() -> None:
    """A bar in a cell stays in it."""
    assert markdown_table(("a", "b"), (("x|y", ""),)) == "| a | b |\n| --- | --- |\n| x\\|y |  |\n"


def test_list_of_rules() -> None:
    """On a terminal no line of it is wider, and a summary goes on below itself; elsewhere a rule is one line."""
    rules = load_rules()
    wide, narrow = (render_rules(rules, "text", Presentation(columns=columns)) for columns in (None, 100))
    assert len(wide.splitlines()) == len(rules)
    assert [line for line in narrow.splitlines() if len(line) > 100] == []
    assert narrow.split() == wide.split()
