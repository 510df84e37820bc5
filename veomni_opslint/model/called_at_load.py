"""What a call runs besides the function called: a lambda, an inner function as decorator, methods of what it makes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import FileFacts, Ref, Scope, statements_of, text_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def methods_called(facts: FileFacts, ref: Ref) -> Iterator[str]:
    """The methods that are called at once on what the call at a place gives, as in ``Loader().load()``."""
    scope = facts.scopes[ref.scope]
    statements = facts.tree.body if scope.kind != "function" and facts.tree is not None else statements_of(facts, scope)
    for statement in statements:
        if statement.lineno <= ref.span[0] <= (statement.end_lineno or statement.lineno):
            yield from _methods_called_in(statement, ref)


def _methods_called_in(statement: ast.stmt, ref: Ref) -> Iterator[str]:
    pending: list[tuple[ast.AST, ast.AST, ast.AST]] = [(statement, statement, statement)]
    while pending:
        node, outer, beyond = pending.pop()
        if (
            isinstance(node, ast.Call)
            and (node.func.lineno, node.func.col_offset) == ref.span[:2]
            and dotted(node.func)
        ):
            if isinstance(outer, ast.Attribute) and isinstance(beyond, ast.Call) and beyond.func is outer:
                yield outer.attr
            elif isinstance(outer, ast.Call) and outer.func is node:
                yield "__call__"
            elif isinstance(outer, ast.withitem) and outer.context_expr is node:
                yield "__enter__"
        pending.extend(
            (child, node, outer) for child in ast.iter_child_nodes(node) if not isinstance(child, _FUNCTIONS)
        )


def class_made(facts: FileFacts, name: str) -> str:
    """What is called for the only value that module-level code gives a name; empty where there is no such value."""
    if sum(one.scope == 0 and one.name == name for one in facts.bindings) != 1 or facts.tree is None:
        return ""
    for statement in facts.tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.Call):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return dotted(statement.value.func)
    return ""


def lambda_held(facts: FileFacts, name: str) -> Scope | None:
    """The lambda that a module-level name is assigned, and nothing else."""
    bound = [one for one in facts.bindings if one.scope == 0 and one.name == name]
    if len(bound) != 1 or bound[0].kind != "assign":
        return None
    _, _, line, column = bound[0].span
    for one in facts.scopes:
        if one.kind == "lambda" and one.parent == 0 and one.span[0] == line and one.span[1] > column:
            between = text_of(facts, (line, column, line, one.span[1])).strip()
            return one if between.endswith("=") and between.count("=") == 1 else None
    return None


def decorating(facts: FileFacts, ref: Ref, there: FileFacts, function: Scope) -> Iterator[Scope]:
    """What the result of a call runs at once: the inner function that makes a decorator, at ``@register("a")``."""
    line, column, end_line, end_column = ref.span
    before = facts.lines[line - 1].encode()[:column].decode(errors="replace").strip()
    after = facts.lines[end_line - 1].encode()[end_column : end_column + 1]
    if before == "@" and after == b"(" and function.kind == "function":
        text = text_of(there, function.span)
        for one in there.scopes:
            if one.parent == function.index and one.kind == "function" and re.search(rf"\breturn {one.name}\b", text):
                yield one
