"""A file as libcst sees it, for edits that need to know where statements begin and end and what belongs to them."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from veomni_opslint.proposals import Edit, NotPossibleError, offset

_Import = cst.Import | cst.ImportFrom
_AT_TOP = re.compile(r"noqa:.*(?:E402|F401)|opslint:")
"""Comments that make no sense any more once the import is moved."""
_NONE = cst.MaybeSentinel.DEFAULT
_Block = Sequence[cst.BaseStatement | cst.BaseSmallStatement]


class Code:
    """The text of a file and its tree."""

    def __init__(self, text: str, package: str = "") -> None:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self.text = text
        self.module = wrapper.module
        self._package = package
        self._positions = wrapper.resolve(PositionProvider)
        self._at = {
            (type(node), place.start.line, place.start.column): node
            for node, place in self._positions.items()
            if isinstance(node, cst.SimpleStatementLine | cst.FunctionDef | _Import | cst.If | cst.For)
        }

    def function(self, line: int, column: int) -> cst.FunctionDef | None:
        """The function whose ``def`` (or ``async``) begins there."""
        found = self._at.get((cst.FunctionDef, line, column))
        return found if isinstance(found, cst.FunctionDef) else None

    def import_at(self, line: int, column: int) -> tuple[cst.SimpleStatementLine, _Import] | None:
        """The import that begins there, and the line that it is in."""
        for kind in (cst.Import, cst.ImportFrom):
            small = self._at.get((kind, line, column))
            for node in self._at.values() if small is not None else ():
                if isinstance(node, cst.SimpleStatementLine) and any(one is small for one in node.body):
                    return node, small  # type: ignore[return-value]
        return None

    def written(self, node: cst.CSTNode) -> str:
        """The code of a node."""
        return self.module.code_for_node(node)

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where a node begins and ends, without comments and blank lines around it."""
        place = self._place(node)
        return offset(self.text, place.start.line, place.start.column), offset(
            self.text, place.end.line, place.end.column
        )

    def without(
        self, line: cst.SimpleStatementLine, small: _Import, alias: int | None, names: Collection[str] | None = None
    ) -> Edit:
        """Take an import, one name of an ``import a, b``, or some *names* of a ``from`` import out of its line."""
        if isinstance(small, cst.ImportFrom) and not isinstance(small.names, cst.ImportStar) and names is not None:
            others = [one for one in small.names if (one.evaluated_alias or one.evaluated_name) not in names]
            if others:
                if small.lpar is None or others[-1] is not small.names[-1]:
                    others[-1] = others[-1].with_changes(comma=small.names[-1].comma)
                return Edit(*self.span(small), self.written(small.with_changes(names=others, semicolon=_NONE)))
        if alias is not None and isinstance(small, cst.Import) and len(small.names) > 1:
            kept = [one for index, one in enumerate(small.names) if index != alias]
            kept[-1] = kept[-1].with_changes(comma=_NONE)
            return Edit(*self.span(small), self.written(small.with_changes(names=kept, semicolon=_NONE)))
        rest = [one for one in line.body if one is not small]
        if rest:
            rest[-1] = rest[-1].with_changes(semicolon=_NONE)
            return Edit(*self.span(line), "; ".join(self.written(one).rstrip("; ") for one in rest))
        return self._without_lines(line)

    def statement_of(
        self,
        line: cst.SimpleStatementLine,
        small: _Import,
        alias: int | None,
        names: Collection[str] | None = None,
        *,
        every_comment: bool = False,
    ) -> str:
        """An import, or one name of it, or some, as a statement of its own, with the comment behind it.

        Unless *every_comment*, one that only makes sense at the top of a module is dropped.
        """
        if isinstance(small, cst.Import) and alias is not None:
            small = small.with_changes(names=[small.names[alias].with_changes(comma=_NONE)])
        if isinstance(small, cst.ImportFrom) and not isinstance(small.names, cst.ImportStar) and names is not None:
            kept = [one for one in small.names if (one.evaluated_alias or one.evaluated_name) in names]
            if len(kept) < len(small.names):
                kept = [one.with_changes(comma=_NONE) for one in kept]
                small = small.with_changes(names=kept, lpar=None, rpar=None)
        text = self.written(small.with_changes(semicolon=_NONE))
        comment = line.trailing_whitespace.comment
        if comment is None or len(line.body) > 1 or alias is not None:
            return text
        if _AT_TOP.search(comment.value) and not every_comment:
            return text
        return f"{text}  {comment.value}"

    def into_function(self, function: cst.FunctionDef, statement: str) -> Edit:
        """Put an import at the beginning of a function, below its docstring and among the imports that are there."""
        body = function.body
        start, end = self.span(body)
        if not isinstance(body, cst.IndentedBlock):
            colon = self.text.rindex(":", 0, start) + 1
            margin = self._margin(function) + self.module.default_indent
            return Edit(colon, end, f"\n{_indented(statement, margin)}\n\n{margin}{self.text[start:end].strip()}")
        return self._into(body.body, statement)

    def at_top(self, statement: str, *, before: int = 0) -> Edit:
        """Put an import among those at the top of the module, or its names into the one from the same module.

        The latter may also stand further below, if that is *before* what needs the names.
        """
        start, _, name = statement.partition(" import ")
        further = (one for one in self.module.body if self.span(one)[1] < before)
        for line in (*_imports(_behind_docstring(self.module.body)), *further):
            small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
            if isinstance(small, cst.ImportFrom) and small.lpar is None and self.written(small).startswith(f"{start} "):
                written = self.written(small.with_changes(semicolon=_NONE)).partition(" import ")[2]
                names = sorted({one.strip() for one in f"{written},{name}".split(",")}, key=_name_order)
                return Edit(*self.span(small), f"{start} import {', '.join(names)}")
        return self._into(self.module.body, statement)

    def behind_imports(self, line: int) -> int | None:
        """Where the block of imports at the top of the module ends, if the one of *line* belongs to it."""
        run = _imports(_behind_docstring(self.module.body))
        if not run or not self._place(run[0]).start.line <= line <= self._place(run[-1]).end.line:
            return None
        return self._below(run[-1])

    def ends_imports(self, line: cst.SimpleStatementLine) -> bool:
        """Whether the block of imports at the top ends with this one."""
        return _imports(_behind_docstring(self.module.body))[-1:] == [line]

    def below(self, line: cst.SimpleStatementLine) -> tuple[int, int]:
        """Where the next line begins, twice, as an edit wants it."""
        return (self._below(line),) * 2

    def above(self, line: int) -> int:
        """Where the top-level statement that *line* is in begins, with the comments directly above it."""
        for node in self.module.body:
            place = self._place(node)
            if place.start.line <= line <= place.end.line:
                return self._above(node)
        return 0

    def _into(self, block: _Block, statement: str) -> Edit:
        rest = _behind_docstring(block)
        if rest is not block and block is not self.module.body and len(getattr(block[0], "body", ())) > 1:
            raise NotPossibleError("the line of the docstring holds another statement, too")
        run = _imports(rest)
        key = _order(cst.parse_statement(statement), self._package)
        for node in run:
            other = _order(node, self._package)
            if other > key:
                at = self._above(node)
                return Edit(at, at, f"{self._lines(statement, node)}\n" + "\n" * (other[0] != key[0]))
        if run:
            at = self._below(run[-1])
            gap = "\n" * (_order(run[-1], self._package)[0] != key[0])
            return Edit(at, at, f"{gap}{self._lines(statement, run[-1])}\n")
        if rest and rest is not block and block is not self.module.body:
            at = self._below(block[0])
            gap = "\n" * bool(self.text[at : self.text.find("\n", at)].strip())
            return Edit(at, at, f"{self._lines(statement, rest[0])}\n{gap}")
        if rest:
            at = self._above(rest[0])
            return Edit(at, at, f"{self._lines(statement, rest[0])}\n\n")
        at = self._below(block[-1])
        return Edit(at, at, f"\n{self._lines(statement, block[-1])}\n")

    def _lines(self, statement: str, beside: cst.CSTNode) -> str:
        return _indented(statement, self._margin(beside))

    def _margin(self, node: cst.CSTNode) -> str:
        place = self._first(node)
        start = offset(self.text, place[0], 0)
        line = self.text[start : start + place[1]]
        return line[: len(line) - len(line.lstrip())]

    def _first(self, node: cst.CSTNode) -> tuple[int, int]:
        """Line and column of a statement, with its decorators."""
        decorators = getattr(node, "decorators", ())
        place = self._place(decorators[0] if decorators else node)
        return place.start.line, place.start.column

    def _above(self, node: cst.CSTNode) -> int:
        line, _ = self._first(node)
        lines = self.text.split("\n")
        while line > 1 and lines[line - 2].lstrip().startswith("#"):
            line -= 1
        return offset(self.text, line, 0)

    def _below(self, node: cst.CSTNode) -> int:
        end = self.text.find("\n", self.span(node)[1])
        return len(self.text) if end < 0 else end + 1

    def _without_lines(self, node: cst.CSTNode) -> Edit:
        """Whole lines; of the blank lines above and below, as many stay as there were on the side with more."""
        place = self._place(node)
        lines = self.text.split("\n")
        first, last = place.start.line - 1, place.end.line
        above = next((count for count in range(first + 1) if count == first or lines[first - count - 1].strip()), 0)
        below = next((count for count in range(len(lines) - last) if lines[last + count].strip()), len(lines) - last)
        surplus = below if first == above else min(above, below)
        start = offset(self.text, first + 1, 0)
        end = len(self.text) if last + surplus >= len(lines) else offset(self.text, last + surplus + 1, 0)
        return Edit(start, end, "")

    def _place(self, node: cst.CSTNode) -> CodeRange:
        place = self._positions[node]
        if not isinstance(place, CodeRange):
            raise TypeError(f"no position of {type(node).__name__}")
        return place


