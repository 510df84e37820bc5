"""Code that patch generation takes from strings: analysed like a file, with the positions of the real lines."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.placed_text import PlacedText, dedented
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.extract.string_positions import PlacedTextReader
from veomni_opslint.extract.walk import Walker
from veomni_opslint.facts import EmbeddedBlock, ParseProblem
from veomni_opslint.parsing import parse
from veomni_opslint.source import lines_of

Block = tuple[EmbeddedBlock, Walker | None, str]


def embedded_blocks(walker: Walker, text: str, tree: ast.Module, dialect: Dialect) -> tuple[Block, ...]:
    """The blocks given to the dialect's ``add_post_import_block``, each with the walk over its code and the code."""
    if not walker.block_calls:
        return ()
    lines = lines_of(text)
    # Which names are bound once takes a look at the whole file; most blocks are written where they are given.
    written = all(isinstance(_argument(call), ast.Constant) for call, _, _ in walker.block_calls)
    reader = PlacedTextReader(lines, {} if written else _assigned_once(tree))
    found: list[Block] = []
    for call, callee, _ in walker.block_calls:
        argument = _argument(call)
        value = reader.read(argument) if argument is not None else None
        if value is None:
            at = argument if argument is not None else call
            column = len(lines[at.lineno - 1].encode()[: at.col_offset].decode(errors="replace"))
            problem = ParseProblem(at.lineno, column, "the code is not a string that is known statically")
            found.append((EmbeddedBlock(span_of(call), callee, None, problem, known=False), None, ""))
        else:
            # As patch generation does it.
            found.append(_block(call, callee, dedented(value).stripped(), lines, dialect))
    return tuple(found)


def _argument(call: ast.Call) -> ast.expr | None:
    if call.args:
        return None if isinstance(call.args[0], ast.Starred) else call.args[0]
    return next((keyword.value for keyword in call.keywords if keyword.arg is not None), None)


def _assigned_once(tree: ast.Module) -> dict[str, ast.expr]:
    """Names that the file binds once, whatever the scope, and by an assignment."""
    times: Counter[str] = Counter()
    values: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        times.update(bound_by(node))
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    values[target.id] = node.value
    return {name: value for name, value in values.items() if times[name] == 1}


def bound_by(node: ast.AST) -> Iterator[str]:
    """The names that one node binds, without what is inside it."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
            yield name
        case ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
            yield name
        case ast.alias(name=name, asname=alias):
            yield alias or name.partition(".")[0]


def _block(call: ast.Call, callee: str, code: PlacedText, lines: list[str], dialect: Dialect) -> Block:
    real = _RealPositions(code, lines, call)
    try:
        tree = parse(code.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line, column = real.character(getattr(error, "lineno", None) or 1, (getattr(error, "offset", None) or 1) - 1)
        message = f"in the code of {callee}: {getattr(error, 'msg', None) or 'nested too deeply'}"
        return EmbeddedBlock(span_of(call), callee, None, ParseProblem(line, column, message)), None, ""
    for node in ast.walk(tree):
        real.move(node)
    return EmbeddedBlock(span_of(call), callee, None, None), Walker(tree, dialect), code.text


class _RealPositions:
    """From positions in a block of code to those in the file that holds it."""

    def __init__(self, code: PlacedText, lines: list[str], call: ast.Call) -> None:
        self._places = code.places
        self._lines = lines
        self._call = call
        self._code_lines = code.text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self._code_lines)]

    def character(self, line: int, column: int) -> tuple[int, int]:
        """Line and column, in characters, of a character of the code."""
        if not self._places:
            return self._call.lineno, 0
        index = self._starts[min(line, len(self._code_lines)) - 1] + column
        place = self._places[min(index, len(self._places) - 1)]
        return place.line, place.column

    def move(self, node: ast.AST) -> None:
        """Give a node of the code's tree its place in the file."""
        line = getattr(node, "lineno", None)
        if line is None:
            return
        last = len(self._places) - 1
        first = min(self._index(line, node.col_offset), last)  # type: ignore[attr-defined]
        behind = self._index(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        start, end = self._places[first], self._places[min(max(behind - 1, first), last)]
        node.lineno, node.col_offset = start.line, self._bytes(start.line, start.column)  # type: ignore[attr-defined]
        node.end_lineno = end.line  # type: ignore[attr-defined]
        node.end_col_offset = self._bytes(end.line, end.column + end.width)  # type: ignore[attr-defined]

    def _index(self, line: int, column: int) -> int:
        line = min(line, len(self._code_lines))
        written = self._code_lines[line - 1]
        if not written.isascii():
            column = len(written.encode()[:column].decode(errors="replace"))
        return self._starts[line - 1] + column

    def _bytes(self, line: int, column: int) -> int:
        written = self._lines[line - 1]
        return column if written.isascii() else len(written[:column].encode())
