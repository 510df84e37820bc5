"""Finding the package under check: the one that holds the ops package of the dialect, whatever it is called."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from veomni_opslint.dialect import Dialect
from veomni_opslint.errors import NoPackageError, RunError, did_you_mean
from veomni_opslint.settings import Settings

# They mirror the layout of the package that they serve, so they look like one.
_NOT_THE_PACKAGE = frozenset(
    {"tests", "test", "testing", "docs", "doc", "examples", "scripts", "tasks", "tools", "benchmarks", "build", "dist"}
)
_WELL_ALIKE = 3


def find_package(root: str, requested: Sequence[str], settings: Settings) -> str | None:
    """The folder of the package under check, relative to *root*; None when there is none.

    Looked for in this order: the setting ``package``; the requested paths and the folders above them; the folders
    directly in a requested folder or in its ``src/``; those of the root, of its ``src/``, of its other folders.

    Raises:
        RunError: the setting names no folder with an ops package, or several folders are equally likely.
    """
    if settings.package is not None:
        return _configured(root, settings.package, settings)
    for minimum, group in _candidate_groups(root, requested):
        scored = [(_likeness(folder, settings.dialect), folder) for folder in dict.fromkeys(group)]
        best = max((score for score, _ in scored), default=0)
        if best < minimum:
            continue
        likely = _outermost([folder for score, folder in scored if score == best])
        if len(likely) > 1:
            names = ", ".join(sorted(_relative(folder, root) for folder in likely))
            raise RunError(
                f"more than one folder could be the package to check: {names}; "
                "give one as PATH, or set `package` in [tool.opslint]"
            )
        return _relative(likely[0], root)
    return None


def enclosing_package(start: str) -> str | None:
    """The package under check that *start* lies in, for a tree without any marker of its root."""
    outermost = None
    folder = start
    while True:
        is_package = os.path.isfile(os.path.join(folder, "__init__.py"))
        if (is_package or folder == start) and _likeness(folder, Dialect()):
            return folder
        if is_package:
            outermost = folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return outermost
        folder = parent


def _configured(root: str, package: str, settings: Settings) -> str:
    name = package.strip("/")
    dotted = name.replace(".", "/")
    folders = [folder for folder in (name, dotted, f"src/{dotted}") if os.path.isdir(os.path.join(root, folder))]
    for folder in folders:
        if _holds_python(_ops_folder(os.path.join(root, folder), settings.dialect)):
            return folder
    if folders:
        ops = settings.dialect.ops_package
        raise NoPackageError(
            f"{settings.describe()}: `package = {package!r}`: {folders[0]} has no folder `{ops}/` with Python in it; "
            "set `package` to the folder that has one, or `ops_package` under `dialect` to what it is called there"
        )
    hint = did_you_mean(name, (os.path.basename(folder) for folder in _children(root)))
    raise NoPackageError(f"{settings.describe()}: `package = {package!r}`: no such folder in {root}{hint}")


def _candidate_groups(root: str, requested: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Folders to choose from, with the likeness that one of them must have at least."""
    yield 1, [folder for path in requested for folder in _up_to(path, root)]
    for path in requested:
        # A folder of tests holds folders like `models/ops`, so below a requested folder more evidence is asked for.
        yield _WELL_ALIKE, [*_children(path), *_children(os.path.join(path, "src"))]
    yield 1, _children(root)
    yield 1, _children(os.path.join(root, "src"))
    yield 1, [grandchild for child in _children(root) for grandchild in _children(child)]


def _outermost(folders: Sequence[str]) -> list[str]:
    return [folder for folder in folders if not any(folder.startswith(other + os.sep) for other in folders)]


def _likeness(folder: str, dialect: Dialect) -> int:
    """How much a folder looks like the package under check; 0 for not at all."""
    name = os.path.basename(folder)
    ops = _ops_folder(folder, dialect)
    if name in _NOT_THE_PACKAGE or not name.isidentifier() or not _holds_python(ops):
        return 0
    score = 1
    for evidence in (
        os.path.join(folder, "__init__.py"),
        os.path.join(ops, "__init__.py"),
        os.path.join(folder, dialect.models_package.replace(".", "/")),
    ):
        score += os.path.exists(evidence)
    return score


def _ops_folder(folder: str, dialect: Dialect) -> str:
    return os.path.join(folder, *dialect.ops_package.replace(".", "/").split("/"))


def _holds_python(folder: str) -> bool:
    """Whether a folder holds Python itself or, as a namespace package would, in a folder of its own."""
    try:
        with os.scandir(folder) as scan:
            entries = list(scan)
        if any(entry.name.endswith(".py") for entry in entries):
            return True
        return any(
            entry.is_dir() and os.path.isfile(os.path.join(entry.path, "__init__.py"))
            for entry in entries
            if not entry.name.startswith(".")
        )
    except OSError:
        return False


def _children(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as scan:
            return sorted(entry.path for entry in scan if not entry.name.startswith(".") and entry.is_dir())
    except OSError:
        return []


def _up_to(path: str, root: str) -> Iterator[str]:
    while len(path) > len(root):
        yield path
        path = os.path.dirname(path)


def _relative(path: str, root: str) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")
