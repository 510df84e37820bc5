"""Functions that stand in a table from which the answer of a slot chooses, and slots that a loop hands to a check."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable

from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import FileFacts, Scope, Span, statements_of


def is_chosen_from_table(facts: FileFacts, scope: Scope, span: Span, guard: str) -> bool:
    """Whether what is named at a place is kept in a table, each use of which by key asks *guard* for the key."""
    for statement in statements_of(facts, scope):
        for node in ast.walk(statement):
            if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Dict | ast.Tuple):
                continue
            if not node.lineno <= span[0] <= (node.end_lineno or node.lineno):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(_asks_for_key(facts.text, dotted(target), guard) for target in targets):
                return True
    return False


def is_checked_in_loop(root: ast.Module, line: int, names: Collection[str]) -> bool:
    """Whether a loop over written elements, one of them of *names*, hands each to a function before *line*."""
    return any(
        isinstance(node, ast.For)
        and (node.end_lineno or node.lineno) < line
        and isinstance(node.target, ast.Name)
        and isinstance(node.iter, ast.Tuple | ast.List | ast.Set)
        and any(isinstance(one, ast.Name) and one.id in names for one in node.iter.elts)
        and _hands_over(node.body, node.target.id)
        for node in ast.walk(root)
    )


def _asks_for_key(text: str, name: str, guard: str) -> bool:
    keys = re.findall(rf"(?<![\w.]){re.escape(name)}\[([^\]\n]*)\]", text) if name else []
    return bool(keys) and all(key.rstrip().endswith(f".{guard}") for key in keys)


def _hands_over(body: Iterable[ast.stmt], name: str) -> bool:
    return any(
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and any(isinstance(one, ast.Name) and one.id == name for one in statement.value.args)
        for statement in body
    )
