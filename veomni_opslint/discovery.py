"""From the paths on the command line to a project: its root, the package under check, and the files that are read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from veomni_opslint.errors import NoPackageError, RunError, did_you_mean
from veomni_opslint.file_walk import Excludes, FoundFiles, is_python_script, walk_files
from veomni_opslint.package_search import enclosing_package, find_package
from veomni_opslint.settings import ROOT_MARKERS, Settings, load_settings, shown_path
from veomni_opslint.source import Source


class Project(NamedTuple):
    """What is analysed and what is reported.

    ``root`` is absolute; every other path is relative to it, with forward slashes. ``package`` is the import name of
    the package under check, ``package_path`` its folder (``veomni``, ``src/veomni``). ``files`` are all Python files
    that are analysed, sorted, ``yaml_files`` and ``documents`` the YAML and Markdown files beside them. ``requested``
    are the files and folders that findings are reported for, None for all. ``problems`` are files and folders that
    could not be read.
    ``passed_over`` are modules that exist and are not read: excluded files and folders, compiled modules, stubs.
    """

    root: str
    package: str
    package_path: str
    files: tuple[str, ...]
    requested: frozenset[str] | None = None
    problems: tuple[Source, ...] = ()
    passed_over: tuple[str, ...] = ()
    yaml_files: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    @property
    def reads_package_only(self) -> bool:
        """Whether the rest of the repository was left out, because no path outside the package was given."""
        return self.requested is not None and _package_only(self.requested, self.package_path)

    def reports(self, path: str) -> bool:
        """Whether findings at *path* are asked for."""
        if self.requested is None or path in self.requested:
            return True
        return any(parent in self.requested for parent in _parents(path))


def discover(
    paths: Sequence[str],
    *,
    root: str | None = None,
    config: str | None = None,
    stdin_path: str | None = None,
    settings: Settings | None = None,
) -> tuple[Project, Settings]:
    """Find the project that *paths* belong to, its settings and its files.

    *root* and *config*, or the *settings* themselves, override what would be found. *stdin_path* is a path whose
    content comes from standard input, so that it need not exist.

    Raises:
        RunError: a path does not exist, *stdin_path* can be no Python file, no Python file or no package to check is
            found, or the settings are wrong.
    """
    if stdin_path is not None:
        _require_place_for_module(stdin_path)
    requested = [_existing(path, may_be_missing=path == stdin_path) for path in paths]
    project_root, package_path, settings = _locate(requested, root, config, settings)
    relative = frozenset(_relative(path, project_root) for path in requested)
    found = _collect(project_root, package_path, relative, settings)
    if stdin_path is not None:
        found.files.add(_relative(os.path.abspath(stdin_path), project_root))
    files = tuple(sorted(found.files))
    whole = "" in relative
    project = Project(
        root=project_root,
        package=package_path.rpartition("/")[2],
        package_path=package_path,
        files=files,
        requested=None if whole else relative,
        problems=tuple(sorted(found.unreadable, key=lambda source: source.path)),
        passed_over=tuple(sorted(found.passed_over)),
        yaml_files=tuple(sorted(found.yaml_files)),
        documents=tuple(sorted(found.documents)),
    )
    _require_python_files(project, paths, settings)
    return project, settings


def find_root(path: str) -> str:
    """The root of the project that a file or folder belongs to.

    Raises:
        RunError: there is no package to check, or the settings are wrong.
    """
    return _locate([os.path.abspath(path)], None, None, None)[0]


def _existing(path: str, *, may_be_missing: bool) -> str:
    if not path:
        raise RunError("an empty path was given")
    full = os.path.abspath(path)
    if os.path.isdir(full) or os.path.isfile(full) or may_be_missing:
        return full
    if os.path.lexists(full):
        kind = "a broken symbolic link" if os.path.islink(full) else "neither a file nor a folder"
        raise RunError(f"{path}: {kind}")
    parent = os.path.dirname(full)
    if not os.path.isdir(parent):
        raise RunError(f"{path}: no such file or folder")
    try:
        siblings = os.listdir(parent)
    except OSError:
        siblings = []
    # That both end in `.py` makes no two names alike.
    name = os.path.basename(full)
    near = [one for one in siblings if did_you_mean(os.path.splitext(name)[0], [os.path.splitext(one)[0]])]
    hint = did_you_mean(name, near)
    raise RunError(f"{path}: no such file or folder{hint}")


def _require_place_for_module(stdin_path: str) -> None:
    """The content may be unsaved, but what it is can be told only from a name of Python in a folder that exists."""
    full = os.path.abspath(stdin_path)
    if os.path.isdir(full):
        raise RunError(f"--stdin-filename {stdin_path}: is a folder; give the name of the Python file")
    if not full.endswith(".py") and not is_python_script(full):
        raise RunError(f"--stdin-filename {stdin_path}: is not the name of a Python file: it does not end in `.py`")
    folder = os.path.dirname(full)
    if not os.path.isdir(folder):
        raise RunError(
            f"--stdin-filename {stdin_path}: there is no folder {shown_path(folder)}; "
            "the file itself need not exist, its folder has to"
        )


def _locate(
    requested: Sequence[str], root: str | None, config: str | None, given: Settings | None
) -> tuple[str, str, Settings]:
    """The nearest root that has a package to check; roots without one (a nested helper project) are passed over."""
    roots = [_given_root(root)] if root is not None else _candidate_roots(requested)
    for candidate in roots:
        settings = given or load_settings(candidate, config)
        outside = [path for path in requested if not _is_within(path, candidate)]
        if outside:
            raise RunError(f"{outside[0]}: is outside the project root {candidate}")
        package_path = find_package(candidate, requested, settings)
        if package_path is not None:
            return candidate, package_path, settings
    ops = (given or load_settings(roots[0], config)).dialect.ops_package
    raise NoPackageError(
        f"no package to check in {roots[0]}: looked for a Python package with a folder `{ops}/` in it; "
        "give its folder as PATH, or set `package` in [tool.opslint]"
    )


def _given_root(root: str) -> str:
    full = os.path.abspath(root)
    if not os.path.isdir(full):
        raise RunError(f"--root {root}: no such folder")
    return full


def _candidate_roots(requested: Sequence[str]) -> list[str]:
    try:
        common = os.path.commonpath(requested)
    except ValueError:
        raise RunError("the paths have no common folder, so they cannot belong to one project") from None
    start = common if os.path.isdir(common) else os.path.dirname(common)
    marked = []
    for folder in _ancestors(start):
        if any(os.path.lexists(os.path.join(folder, name)) for name in ROOT_MARKERS):
            marked.append(folder)
        if os.path.lexists(os.path.join(folder, ".git")):
            break
    return marked or [_unmarked_root(start)]


def _unmarked_root(start: str) -> str:
    """Without any marker, the folder that holds the package that was given, or else the folder that was given."""
    package = enclosing_package(start)
    return os.path.dirname(package) if package is not None else start


def _collect(root: str, package_path: str, requested: frozenset[str], settings: Settings) -> FoundFiles:
    excludes = Excludes(settings.exclude)
    package_only = _package_only(requested, package_path)
    starts = [package_path] if package_only else ["", package_path]
    found = walk_files(root, starts, package_path, excludes)
    scripts = {
        path
        for path in requested
        if path not in found.files and not excludes.match(path) and is_python_script(os.path.join(root, path))
    }
    # A run on the package alone is to be quick, and has no use for the configurations of jobs.
    yaml_files = set() if package_only else found.yaml_files
    return FoundFiles(found.files | scripts, found.unreadable, found.passed_over, yaml_files, found.documents)


def _package_only(requested: frozenset[str], package_path: str) -> bool:
    return all(_is_at_or_below(path, package_path) for path in requested)


def _require_python_files(project: Project, paths: Sequence[str], settings: Settings) -> None:
    if any(project.reports(path) for path in (*project.files, *project.yaml_files, *project.documents)):
        return
    shown = ", ".join(paths[:3]) + (", …" if len(paths) > 3 else "")
    for path in sorted(project.requested or ()):
        pattern = Excludes(settings.exclude).match(path)
        if pattern is not None:
            raise RunError(f"no Python file to check in {shown}: `exclude = [{pattern!r}]` leaves it out")
    for problem in project.problems:
        if problem.problem is not None and project.reports(problem.path):
            raise RunError(f"no Python file to check in {shown}: {problem.path or '.'}: {problem.problem.detail}")
    raise RunError(f"no Python file to check in {shown}")


def _relative(path: str, root: str) -> str:
    relative = os.path.relpath(path, root).replace(os.sep, "/")
    return "" if relative == "." else relative


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _is_at_or_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _ancestors(folder: str) -> Iterator[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _parents(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition("/")[0]
        yield path
