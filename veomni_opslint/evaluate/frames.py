"""Modules under evaluation and the scopes that their code runs in."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal

from veomni_opslint.evaluate.cells import Attributes, Cell, Value
from veomni_opslint.evaluate.containers import ListValue
from veomni_opslint.evaluate.values import Class
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place


class Namespace(Attributes):
    """The names bound in one scope."""

    __slots__ = ()


class Frame:
    """One scope: of a module, a class body, a call, or a comprehension. ``parent`` is the enclosing scope."""

    __slots__ = (
        "annotations", "arguments", "cls", "global_names", "kind", "module", "names", "nonlocal_names", "parent",
        "prefix", "yields",
    )  # fmt: skip

    def __init__(
        self,
        module: Module,
        kind: Literal["module", "class", "function", "comprehension"],
        parent: Frame | None,
        prefix: str = "",
    ) -> None:
        self.module = module
        self.kind = kind
        self.parent = parent
        self.prefix = prefix
        self.names = Namespace()
        self.global_names: set[str] = set()
        self.nonlocal_names: set[str] = set()
        self.yields: ListValue | None = None
        self.cls: Class | None = None
        self.arguments: tuple[Value, ...] = ()
        self.annotations: list[tuple[str, ast.expr]] = []

    def function_frame(self) -> Frame:
        """The frame in which an assignment expression binds: this one, or the one around a comprehension."""
        frame = self
        while frame.kind == "comprehension" and frame.parent is not None:
            frame = frame.parent
        return frame


@dataclass(slots=True, eq=False)
class Module:
    """A project module: its facts, its names, and how far its code has run."""

    name: str
    facts: FileFacts
    is_package: bool
    frame: Frame = field(init=False)
    state: Literal["new", "running", "done"] = "new"
    lost: str = ""
    external_stars: list[str] = field(default_factory=list)
    born: tuple[int, int] = (0, 0)
    """The serials between which the cells were made that belong to the module, or to modules that it imports."""
    inner: list[tuple[int, int]] = field(default_factory=list)
    """The same of the modules that were run because it imports them."""
    _lines: list[str] | None = None

    def __post_init__(self) -> None:
        self.frame = Frame(self, "module", None)

    def owns(self, cell: Cell) -> bool:
        """Whether the cell was made by the code of this module."""
        if cell is self.frame.names:
            return True
        return cell.serial > self.born[0] and not any(start < cell.serial < end for start, end in self.inner)

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    def place(self, node: ast.AST) -> Place:
        """Where *node* is."""
        line, end_line = getattr(node, "lineno", 1), getattr(node, "end_lineno", None)
        column, end_column = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
        end_line = end_line or line
        return Place(
            self.facts.path,
            line,
            self._column(line, column),
            end_line,
            self._column(end_line, column if end_column is None else end_column),
        )

    def text(self, node: ast.AST) -> str:
        """The source of *node* on one line."""
        start, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        if not start or not end:
            return ""
        lines = self._source_lines()[start - 1 : end]
        if not lines:
            return ""
        first, last = self._column(start, node.col_offset) - 1, self._column(end, node.end_col_offset or 0) - 1  # type: ignore[attr-defined]
        lines[-1] = lines[-1][:last]
        lines[0] = lines[0][first:]
        return " ".join(" ".join(lines).split())

    def mentions(self, node: ast.AST, words: frozenset[str]) -> bool:
        """Whether the lines of *node* contain one of *words*."""
        start, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        text = "\n".join(self._source_lines()[start - 1 : end])
        return any(word in text for word in words)

    def _source_lines(self) -> list[str]:
        if self._lines is None:
            self._lines = self.facts.lines
        return self._lines

    def _column(self, line: int, offset: int) -> int:
        lines = self._source_lines()
        if not 0 < line <= len(lines) or lines[line - 1].isascii():
            return offset + 1
        return len(lines[line - 1].encode(errors="surrogatepass")[:offset].decode(errors="replace")) + 1
