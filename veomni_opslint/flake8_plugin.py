"""The findings of a project among those of flake8: the ones in the file that flake8 is at."""

from __future__ import annotations

import argparse
import ast
import os
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from veomni_opslint import __version__

if TYPE_CHECKING:
    from veomni_opslint.findings import Finding
    from veomni_opslint.report import Report

_CODES = "OPS"
_ByPath: TypeAlias = Mapping[str, Sequence["Finding"]]
_Row: TypeAlias = tuple[int, int, str, type]


class Flake8Plugin:
    """What flake8 makes for each file; the project is checked once in a process, all files of it together."""

    name = "opslint"
    version = __version__
    wanted = True

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Learn whether any of the findings would be shown; without, the project need not be checked."""
        selected = (*(options.select or ()), *(options.extend_select or ()))
        ignored = (*(options.ignore or ()), *(options.extend_ignore or ()))
        named = any(code.startswith(_CODES) for code in selected)
        left_out = bool(options.select) and not any(map(_CODES.startswith, selected))
        cls.wanted = named or not (left_out or any(map(_CODES.startswith, ignored)))

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:  # noqa: ARG002 - it asks for trees
        # Here and not in `run`: flake8 reports what is raised here, and breaks down on what is raised there.
        self._findings = tuple(_findings(os.path.abspath(filename), "".join(lines))) if self.wanted else ()

    def run(self) -> Iterator[_Row]:
        """Line, column from 0, text and plugin of each finding."""
        for finding in self._findings:
            place = finding.place
            yield place.line, place.column - 1, f"{finding.code} {finding.name}: {finding.message}", type(self)


def _findings(path: str, text: str) -> Sequence[Finding]:
    root = _root(os.path.dirname(path))
    if root is None:
        return ()
    name = os.path.relpath(path, root).replace(os.sep, "/")
    if text == _on_disk(path):
        return _of_project(root).get(name, ())
    return _of_unsaved(root, path, text).get(name, ())


@cache
def _root(folder: str) -> str | None:
    """The root of the project that the files in *folder* belong to; None where there is no ops package."""
    from veomni_opslint.discovery import find_root  # noqa: PLC0415 - flake8 imports this module to name its version
    from veomni_opslint.errors import NoPackageError  # noqa: PLC0415

    try:
        return find_root(folder) if os.path.isdir(folder) else None
    except NoPackageError:
        return None


def _on_disk(path: str) -> str | None:
    """The file as flake8 reads it; None where it is none."""
    try:
        try:
            with tokenize.open(path) as file:
                text = file.read()
        except (SyntaxError, UnicodeError):
            with open(path, encoding="latin-1") as file:
                text = file.read()
    except OSError:
        return None
    return text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").removeprefix("\xef\xbb\xbf")


@cache
def _of_project(root: str) -> _ByPath:
    from veomni_opslint.check import Request, check  # noqa: PLC0415

    return _by_path(check(Request((root,), root=root)))


def _of_unsaved(root: str, path: str, text: str) -> _ByPath:
    """What is found when the file holds *text*, as in an editor that gives flake8 what is not saved yet."""
    if not path.endswith(".py"):
        return {}
    from veomni_opslint.check import Request, check  # noqa: PLC0415

    return _by_path(check(Request((root,), root=root, stdin_path=path, stdin=text.encode())))


def _by_path(report: Report) -> _ByPath:
    found: dict[str, list[Finding]] = {}
    for finding in report.findings:
        found.setdefault(finding.place.path, []).append(finding)
    return found
