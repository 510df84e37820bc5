"""Edits of a tree by text search, with the expected findings written as comments into the edited text.

A line of new text may end with a mark such as ``# OPS301``: the mark is taken out and that finding is expected on that
line. ``OPS301~`` allows the whole statement that holds the line, ``OPS301?`` allows the finding without demanding it,
and ``OPS301:x`` demands one finding of all the places that share the label ``x``. Commas separate several marks.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

MARK = re.compile(r"[ \t]*# (OPS\d{3}[~?]*(?::\w+)?(?:, OPS\d{3}[~?]*(?::\w+)?)*)$")
ONE_MARK = re.compile(r"(?P<code>OPS\d{3})(?P<flags>[~?]*)(?::(?P<label>\w+))?")


@dataclass(frozen=True, slots=True)
class Expected:
    """A finding that an edit must, or may, cause; the lines from ``first`` to ``last`` are right for it."""

    code: str
    path: str
    first: int
    last: int
    optional: bool = False
    label: str = ""


class PlantError(Exception):
    """An edit does not fit the tree: the text that it looks for is not there, or not unique."""


class Draft:
    """A tree under edit: texts by path, None for a deleted file, and the findings that must disappear.

    ``broken`` files need not be Python, ``raw`` ones need not be text; what these cause is in ``expected``.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.texts: dict[str, str | None] = {}
        self.broken: set[str] = set()
        self.raw: dict[str, bytes] = {}
        self.expected: list[Expected] = []
        self.gone: set[tuple[str, str]] = set()

    def read(self, path: str) -> str:
        """The text of *path* as edited so far.

        Raises:
            PlantError: there is no such file.
        """
        if path not in self.texts:
            try:
                return (self.root / path).read_text(encoding="utf-8")
            except FileNotFoundError:
                raise PlantError(f"{path}: no such file") from None
        text = self.texts[path]
        if text is None:
            raise PlantError(f"{path}: deleted before")
        return text

    def finish(self) -> tuple[dict[str, bytes | None], list[Expected]]:
        """The edited files without their marks, and what the marks expect; ``~`` has a meaning only in Python.

        Raises:
            SyntaxError: an edit left a file that is no Python.
        """
        files: dict[str, bytes | None] = dict(self.raw)
        expected = list(self.expected)
        for path, text in self.texts.items():
            if text is None:
                files[path] = None
                continue
            plain, marks = _without_marks(text)
            if path.endswith(".py") and path not in self.broken:
                ast.parse(plain, path)
            files[path] = plain.encode()
            for line, mark in marks:
                expected += _expectations(path, plain, line, mark)
        return files, expected


