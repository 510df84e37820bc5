"""Does the time of opslint grow with the tree, or faster? ``python -m benchmarks.scaling REPOSITORY``.

Copies of the repository are made in which its models, tests, tasks, scripts, configurations and documents are there
once, twice, four times and so on, under other names. For each the table shows the CPU time of ``opslint check`` over
the whole copy beside that of ``ast.parse`` over the same files: where the time is linear, the ratio stays.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.compare import OPSLINT, PARSE, Command, Sample, commands_for, measure, python_files

_LEFT_OUT = (".git", ".venv", "build", "__pycache__")


def multiplied(repository: Path, models: str, target: Path, times: int) -> None:
    """Copy *repository* to *target* with *times* as many models and as many of the folders beside its package.

    *models* is the folder, relative to the repository, whose subfolders are models.
    """
    shutil.copytree(repository, target, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    for folder in list(_repeated(target, models)):
        for number in range(1, times):
            shutil.copytree(folder, folder.with_name(f"{folder.name}_copy{number}"))


def _repeated(root: Path, models: str) -> Iterator[Path]:
    package = models.partition("/")[0]
    for parent, passed_over in ((root, package), (root / models, "")):
        for folder in sorted(parent.iterdir()):
            if folder.is_dir() and folder.name != passed_over and not folder.name.startswith((".", "_")):
                yield folder


def row(times: int, files: int, measured: dict[str, Sample]) -> str:
    """One line of the table."""
    opslint, parse = measured[OPSLINT].cpu, measured[PARSE].inner
    memory = measured[OPSLINT].memory
    return f"{times:>5}  {files:>6}  {parse:>12.2f}  {opslint:>9.2f}  {opslint / parse:>5.2f}  {memory:>9.0f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description="Measure how the time of opslint grows with the tree.")
    parser.add_argument("repository", type=Path, metavar="REPOSITORY", help="a checkout, such as one of VeOmni")
    parser.add_argument("--models", default="veomni/models/transformers", metavar="FOLDER", help="where the models are")
    parser.add_argument("--times", type=int, nargs="+", default=[1, 2, 4], help="how many of each (default: 1 2 4)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    repository = options.repository.resolve()
    if not (repository / options.models).is_dir():
        parser.error(f"no such folder: {options.repository / options.models}; --models says where the models are")
    print("times   files  ast.parse, s  opslint, s  ratio  peak MiB")
    for times in options.times:
        with tempfile.TemporaryDirectory() as scratch:
            tree = Path(scratch, "tree")
            multiplied(repository, options.models, tree, times)
            files = python_files(tree)
            file_list = Path(scratch, "files.json")
            file_list.write_text(json.dumps(files), encoding="utf-8")
            commands: list[Command] = [
                command
                for command in commands_for(tree, sys.executable, str(file_list), "")
                if command.name in (OPSLINT, PARSE)
            ]
            measured, skipped = measure(commands, scratch, options.rounds)
        if skipped:
            print("\n".join(f"not measured: {reason}" for reason in skipped))
            return 1
        print(row(times, len(files), measured), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
