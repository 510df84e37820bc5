"""Code that patch generation takes from strings: analysed like a file, with the positions of the real lines."""

from __future__ import annotations

import ast

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.extract.string_positions import PlacedText, dedented, placed_text
from veomni_opslint.extract.walk import Walker
from veomni_opslint.facts import EmbeddedBlock, ParseProblem
from veomni_opslint.parsing import parse


def embedded_blocks(
    walker: Walker, text: str, tree: ast.Module, dialect: Dialect
) -> tuple[tuple[EmbeddedBlock, Walker | None, PlacedText | None], ...]:
    """The blocks given to the dialect's ``add_post_import_block``, each with the walk over its code."""
    if not walker.block_calls:
        return ()
    lines = text.split("\n")
    assigned: dict[str, ast.expr] = {}
    found: list[tuple[EmbeddedBlock, Walker | None, PlacedText | None]] = []
    for call, callee, _ in walker.block_calls:
        argument = _argument(call)
        if not assigned and not isinstance(argument, ast.Constant):
            assigned = _assigned_once(tree)
        value = placed_text(argument, lines, assigned) if argument is not None else None
        if value is None:
            at = argument if argument is not None else call
            problem = ParseProblem(at.lineno, at.col_offset, "the code is not a string that is known statically")
            found.append((EmbeddedBlock(span_of(call), callee, None, problem), None, None))
            continue
        code = dedented(value)
        found.append(_block(call, callee, code, lines, dialect))
    return tuple(found)


def _argument(call: ast.Call) -> ast.expr | None:
    if call.args:
        return None if isinstance(call.args[0], ast.Starred) else call.args[0]
    return next((keyword.value for keyword in call.keywords if keyword.arg is not None), None)


def _assigned_once(tree: ast.Module) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for statement in ast.walk(tree):
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            twice.add(statement.target.id)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value:
                if target.id in found:
                    twice.add(target.id)
                found[target.id] = statement.value
    return {name: value for name, value in found.items() if name not in twice}


def _block(
    call: ast.Call, callee: str, code: PlacedText, lines: list[str], dialect: Dialect
) -> tuple[EmbeddedBlock, Walker | None, PlacedText | None]:
    starts = _line_starts(code, lines)
    try:
        tree = parse(code.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = min(max(getattr(error, "lineno", None) or 1, 1), len(starts))
        real_line, real_column = starts[line - 1] if starts else (call.lineno, call.col_offset)
        message = getattr(error, "msg", None) or "nested too deeply"
        problem = ParseProblem(real_line, real_column, f"in the code of {callee}: {message}")
        return EmbeddedBlock(span_of(call), callee, None, problem), None, None
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            _move(node, starts)
    return EmbeddedBlock(span_of(call), callee, None, None), Walker(tree, dialect), code


def _line_starts(code: PlacedText, lines: list[str]) -> list[tuple[int, int]]:
    starts: list[tuple[int, int]] = []
    offset = 0
    for line in code.text.split("\n"):
        if offset < len(code.places):
            real_line, column = code.places[offset]
            prefix = lines[real_line - 1][:column] if real_line <= len(lines) else ""
            starts.append((real_line, len(prefix.encode())))
        else:
            starts.append(starts[-1] if starts else (1, 0))
        offset += len(line) + 1
    return starts


def _move(node: ast.AST, starts: list[tuple[int, int]]) -> None:
    line, column = starts[min(node.lineno, len(starts)) - 1]  # type: ignore[attr-defined]
    node.lineno, node.col_offset = line, node.col_offset + column  # type: ignore[attr-defined]
    end = getattr(node, "end_lineno", None)
    if end is not None:
        line, column = starts[min(end, len(starts)) - 1]
        node.end_lineno, node.end_col_offset = line, node.end_col_offset + column  # type: ignore[attr-defined]
