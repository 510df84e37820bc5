"""The command line: ``python -m veomni.patchgen CONFIG`` or ``--all``, with ``--check`` or ``--diff``."""

from __future__ import annotations

import argparse
import difflib
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path

from .patch_spec import PatchConfig
from .replacements import PatchgenError

_MODELS = "veomni.models.transformers"
_SUFFIX = "_patch_gen_config"


def main(arguments: Sequence[str] | None = None) -> int:
    """Generate, compare or show; return 0, 1 if a file is stale, 2 if one cannot be generated."""
    parser = argparse.ArgumentParser(prog="python -m veomni.patchgen", description="Generate patched modeling files.")
    parser.add_argument("config", nargs="*", help="module of a patch config, such as that of `--all`")
    parser.add_argument("--all", action="store_true", help=f"every config under {_MODELS}")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is stale")
    mode.add_argument("--diff", action="store_true", help="write nothing; print how a file differs from its source")
    options = parser.parse_args(arguments)
    modules = [*options.config, *(find_configs(_MODELS) if options.all else ())]
    if not modules:
        parser.error("name a config or give --all")
    try:
        generated = [_generate(module) for module in modules]
    except PatchgenError as error:
        print(error, file=sys.stderr)
        return 2
    if options.diff:
        for path, text, source in generated:
            sys.stdout.writelines(_diff(source, text, path))
        return 0
    stale = [(path, text) for path, text, _ in generated if not path.is_file() or path.read_text("utf-8") != text]
    for path, text in stale:
        print(f"{path.name} is stale" if options.check else f"wrote {path.name}")
        if not options.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if not stale:
        number = len(generated)
        print(f"{number} generated file{'s are' if number != 1 else ' is'} up to date")
    return int(options.check and bool(stale))


def find_configs(package: str) -> list[str]:
    """The modules under *package* that are patch configs."""
    root = importlib.import_module(package)
    modules = pkgutil.walk_packages(root.__path__, f"{package}.")
    return sorted(module.name for module in modules if module.name.endswith(_SUFFIX))


def _generate(module: str) -> tuple[Path, str, str]:
    """Where the file of a config lies, its text, and the text of its source."""
    from .generator import generate, read_source

    try:
        imported = importlib.import_module(module)
    except ImportError as error:
        raise PatchgenError(f"the patch config {module} cannot be imported: {error}") from error
    config = getattr(imported, "config", None)
    if not isinstance(config, PatchConfig) or imported.__file__ is None:
        raise PatchgenError(f"{module} has no variable `config` that is a PatchConfig")
    path = Path(imported.__file__).parent / "generated" / config.target_file
    try:
        return path, generate(config, module), read_source(config.source_module)
    except PatchgenError as error:
        raise PatchgenError(f"{module}: {error}") from error


def _diff(source: str, text: str, path: Path) -> list[str]:
    return list(difflib.unified_diff(source.splitlines(True), text.splitlines(True), "source", path.name))


if __name__ == "__main__":
    sys.exit(main())