Edit: TypeAlias = Callable[[Draft], None]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One planted fault, or a harmless change where no edit has a mark."""

    rule: str
    name: str
    edits: tuple[Edit, ...]

    @property
    def id(self) -> str:
        return f"{self.rule}/{self.name.replace(' ', '-')}"


def plant(rule: str, name: str, *edits: Edit) -> Mutation:
    """A fault of *rule*, or of its near misses, made by *edits* in turn."""
    return Mutation(rule, name, edits)


def swap(path: str, old: str, new: str, nth: int | None = None) -> Edit:
    """Replace *old*, which must occur once; or its *nth* occurrence, counted from 0."""

    def edit(draft: Draft) -> None:
        text = draft.read(path)
        start = _position(path, text, old, nth)
        draft.texts[path] = text[:start] + new + text[start + len(old) :]

    return edit


def swap_all(path: str, old: str, new: str) -> Edit:
    """Replace every *old*, which must occur."""

    def edit(draft: Draft) -> None:
        text = draft.read(path)
        _position(path, text, old, 0)
        draft.texts[path] = text.replace(old, new)

    return edit


def drop(path: str, anchor: str, nth: int | None = None) -> Edit:
    """Remove the line that holds *anchor*."""

    def edit(draft: Draft) -> None:
        text = draft.read(path)
        start = _position(path, text, anchor, nth)
        first, end = text.rfind("\n", 0, start) + 1, text.find("\n", start + len(anchor)) + 1
        draft.texts[path] = text[:first] + text[end or len(text) :]

    return edit


def after(path: str, anchor: str, new: str, indent: int = 0, nth: int | None = None) -> Edit:
    """Insert lines after the line that holds *anchor*."""

    def edit(draft: Draft) -> None:
        text = draft.read(path)
        start = _position(path, text, anchor, nth)
        end = text.find("\n", start + len(anchor)) + 1 or len(text)
        draft.texts[path] = text[:end] + _block(new, indent) + text[end:]

    return edit


def before(path: str, anchor: str, new: str, indent: int = 0, nth: int | None = None) -> Edit:
    """Insert lines before the line that holds *anchor*."""

    def edit(draft: Draft) -> None:
        text = draft.read(path)
        start = text.rfind("\n", 0, _position(path, text, anchor, nth)) + 1
        draft.texts[path] = text[:start] + _block(new, indent) + text[start:]

    return edit


def append(path: str, new: str) -> Edit:
    """Add lines at the end of a file."""

    def edit(draft: Draft) -> None:
        text = draft.read(path)
        draft.texts[path] = text.rstrip("\n") + "\n\n\n" + _block(new, 0)

    return edit


def create(path: str, new: str) -> Edit:
    """Write a file that is not there yet."""

    def edit(draft: Draft) -> None:
        if draft.texts.get(path) is not None or (path not in draft.texts and (draft.root / path).exists()):
            raise PlantError(f"{path}: there already")
        draft.texts[path] = _block(new, 0)

    return edit


def delete(path: str) -> Edit:
    """Remove a file."""

    def edit(draft: Draft) -> None:
        draft.read(path)
        draft.texts[path] = None

    return edit


def broken(path: str) -> Edit:
    """Say that the edits leave a file that is no Python."""

    def edit(draft: Draft) -> None:
        draft.broken.add(path)

    return edit


def raw(path: str, data: bytes, code: str = "", line: int = 1) -> Edit:
    """Write *data* as it is, and expect the finding of *code* at *line*."""

    def edit(draft: Draft) -> None:
        draft.raw[path] = data
        if code:
            draft.expected.append(Expected(code, path, line, line))

    return edit


def mark(path: str, anchor: str, marks: str, nth: int | None = None) -> Edit:
    """Expect *marks* on the line that holds *anchor*, which stays as it is."""

    def edit(draft: Draft) -> None:
        text = draft.read(path)
        start = _position(path, text, anchor, nth)
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        draft.texts[path] = f"{text[:end]}  # {marks}{text[end:]}"

    return edit


def mark_all(folder: str, pattern: str, marks: str) -> Edit:
    """Expect *marks* on every line below *folder* in which the regular expression *pattern* is found."""

    def edit(draft: Draft) -> None:
        wanted = re.compile(pattern)
        found = [draft.root / folder] if folder.endswith(".py") else (draft.root / folder).rglob("*.py")
        paths = {str(path.relative_to(draft.root)) for path in found}
        hits = 0
        for path in sorted(paths | set(draft.texts)):
            if not path.startswith(folder) or draft.texts.get(path, "") is None:
                continue
            lines = draft.read(path).split("\n")
            marked = [f"{line}  # {marks}" if wanted.search(line) and not MARK.search(line) else line for line in lines]
            if marked != lines:
                hits += 1
                draft.texts[path] = "\n".join(marked)
        if not hits:
            raise PlantError(f"{folder}: nothing matches {pattern!r}")

    return edit


def gone(code: str, path: str) -> Edit:
    """Allow that findings of *code* disappear from *path*, because the edit removes their cause."""

    def edit(draft: Draft) -> None:
        draft.gone.add((code, path))

    return edit


def _position(path: str, text: str, wanted: str, nth: int | None) -> int:
    found = [match.start() for match in re.finditer(re.escape(wanted), text)]
    if nth is None and len(found) != 1:
        raise PlantError(f"{path}: {wanted!r} occurs {len(found)} times")
    if nth is not None and nth >= len(found):
        raise PlantError(f"{path}: {wanted!r} occurs only {len(found)} times")
    return found[nth or 0]


def _block(new: str, indent: int) -> str:
    return textwrap.indent(textwrap.dedent(new).strip("\n"), " " * indent) + "\n"


def _without_marks(text: str) -> tuple[str, list[tuple[int, str]]]:
    marks = []
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        found = MARK.search(line)
        if found:
            lines[number - 1] = line[: found.start()]
            marks.append((number, found[1]))
    return "\n".join(lines), marks


def _expectations(path: str, text: str, line: int, marks: str) -> Iterable[Expected]:
    for part in marks.split(", "):
        match = ONE_MARK.fullmatch(part)
        if match is None:
            raise PlantError(f"{path}:{line}: {part!r} is no mark")
        flags = match["flags"]
        first, last = _statement_lines(text, line) if "~" in flags else (line, line)
        yield Expected(match["code"], path, first, last, "?" in flags, match["label"] or "")


def _statement_lines(text: str, line: int) -> tuple[int, int]:
    """The lines of the smallest statement that holds *line*; of a compound one only its head."""
    best = (line, line)
    size = -1
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.stmt):
            continue
        end = node.end_lineno or node.lineno
        body = getattr(node, "body", None)
        if body:
            end = max(node.lineno, body[0].lineno - 1)
        if node.lineno <= line <= end and (size < 0 or end - node.lineno < size):
            best, size = (node.lineno, end), end - node.lineno
    return best
