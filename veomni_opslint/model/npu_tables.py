"""The tables beside the ops config that say which implementations an NPU allows, requires and falls back to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.places import place_of

_CONTAINERS = frozenset({"frozenset", "set", "tuple", "list"})


class TableValue(NamedTuple):
    """One implementation that an entry names."""

    name: str
    place: Place


class TableEntry(NamedTuple):
    """The entry of one config field; ``values`` is None where they cannot be read."""

    field: str
    place: Place
    values: tuple[TableValue, ...] | None


class NpuTable(NamedTuple):
    """One of the tables. ``complete`` when every entry could be read, so that what is missing is really missing."""

    name: str
    place: Place
    entries: tuple[TableEntry, ...]
    complete: bool

    def entry(self, field: str) -> TableEntry | None:
        """The entry of a config field."""
        return next((one for one in self.entries if one.field == field), None)


class NpuTables(NamedTuple):
    """The three tables; each is None where the tree has none by that name."""

    allowed: NpuTable | None
    required: NpuTable | None
    fallback: NpuTable | None


def find_npu_tables(facts: FileFacts, dialect: Dialect) -> NpuTables:
    """The tables in the module of the ops config."""
    return NpuTables(
        _table(facts, dialect.npu_allowed), _table(facts, dialect.npu_required), _table(facts, dialect.npu_fallback)
    )


def _table(facts: FileFacts, name: str) -> NpuTable | None:
    for statement in facts.tree.body if facts.tree is not None else ():
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
            entries = tuple(_entries(facts, value)) if isinstance(value, ast.Dict) else ()
            complete = isinstance(value, ast.Dict) and len(entries) == len(value.keys)
            place = place_of(facts.path, facts.text, span_of(statement))
            return NpuTable(name, place, entries, complete and all(entry.values is not None for entry in entries))
    return None


def _entries(facts: FileFacts, node: ast.Dict) -> Iterator[TableEntry]:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            values = _values(facts, value)
            place = place_of(facts.path, facts.text, span_of(key))
            yield TableEntry(key.value, place, None if values is None else tuple(values))


def _values(facts: FileFacts, node: ast.expr) -> list[TableValue] | None:
    if isinstance(node, ast.Call) and dotted(node.func) in _CONTAINERS and not node.keywords:
        return _values(facts, node.args[0]) if node.args else []
    if isinstance(node, ast.Set | ast.Tuple | ast.List):
        found = [_values(facts, element) for element in node.elts]
        return None if None in found else [one for inner in found if inner is not None for one in inner]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [TableValue(node.value, place_of(facts.path, facts.text, span_of(node)))]
    return None
