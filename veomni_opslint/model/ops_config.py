"""The dataclass that selects implementations, and the NPU tables beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.model.symbols import Symbols
from veomni_opslint.places import place_of

_MAX_BASES = 10


@dataclass(frozen=True, slots=True)
class ConfigField:
    """One field of the config: its default (None where it has none that is a string) and its Literal choices.

    ``default_place`` is where the default is written.
    """

    name: str
    default: str | None
    choices: tuple[str, ...] | None
    place: Place
    module: str
    default_place: Place


@dataclass(frozen=True, slots=True)
class OpsConfig:
    """The class that the dialect names ``ops_config``, with inherited fields, base class first."""

    module: str
    place: Place
    fields: tuple[ConfigField, ...]

    def field(self, name: str) -> ConfigField | None:
        """The field of that name."""
        return next((one for one in self.fields if one.name == name), None)


def find_ops_config(symbols: Symbols, dialect: Dialect, package: str) -> OpsConfig | None:
    """The ops config of the package under check; None where the tree has none (an older generation)."""
    for module in sorted(symbols.modules):
        facts = symbols.modules[module]
        if module.partition(".")[0] != package.partition(".")[0] or f"class {dialect.ops_config}" not in facts.text:
            continue
        node = class_node(facts, dialect.ops_config)
        if node is not None:
            fields: dict[str, ConfigField] = {}
            for one in _fields(symbols, module, node, 0):
                fields[one.name] = one
            return OpsConfig(module, place_of(facts.path, facts.text, span_of(node)), tuple(fields.values()))
    return None


def class_node(facts: FileFacts, name: str) -> ast.ClassDef | None:
    """The class of that name at module level, also below ``if`` or ``try``."""
    pending: list[ast.stmt] = list(facts.tree.body) if facts.tree is not None else []
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
        for part in ("body", "orelse", "handlers", "finalbody"):
            if not isinstance(node, ast.ClassDef):
                pending.extend(getattr(node, part, ()))
    return None


def _fields(symbols: Symbols, module: str, node: ast.ClassDef, depth: int) -> Iterator[ConfigField]:
    if depth < _MAX_BASES:
        for base in node.bases:
            for target in symbols.resolve(module, 0, dotted(base)) if dotted(base) else ():
                if target.kind == "scope" and not target.rest:
                    inner = class_node(symbols.modules[target.module], target.name)
                    if inner is not None:
                        yield from _fields(symbols, target.module, inner, depth + 1)
    facts = symbols.modules[module]
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if dotted(_subscripted(statement.annotation)).rpartition(".")[2] == "ClassVar":
                continue
            written = _default_node(statement.value)
            yield ConfigField(
                name=statement.target.id,
                default=_default(facts, written),
                choices=literal_choices(facts, statement.annotation, 0),
                place=place_of(facts.path, facts.text, span_of(statement)),
                module=module,
                default_place=place_of(facts.path, facts.text, span_of(statement if written is None else written)),
            )


def _subscripted(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node


def _default_node(value: ast.expr | None) -> ast.expr | None:
    if isinstance(value, ast.Call):
        return next((keyword.value for keyword in value.keywords if keyword.arg == "default"), None)
    return value


def _default(facts: FileFacts, value: ast.expr | None) -> str | None:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    if isinstance(value, ast.Name):
        return next((one.literal for one in facts.bindings if one.scope == 0 and one.name == value.id), None)
    return None


def literal_choices(facts: FileFacts, node: ast.expr | None, depth: int = 0) -> tuple[str, ...] | None:
    """The strings that a ``Literal`` in an annotation allows; None where it has none, or they cannot be read."""
    if node is None or depth > _MAX_BASES:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return literal_choices(facts, ast.parse(node.value, mode="eval").body, depth + 1)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    if isinstance(node, ast.Subscript):
        if dotted(node.value).rpartition(".")[2] == "Literal":
            listed = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            values = [one.value for one in listed if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            return tuple(values) if len(values) == len([one for one in listed if not _is_none(one)]) else None
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return _first_choices(facts, inner, depth)
    if isinstance(node, ast.BinOp):
        return _first_choices(facts, [node.left, node.right], depth)
    if isinstance(node, ast.Name):
        return literal_choices(facts, _assigned(facts, node.id), depth + 1)
    return None


def _first_choices(facts: FileFacts, nodes: list[ast.expr], depth: int) -> tuple[str, ...] | None:
    for node in nodes:
        found = literal_choices(facts, node, depth + 1)
        if found is not None:
            return found
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _assigned(facts: FileFacts, name: str) -> ast.expr | None:
    for statement in facts.tree.body if facts.tree is not None else ():
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    return None
