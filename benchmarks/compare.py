"""Measure opslint beside ruff, flake8 and import-linter on one tree: ``python -m benchmarks.compare TREE``.

Every command runs once to warm the byte code and the page cache, then ``--rounds`` times, interleaved; the table shows
medians. CPU time is user plus system time of the command and all that it started; memory is its own peak.
``--check`` ends with status 1 when opslint misses one of its bars.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MAX_CPU_OVER_PARSE = 3.0
MAX_FOUNDING_CPU_OVER_PARSE = 2.0
MAX_MEMORY_MIB = 250.0
MAX_VERSION_CPU_MS = 60.0
OPSLINT, FOUNDING, PARSE = "opslint", "opslint, founding rules", "ast.parse"
VERSION, IMPORT, FLOOR = "opslint --version", "import only", "python -c pass"
FOUNDING_RULES = (
    "OPS0", "OPS1", "OPS201", "OPS202", "OPS203", "OPS204", "OPS301", "OPS302", "OPS303", "OPS309",
    "OPS310", "OPS312", "OPS390", "OPS401", "OPS5",
)  # fmt: skip
"""The rules about registrations, imports, guards, slots and wrappers alone, which have a bar of their own."""

PARSE_PROGRAM = """
import ast, json, sys, time
paths = json.load(open(sys.argv[1]))
spent = 0.0
for path in paths:
    with open(path, "rb") as file:
        data = file.read()
    start = time.process_time()
    try:
        ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    spent += time.process_time() - start
print(spent)
"""


@dataclass(frozen=True, slots=True)
class Command:
    """One row of the table: what to run, and the exit statuses that mean that it did its work."""

    name: str
    argv: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    good_statuses: tuple[int, ...] = (0, 1)
    prints_seconds: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """One run: seconds of CPU and of wall time, peak memory in MiB, and the seconds that it printed itself, if any."""

    cpu: float
    wall: float
    memory: float
    inner: float = 0.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit that opslint promises to keep, and the value measured."""

    what: str
    value: float
    limit: float
    unit: str

    @property
    def kept(self) -> bool:
        return self.value <= self.limit


class CommandFailedError(Exception):
    """A command could not be measured because it did not do its work."""


def run_once(command: Command, folder: str) -> Sample:
    """Run *command* in *folder* and measure it.

    Raises:
        CommandFailedError: it ended with an unexpected status or could not be started.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        try:
            child = subprocess.Popen(
                command.argv,
                cwd=folder,
                env=_environment(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
            )
        except OSError as error:
            raise CommandFailedError(f"{command.name}: {error}") from error
        # wait4 and not getrusage(RUSAGE_CHILDREN): that one adds up every child so far and keeps the largest peak.
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if child.returncode not in command.good_statuses:
            said = errors.read().decode(errors="replace").strip() or output.read().decode(errors="replace").strip()
            last = said.splitlines()[-1] if said else "no output"
            raise CommandFailedError(f"{command.name}: exit status {child.returncode}: {last}")
        scale = 1 if sys.platform == "darwin" else 1024
        memory = usage.ru_maxrss * scale / (1024 * 1024)
        inner = float(output.read()) if command.prints_seconds else 0.0
        return Sample(usage.ru_utime + usage.ru_stime, wall, memory, inner)


def _environment(command: Command) -> dict[str, str]:
    """Ours, but Python may keep its byte code, as it does for whoever installs a tool: else each run compiles again."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, **command.environment}


def median_of(samples: Sequence[Sample]) -> Sample:
    """The median of each column by itself."""
    return Sample(
        statistics.median(sample.cpu for sample in samples),
        statistics.median(sample.wall for sample in samples),
        statistics.median(sample.memory for sample in samples),
        statistics.median(sample.inner for sample in samples),
    )


def measure(commands: Sequence[Command], folder: str, rounds: int) -> tuple[dict[str, Sample], list[str]]:
    """Warm up, then run all commands in turn *rounds* times; also says why a command is missing from the result."""
    samples: dict[str, list[Sample]] = {}
    skipped = []
    for command in commands:
        try:
            run_once(command, folder)
            samples[command.name] = []
        except CommandFailedError as error:
            skipped.append(str(error))
    for _ in range(rounds):
        for command in commands:
            if command.name in samples:
                samples[command.name].append(run_once(command, folder))
    return {name: median_of(taken) for name, taken in samples.items()}, skipped


def python_files(tree: Path) -> list[str]:
    """The Python files under *tree*, leaving out hidden folders as opslint does."""
    return sorted(
        str(path)
        for path in tree.rglob("*.py")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(tree).parts)
    )


def commands_for(tree: Path, python: str, file_list: str, import_linter_config: str) -> Iterator[Command]:
    """Every row that can be measured with *python* and the programs installed beside it."""
    opslint = _program("opslint", python) or "opslint"
    help_text = subprocess.run([opslint, "check", "--help"], capture_output=True, text=True, check=False).stdout
    uncached = ("--no-cache",) if "--no-cache" in help_text else ()
    yield Command(OPSLINT, (opslint, "check", str(tree), *uncached))
    yield Command(FOUNDING, (opslint, "check", str(tree), "--select", ",".join(FOUNDING_RULES), *uncached))
    yield Command(PARSE, (python, "-c", PARSE_PROGRAM, file_list), good_statuses=(0,), prints_seconds=True)
    yield Command(VERSION, (opslint, "--version"), good_statuses=(0,))
    yield Command(IMPORT, (python, "-c", "import veomni_opslint"), good_statuses=(0,))
    yield Command(FLOOR, (python, "-c", "pass"), good_statuses=(0,))
    if ruff := _program("ruff", python):
        yield Command("ruff", (ruff, "check", "--isolated", "--no-cache", "--quiet", str(tree)))
    if flake8 := _program("flake8", python):
        yield Command("flake8", (flake8, "--isolated", "--extend-ignore", "OPS", str(tree)))
    if lint_imports := _program("lint-imports", python):
        argv = (lint_imports, "--config", import_linter_config, "--no-cache")
        yield Command("import-linter", argv, {"PYTHONPATH": str(tree.parent)})


