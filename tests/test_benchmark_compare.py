"""Benchmarks: the measurement of a child, the table and the bars."""

from __future__ import annotations

import configparser
import sys
from pathlib import Path

import pytest

from benchmarks.compare import (
    FLOOR,
    FOUNDING,
    OPSLINT,
    PARSE,
    VERSION,
    Bar,
    Command,
    CommandFailedError,
    Sample,
    bars,
    import_linter_config,
    main,
    median_of,
    python_files,
    run_once,
    table,
)

MEASURED = {
    OPSLINT: Sample(cpu=1.5, wall=1.0, memory=100.0),
    PARSE: Sample(cpu=1.1, wall=1.1, memory=50.0, inner=1.0),
    VERSION: Sample(cpu=0.05, wall=0.05, memory=20.0),
}


def test_bars_compare_opslint_with_the_parse_loop_alone() -> None:
    """Start-up and reading of the parsing child do not count for it."""
    assert bars({**MEASURED, FOUNDING: Sample(cpu=1.25, wall=1.0, memory=90.0)}) == [
        Bar("CPU time of opslint over ast.parse", 1.5, 3.0, "x"),
        Bar("CPU time of opslint, founding rules over ast.parse", 1.25, 2.0, "x"),
        Bar("peak memory", 100.0, 250.0, " MiB"),
        Bar("CPU time of --version", 50.0, 60.0, " ms"),
    ]


def test_no_bar_is_judged_without_a_measurement() -> None:
    """A tool that did not run keeps no promise."""
    assert bars({FLOOR: Sample(0.01, 0.01, 10.0)}) == []


@pytest.mark.parametrize(("value", "kept"), [(2.0, True), (2.01, False)])
def test_a_bar_is_kept_up_to_its_limit(value: float, kept: bool) -> None:
    """The limit itself is still good."""
    assert Bar("x", value, 2.0, "x").kept is kept


def test_table_has_ratios_relative_to_opslint() -> None:
    """Every row is compared with the row of opslint."""
    assert table(MEASURED).splitlines() == [
        "                   CPU s  ratio  wall s  ratio  peak MiB  ratio",
        "opslint            1.500   1.00   1.000   1.00       100   1.00",
        "ast.parse          1.100   0.73   1.100   1.10        50   0.50",
        "opslint --version  0.050   0.03   0.050   0.05        20   0.20",
    ]


def test_median_is_taken_column_by_column() -> None:
    """One slow run does not spoil a column."""
    samples = [Sample(1, 9, 5, 3), Sample(2, 8, 9, 1), Sample(9, 1, 7, 2)]
    assert median_of(samples) == Sample(2, 8, 7, 2)


def test_a_child_that_prints_seconds_gives_them(tmp_path: Path) -> None:
    """What the parsing child measures inside is part of its sample."""
    command = Command("inner", (sys.executable, "-c", "print(0.25)"), prints_seconds=True)
    assert run_once(command, str(tmp_path)).inner == 0.25


def test_a_failing_child_is_no_measurement(tmp_path: Path) -> None:
    """The last line that it wrote says why."""
    command = Command("broken", (sys.executable, "-c", "import sys; sys.exit('no such rule')"), good_statuses=(0,))
    with pytest.raises(CommandFailedError, match="broken: exit status 1: no such rule"):
        run_once(command, str(tmp_path))


def test_a_missing_program_is_no_measurement(tmp_path: Path) -> None:
    """It is reported, not raised as an OSError."""
    with pytest.raises(CommandFailedError, match="gone: "):
        run_once(Command("gone", (str(tmp_path / "gone"),)), str(tmp_path))


def test_hidden_folders_are_not_parsed(tmp_path: Path) -> None:
    """The files are those that opslint reads."""
    for name in ("a.py", "b/c.py", ".venv/d.py", "e.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert python_files(tmp_path) == [str(tmp_path / "a.py"), str(tmp_path / "b/c.py")]


def test_import_linter_gets_a_contract_for_the_package() -> None:
    """The configuration that is generated can be read."""
    config = configparser.ConfigParser()
    config.read_string(import_linter_config("veomni"))
    assert config["importlinter"]["root_package"] == "veomni"
    assert config["importlinter:contract:ops"]["source_modules"].split() == ["veomni.ops"]


def test_a_tree_without_python_is_refused(tmp_path: Path) -> None:
    """Nothing to measure is a usage error."""
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path)])
    assert ended.value.code == 2
