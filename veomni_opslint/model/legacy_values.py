"""Values that the config class replaces after it was filled: ``if self.f == "old": …; self.f = "new"``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import FileFacts

_POST_INIT = "__post_init__"


class LegacyValue(NamedTuple):
    """A value of a field that stands for another one, which may be another one on an NPU."""

    field: str
    value: str
    on_npu: str
    elsewhere: str


def find_legacy_values(facts: FileFacts, config: ast.ClassDef, dialect: Dialect) -> tuple[LegacyValue, ...]:
    """The replacements that ``__post_init__`` of the config class makes, as far as they are plain."""
    found: list[LegacyValue] = []
    for statement in config.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == _POST_INIT:
            for inner in facts.function_body(statement):
                found += _replacements(inner, dialect)
    return tuple(found)


def find_internal_values(facts: FileFacts, config: ast.ClassDef, dialect: Dialect) -> dict[tuple[str, str], str]:
    """From a field and a value that ``__post_init__`` may give it to the value that it replaces with that."""
    found: dict[tuple[str, str], str] = {}
    for legacy in find_legacy_values(facts, config, dialect):
        found.setdefault((legacy.field, legacy.elsewhere), legacy.value)
        found.setdefault((legacy.field, legacy.on_npu), legacy.value)
    for statement in config.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == _POST_INIT:
            nodes = [node for inner in facts.function_body(statement) for node in ast.walk(inner)]
            tables = dict(table for node in nodes for table in _table(node))
            for node in nodes:
                field, table = _looked_up(node)
                for old, new in tables.get(table, {}).items():
                    found.setdefault((field, new), old)
    return found


def _table(node: ast.AST) -> Iterator[tuple[str, dict[str, str]]]:
    """The table of strings that a statement gives a name."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.Dict):
        pairs = [
            (key.value, value.value)
            for key, value in zip(node.value.keys, node.value.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
        ]
        yield dotted(node.targets[0]), {old: new for old, new in pairs if isinstance(old, str) and isinstance(new, str)}


def _looked_up(branch: ast.AST) -> tuple[str, str]:
    """The field and the table of ``if self.f in table: self.f = table[self.f]``; empty for anything else."""
    test = branch.test if isinstance(branch, ast.If) else None
    if not isinstance(branch, ast.If) or not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.In):
        return "", ""
    attribute, table = dotted(test.left), dotted(test.comparators[0])
    found: set[str] = set()
    for inner in branch.body:
        if isinstance(inner, ast.Assign) and len(inner.targets) == 1:
            value = inner.value
            is_entry = isinstance(value, ast.Subscript) and (dotted(value.value), dotted(value.slice)) == (
                table,
                attribute,
            )
            if is_entry or (isinstance(value, ast.Name) and value.id in found):
                found.add(dotted(inner.targets[0]))
    return (
        (attribute.removeprefix("self."), table) if attribute.startswith("self.") and attribute in found else ("", "")
    )


def _replacements(statement: ast.stmt, dialect: Dialect) -> Iterator[LegacyValue]:
    for branch in ast.walk(statement):
        compared = _compared(branch.test) if isinstance(branch, ast.If) else None
        if compared is None or not isinstance(branch, ast.If):
            continue
        field, value = compared
        names: dict[str, tuple[str, str]] = {}
        for inner in branch.body:
            if not isinstance(inner, ast.Assign) or len(inner.targets) != 1:
                continue
            given = _given(inner.value, names, dialect)
            target = dotted(inner.targets[0])
            if given is not None and target == f"self.{field}":
                yield LegacyValue(field, value, *given)
            elif given is not None:
                names[target] = given


def _compared(test: ast.expr) -> tuple[str, str] | None:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    name, right = dotted(test.left), test.comparators[0]
    if not name.startswith("self.") or not isinstance(right, ast.Constant) or not isinstance(right.value, str):
        return None
    return name.removeprefix("self."), right.value


def _given(node: ast.expr, names: dict[str, tuple[str, str]], dialect: Dialect) -> tuple[str, str] | None:
    """What an expression gives on an NPU and elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value, node.value
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.IfExp):
        test, swapped = node.test, False
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, swapped = test.operand, True
        guard = dotted(test.func) if isinstance(test, ast.Call) else dotted(test)
        first, second = _given(node.body, names, dialect), _given(node.orelse, names, dialect)
        if guard.rpartition(".")[2] in dialect.npu_guards and first is not None and second is not None:
            return (second[0], first[1]) if swapped else (first[0], second[1])
    return None