def import_linter_config(package: str) -> str:
    """The text of a contract that makes import-linter build the whole import graph of *package*."""
    return (
        f"[importlinter]\nroot_package = {package}\n\n"
        "[importlinter:contract:ops]\nname = ops do not import trainers\ntype = forbidden\n"
        f"source_modules =\n    {package}.ops\nforbidden_modules =\n    {package}.trainer\n"
        "allow_indirect_imports = True\n"
    )


def bars(measured: dict[str, Sample]) -> list[Bar]:
    """The promises that can be judged from *measured*."""
    found = []
    for name, limit in ((OPSLINT, MAX_CPU_OVER_PARSE), (FOUNDING, MAX_FOUNDING_CPU_OVER_PARSE)):
        if name in measured and PARSE in measured:
            ratio = measured[name].cpu / measured[PARSE].inner
            found.append(Bar(f"CPU time of {name} over ast.parse", ratio, limit, "x"))
    if OPSLINT in measured:
        found.append(Bar("peak memory", measured[OPSLINT].memory, MAX_MEMORY_MIB, " MiB"))
    if VERSION in measured:
        found.append(Bar("CPU time of --version", measured[VERSION].cpu * 1000, MAX_VERSION_CPU_MS, " ms"))
    return found


def table(measured: dict[str, Sample]) -> str:
    """The measurements as aligned text, with ratios relative to opslint."""
    base = measured.get(OPSLINT)
    head: tuple[str, ...] = ("", "CPU s", "ratio", "wall s", "ratio", "peak MiB", "ratio")
    rows = [head]
    for name, sample in measured.items():
        cells = [name]
        for column, shape in (("cpu", "{:.3f}"), ("wall", "{:.3f}"), ("memory", "{:.0f}")):
            value = getattr(sample, column)
            cells += [shape.format(value), f"{value / getattr(base, column):.2f}" if base else "-"]
        rows.append(tuple(cells))
    widths = [max(len(row[index]) for row in rows) for index in range(len(head))]
    lines = []
    for row in rows:
        numbers = "  ".join(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append(f"{row[0].ljust(widths[0])}  {numbers}".rstrip())
    return "\n".join(lines)


def install_peers(folder: Path) -> str:
    """Make a virtual environment in *folder* with opslint and the ``bench`` extra; returns its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    project = Path(__file__).resolve().parent.parent
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", f"{project}[bench]"], check=True)
    return str(python)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and judge the bars."""
    parser = argparse.ArgumentParser(description="Measure opslint beside its peers on one tree.")
    parser.add_argument("tree", type=Path, metavar="TREE", help="the package folder to check, such as veomni/")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default=sys.executable, help="the Python that has opslint and its peers installed")
    parser.add_argument("--install", type=Path, metavar="DIR", help="first install opslint and its peers into DIR")
    parser.add_argument("--check", action="store_true", help="end with status 1 when a bar is missed")
    options = parser.parse_args(arguments)
    tree = options.tree.resolve()
    if not tree.is_dir():
        parser.error(f"no such folder: {options.tree}")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    files = python_files(tree)
    if not files:
        parser.error(f"no Python file under {options.tree}")
    python = install_peers(options.install) if options.install else options.python
    with tempfile.TemporaryDirectory() as scratch:
        file_list = Path(scratch, "files.json")
        file_list.write_text(json.dumps(files), encoding="utf-8")
        config = Path(scratch, "importlinter.ini")
        config.write_text(import_linter_config(tree.name), encoding="utf-8")
        commands = list(commands_for(tree, python, str(file_list), str(config)))
        measured, skipped = measure(commands, scratch, options.rounds)
    present = {command.name for command in commands}
    skipped += [f"{peer}: not installed" for peer in ("ruff", "flake8", "import-linter") if peer not in present]
    return _report(measured, skipped, len(files), options.rounds, check=options.check)


def _report(measured: dict[str, Sample], skipped: list[str], files: int, rounds: int, *, check: bool) -> int:
    print(f"{files} files, median of {rounds} interleaved runs, CPython {sys.version.split()[0]}\n")
    print(table(measured))
    if PARSE in measured:
        print(f"\nast.parse alone, without start-up and reading: {measured[PARSE].inner:.3f} s CPU")
    for reason in skipped:
        print(f"not measured: {reason}")
    judged = bars(measured)
    for bar in judged:
        verdict = "kept" if bar.kept else "MISSED"
        print(f"{verdict}: {bar.what} {bar.value:.2f}{bar.unit} (limit {bar.limit:g}{bar.unit})")
    if not check:
        return 0
    if len(judged) < 4:
        print("MISSED: opslint could not be measured")
        return 1
    return 0 if all(bar.kept for bar in judged) else 1


def _program(name: str, python: str) -> str | None:
    """The program installed beside *python*, else on the search path."""
    beside = Path(python).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


if __name__ == "__main__":
    raise SystemExit(main())
