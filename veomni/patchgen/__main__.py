"""The command line: ``python -m veomni.patchgen CONFIG`` or ``--all``, with ``--check`` or ``--diff``."""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from .errors import PatchgenError
from .patch_spec import PatchConfig

_MODELS = "veomni.models.transformers"
_SUFFIX = "_patch_gen_config"
_FOLDER = "generated"


class Generated(NamedTuple):
    """A file that a config describes, and the text of the source it is made from."""

    path: Path
    text: str
    source: str

    def is_stale(self) -> bool:
        """Whether the file on disk is missing, or differs by a single byte."""
        return not self.path.is_file() or self.path.read_bytes() != self.text.encode()


def main(arguments: Sequence[str] | None = None) -> int:
    """Generate, compare or show; return 0, 1 if a file is stale or nobody's, 2 if one cannot be generated."""
    parser = argparse.ArgumentParser(prog="python -m veomni.patchgen", description="Generate patched modeling files.")
    parser.add_argument("config", nargs="*", help="module of a patch config, such as that of `--all`")
    parser.add_argument("--all", action="store_true", help=f"every config under {_MODELS}")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is stale")
    mode.add_argument("--diff", action="store_true", help="write nothing; print how a file differs from its source")
    options = parser.parse_args(arguments)
    if not options.config and not options.all:
        parser.error("name a config or give --all")
    try:
        modules = dict.fromkeys([*options.config, *(find_configs(_MODELS) if options.all else ())])
        files = [_generate(module) for module in modules]
        _refuse_twice(files)
        orphans = find_orphans(_MODELS, [file.path for file in files]) if options.all else []
        if options.diff:
            sys.stdout.writelines(line for file in files for line in _diff(file))
            sys.stdout.flush()
            return 0
        return _check(files, orphans) if options.check else _write(files, orphans)
    except BrokenPipeError:
        # The reader has seen enough. Without this the interpreter complains when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (PatchgenError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


def find_configs(package: str) -> list[str]:
    """The modules under *package* that are patch configs; they are found and not imported."""
    root = _folder(package)
    paths = (path.relative_to(root).with_suffix("") for path in root.rglob(f"*{_SUFFIX}.py"))
    return sorted(".".join((package, *path.parts)) for path in paths)


def find_orphans(package: str, made: Iterable[Path]) -> list[Path]:
    """The files among the generated ones under *package* that are not *made* from any config."""
    kept = {path.resolve() for path in made}
    found = sorted(_folder(package).rglob(f"{_FOLDER}/*.py"))
    return [path for path in found if path.name != "__init__.py" and path.resolve() not in kept]


def _check(files: Sequence[Generated], orphans: Sequence[Path]) -> int:
    wrong = [f"{file.path.name} is stale" for file in files if file.is_stale()]
    return _report([*wrong, *map(_orphaned, orphans)], files, failing=True)


def _write(files: Sequence[Generated], orphans: Sequence[Path]) -> int:
    stale = [file for file in files if file.is_stale()]
    for file in stale:
        file.path.parent.mkdir(exist_ok=True)
        file.path.write_bytes(file.text.encode())
    return _report([*(f"wrote {file.path.name}" for file in stale), *map(_orphaned, orphans)], files, failing=False)


def _report(lines: Sequence[str], files: Sequence[Generated], *, failing: bool) -> int:
    for line in lines:
        print(line)
    if not lines:
        print(f"{len(files)} generated file{'s are' if len(files) != 1 else ' is'} up to date")
    return int(failing and bool(lines))


def _orphaned(path: Path) -> str:
    return f"{path.name} is made from no patch config; delete it"


def _generate(module: str) -> Generated:
    from .generator import generate
    from .source_module import read_source

    config, folder = _load(module)
    try:
        return Generated(folder / config.target_file, generate(config, module), read_source(config.source_module))
    except PatchgenError as error:
        raise PatchgenError(f"{module}: {error}") from error


def _load(module: str) -> tuple[PatchConfig, Path]:
    """The patch config of *module*, and the folder of what is generated from it."""
    try:
        imported = importlib.import_module(module)
    except Exception as error:  # a config is a program, and may raise anything
        stem = module.rpartition(".")[2]
        lines = [x.lineno for x in traceback.extract_tb(error.__traceback__) if Path(x.filename).stem == stem]
        where = f" (in line {lines[-1]})" if lines else ""
        message = f"the patch config {module} cannot be imported{where}: {type(error).__name__}: {error}"
        raise PatchgenError(message) from error
    config = getattr(imported, "config", None)
    if not isinstance(config, PatchConfig) or imported.__file__ is None:
        raise PatchgenError(f"{module} has no variable `config` that is a PatchConfig")
    if Path(config.target_file).name != config.target_file:
        raise PatchgenError(f"{module}: target_file={config.target_file!r} must be a name, without a folder")
    return config, Path(imported.__file__).parent / _FOLDER


def _refuse_twice(files: Iterable[Generated]) -> None:
    paths = [file.path for file in files]
    for path in paths:
        if paths.count(path) > 1:
            raise PatchgenError(f"two patch configs have the target_file {path.name}; the second would overwrite it")


def _folder(package: str) -> Path:
    return Path(next(iter(importlib.import_module(package).__path__)))


def _diff(file: Generated) -> list[str]:
    source, text = file.source.splitlines(keepends=True), file.text.splitlines(keepends=True)
    return list(difflib.unified_diff(source, text, "source", file.path.name))


if __name__ == "__main__":
    sys.exit(main())