@lru_cache(maxsize=8)
def code_of(text: str, package: str = "") -> Code:
    """The tree of *text*; *package* is the name of the package under check, whose modules are imported last.

    Raises:
        NotPossibleError: libcst cannot read it.
    """
    try:
        return Code(text, package)
    except (cst.ParserSyntaxError, RecursionError) as error:
        raise NotPossibleError(f"libcst cannot read the file: {type(error).__name__}") from error


def _indented(statement: str, margin: str) -> str:
    return "\n".join(margin + line for line in statement.split("\n"))


def _behind_docstring(block: _Block) -> _Block:
    first = block[0] if block else None
    small = first.body[0] if isinstance(first, cst.SimpleStatementLine) else None
    is_docstring = isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString | cst.ConcatenatedString)
    return block[1:] if is_docstring else block


def _imports(block: Iterable[cst.CSTNode]) -> list[cst.SimpleStatementLine]:
    """The imports that a block begins with."""
    run: list[cst.SimpleStatementLine] = []
    for node in block:
        if not isinstance(node, cst.SimpleStatementLine) or not all(isinstance(one, _Import) for one in node.body):
            break
        run.append(node)
    return run


def _name_order(name: str) -> tuple[bool, bool, str]:
    """Constants first, then classes, then the rest, as isort has them."""
    return not name.isupper(), not name[:1].isupper(), name


def _order(node: cst.CSTNode, package: str) -> tuple[int, int, int, str]:
    """What isort sorts imports by: section, kind, dots, name."""
    small = node.body[0] if isinstance(node, cst.SimpleStatementLine) else node
    if isinstance(small, cst.ImportFrom):
        name = cst.Module([]).code_for_node(small.module) if small.module is not None else ""
        dots = len(small.relative)
        return (4, 1, -dots, name.lower()) if dots else (_section(name, package), 1, 0, name.lower())
    name = cst.Module([]).code_for_node(small.names[0].name) if isinstance(small, cst.Import) else ""
    return _section(name, package), 0, 0, name.lower()


def _section(name: str, package: str) -> int:
    root = name.partition(".")[0]
    if root == "__future__":
        return 0
    if root in sys.stdlib_module_names:
        return 1
    return 3 if root == package else 2
