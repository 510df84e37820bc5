"""Ops whose field the function that binds names itself: ``if slot.op_name == "mhc": name = config.mhc_backend``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import FileFacts, Scope, statements_of
from veomni_opslint.model.symbols import Symbols


def find_special_fields(symbols: Symbols, package: str, dialect: Dialect) -> dict[str, str | None]:
    """The fields by op; None for an op that the function mentions in some other way."""
    found: dict[str, str | None] = {}
    for module, facts in symbols.modules.items():
        if f"def {dialect.bind_function}(" in facts.text and f"{module}.".startswith(f"{package}."):
            for scope in facts.scopes:
                if scope.kind == "function" and scope.name == dialect.bind_function:
                    found |= _of_function(facts, scope, dialect.kernel_spec_fields[1])
    return found


def _of_function(facts: FileFacts, scope: Scope, op_name: str) -> dict[str, str | None]:
    formals = scope.arguments
    config = {one.arg for one in (*formals.posonlyargs, *formals.args, *formals.kwonlyargs)} if formals else set()
    nodes = [node for statement in statements_of(facts, scope) for node in ast.walk(statement)]
    found: dict[str, str | None] = dict.fromkeys(map(_text, nodes))
    found.pop("", None)
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    for statement in facts.tree.body if facts.tree is not None else ():
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        table = getattr(statement, "value", None)
        if isinstance(table, ast.Dict) and any(isinstance(one, ast.Name) and one.id in used for one in targets):
            found |= {_text(key): _text(value) or None for key, value in zip(table.keys, table.values, strict=True)}
    for branch in nodes:
        if isinstance(branch, ast.If):
            fields = sorted({*_fields_read(branch.body, config)})
            for op in _ops_compared(branch.test, op_name):
                found[op] = (fields[0] or None) if len(fields) == 1 else None
    return found


def _ops_compared(test: ast.expr, op_name: str) -> Iterator[str]:
    if isinstance(test, ast.Compare) and dotted(test.left).rpartition(".")[2] == op_name and len(test.ops) == 1:
        right = test.comparators[0]
        if isinstance(test.ops[0], ast.Eq):
            yield from filter(None, [_text(right)])
        elif isinstance(test.ops[0], ast.In) and isinstance(right, ast.Tuple | ast.List | ast.Set):
            yield from filter(None, map(_text, right.elts))


def _fields_read(body: Sequence[ast.stmt], config: set[str]) -> Iterator[str]:
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in config:
            yield node.attr
        elif isinstance(node, ast.Call) and dotted(node.func) == "getattr" and len(node.args) > 1:
            holder, name = node.args[:2]
            if isinstance(holder, ast.Name) and holder.id in config:
                yield _text(name)


def _text(node: ast.AST | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
