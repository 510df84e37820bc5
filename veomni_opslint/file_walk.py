"""Which Python, YAML and Markdown files a tree holds, and which folders of it are never read."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from veomni_opslint.source import Source, SourceProblem

_NEVER = frozenset({"__pycache__", "node_modules", "site-packages"})
# Legal names of packages, so only outside the package under check.
_NEVER_OUTSIDE_PACKAGE = frozenset({"build", "dist", "venv", "env"})
_YAML = (".yaml", ".yml")
_DOCUMENTS = (".md",)
_WORKFLOWS = ".github/workflows"
_OTHER_MODULES = (".so", ".pyd", ".pyi", ".pyx", ".pyc")


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files found, what could not be read, and modules that are not read, all relative to the root.

    ``files`` are Python files. ``passed_over``: excluded files and folders, compiled modules, stubs.
    """

    files: set[str] = field(default_factory=set)
    unreadable: set[Source] = field(default_factory=set)
    passed_over: set[str] = field(default_factory=set)
    yaml_files: set[str] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)


class Excludes:
    """Glob patterns of the settings: a pattern without a slash matches any path component, else it is anchored."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = [(pattern, re.compile(glob_to_regex(pattern))) for pattern in patterns]

    def match(self, path: str) -> str | None:
        """The first pattern that *path* or a folder above it matches."""
        for pattern, regex in self._patterns:
            if regex.match(path):
                return pattern
        return None


def glob_to_regex(pattern: str) -> str:
    """A regular expression for a path or any path below it.

    ``*`` stays within a folder and ``**`` does not; without a slash the pattern may match at any depth.
    """
    anchored = pattern.strip("/")
    prefix = "" if "/" in pattern.rstrip("/") else "(?:.*/)?"
    body = ""
    for part in re.split(r"(\*\*/|\*\*|\*|\?|\[[^]]+\])", anchored):
        if part == "**/":
            body += "(?:.*/)?"
        elif part == "**":
            body += ".*"
        elif part == "*":
            body += "[^/]*"
        elif part == "?":
            body += "[^/]"
        elif part.startswith("[") and part.endswith("]") and len(part) > 2:
            body += "[" + part[1:-1].replace("\\", r"\\").replace("!", "^", int(part[1] == "!")) + "]"
        else:
            body += re.escape(part)
    return f"{prefix}{body}(?:/.*)?\\Z"


def walk_files(root: str, starts: Sequence[str], package_path: str, excludes: Excludes) -> FoundFiles:
    """Every Python, YAML and Markdown file under *starts* that is not excluded.

    Hidden folders (but for the workflows of the repository), caches, virtual environments and (outside the package
    under check) build output are not read.
    A folder is read once, however many symbolic links lead to it: at its own place if that is under a start.
    """
    found = FoundFiles()
    seen: set[tuple[int, int]] = set()
    links: list[str] = []
    pending = list(reversed(starts))
    while pending or links:
        folder = pending.pop() if pending else links.pop(0)
        full = os.path.join(root, folder)
        try:
            status = os.stat(full)
            with os.scandir(full) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            found.unreadable.add(Source(folder, "", _folder_problem(error)))
            continue
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        if folder not in starts and any(entry.name == "pyvenv.cfg" for entry in entries):
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if excludes.match(path):
                found.passed_over.add(path)
                continue
            if _is_folder(entry):
                if path == _WORKFLOWS.partition("/")[0] and os.path.isdir(os.path.join(root, _WORKFLOWS)):
                    pending.append(_WORKFLOWS)
                if _is_skipped(path, entry.name, package_path):
                    continue
                if not entry.is_symlink():
                    pending.append(path)
                elif not _leads_upwards(entry.path, full):
                    links.append(path)
            else:
                _sort_in(entry, path, found)
    return found


def is_python_script(path: str) -> bool:
    """Whether *path* is a regular file that is Python by its suffix or its first line."""
    if not os.path.isfile(path):
        return False
    if path.endswith((".py", ".pyi")):
        return True
    try:
        with open(path, "rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first


def _sort_in(entry: os.DirEntry[str], path: str, found: FoundFiles) -> None:
    """Put what is no folder where its kind belongs."""
    for suffixes, paths in (((".py",), found.files), (_YAML, found.yaml_files), (_DOCUMENTS, found.documents)):
        if entry.name.endswith(suffixes) and _is_regular_or_broken(entry):
            paths.add(path)
            return
    if entry.name.endswith(_OTHER_MODULES):
        found.passed_over.add(path)


def _folder_problem(error: OSError) -> SourceProblem:
    if isinstance(error, PermissionError):
        return SourceProblem("permission", "permission denied, so the folder cannot be listed")
    return SourceProblem("io", error.strerror or str(error))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_regular_or_broken(entry: os.DirEntry[str]) -> bool:
    """A broken link is kept, so that it is reported; a pipe or a device is not, because reading it may never end."""
    try:
        return entry.is_file() or (entry.is_symlink() and not os.path.exists(entry.path))
    except OSError:
        return True


def _is_skipped(path: str, name: str, package_path: str) -> bool:
    if name.startswith(".") or name in _NEVER or name.endswith(".egg-info"):
        return True
    return name in _NEVER_OUTSIDE_PACKAGE and not path.startswith(f"{package_path}/")


def _leads_upwards(link: str, folder: str) -> bool:
    target = os.path.join(os.path.realpath(link), "")
    return os.path.join(os.path.realpath(folder), "").startswith(target)
