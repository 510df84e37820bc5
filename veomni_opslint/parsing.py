"""Parsing Python, a file or one function of it, in silence.

Warnings about odd but legal code are for whoever runs it, not for whoever checks it.
"""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache

from veomni_opslint.source import lines_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def parse(text: str) -> ast.Module:
    """``ast.parse`` that warns of nothing.

    Raises:
        SyntaxError: as ``ast.parse`` does; so do ValueError, RecursionError and MemoryError on odd or hostile text.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def parse_function(text: str, line: int, column: int, end_line: int) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """The function that begins at a line and column (in bytes) and ends on *end_line*, with its real positions.

    Raises:
        ValueError: there is none; besides what ``parse`` raises.
    """
    lines = lines_of(text)[:end_line]
    try:
        # A block one level deeper than its own margin keeps every column, also inside strings that span lines; empty
        # lines before it keep every line.
        head = "\n" * (line - 2) + "if 1:\n" if column else "\n" * (line - 1)
        tree = parse(head + "\n".join(lines[line - 1 :]))
    except SyntaxError:
        # With a form feed in its indentation, or a hundred levels deep, the function cannot be read alone.
        tree = parse("\n".join(lines))
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS) and (node.lineno, node.col_offset) == (line, column):
            return node
    raise ValueError(f"no function at line {line}")


@lru_cache(maxsize=4096)
def parse_body(text: str, line: int, column: int, end_line: int) -> tuple[ast.stmt, ...]:
    """The statements of a function, shared by all who ask. Not to be changed."""
    return tuple(parse_function(text, line, column, end_line).body)
