"""The dataclass that selects implementations, and the NPU tables beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.model.symbols import Symbols
from veomni_opslint.parsing import parse
from veomni_opslint.places import place_of

_MAX_DEPTH = 10
_NO_FIELDS = frozenset({"ClassVar", "InitVar", "KW_ONLY"})


class ConfigField(NamedTuple):
    """One field of the config: its default (None where it has none that is a string) and its Literal choices.

    ``default_place`` is where the default is written.
    """

    name: str
    default: str | None
    choices: tuple[str, ...] | None
    place: Place
    module: str
    default_place: Place


class OpsConfig(NamedTuple):
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
            fields = {one.name: one for one in _fields(symbols, module, node, set())}
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


def _fields(symbols: Symbols, module: str, node: ast.ClassDef, seen: set[tuple[str, str]]) -> Iterator[ConfigField]:
    """Fields of the class and its bases, each class once, so that the last one of a name is the one that counts."""
    seen.add((module, node.name))
    for base in reversed(node.bases):
        for target in symbols.resolve(module, 0, dotted(base)) if dotted(base) else ():
            if target.kind == "scope" and not target.rest and (target.module, target.name) not in seen:
                inner = class_node(symbols.modules[target.module], target.name)
                if inner is not None:
                    yield from _fields(symbols, target.module, inner, seen)
    facts = symbols.modules[module]
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if _outermost(statement.annotation) in _NO_FIELDS:
                continue
            written = _default_node(statement.value)
            yield ConfigField(
                name=statement.target.id,
                default=_default(symbols, module, written),
                choices=literal_choices(facts, statement.annotation),
                place=place_of(facts.path, facts.text, span_of(statement)),
                module=module,
                default_place=place_of(facts.path, facts.text, span_of(statement if written is None else written)),
            )


def _outermost(annotation: ast.expr) -> str:
    node = _unquoted(annotation)
    node = node.value if isinstance(node, ast.Subscript) else node
    return dotted(node).rpartition(".")[2] if node is not None else ""


def _default_node(value: ast.expr | None) -> ast.expr | None:
    if not isinstance(value, ast.Call):
        return value
    given = {keyword.arg: keyword.value for keyword in value.keywords}
    made = given.get("default_factory")
    return made.body if isinstance(made, ast.Lambda) else given.get("default")


def _default(symbols: Symbols, module: str, value: ast.expr | None) -> str | None:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    name = dotted(value) if value is not None else ""
    texts = {symbols.literal(target) for target in symbols.resolve(module, 0, name)} if name else set()
    return texts.pop() if len(texts) == 1 else None


def literal_choices(facts: FileFacts, annotation: ast.expr) -> tuple[str, ...] | None:
    """The strings that an annotation allows; None where it allows others, too, or they cannot be read."""
    values = _allowed(facts, annotation, 0)
    texts = tuple(dict.fromkeys(value for value in values or () if isinstance(value, str)))
    return texts if texts and all(value is None or isinstance(value, str) for value in values or ()) else None


def _allowed(facts: FileFacts, annotation: ast.expr, depth: int) -> tuple[object, ...] | None:
    """The values that a type has; None where they are not listed."""
    node = _unquoted(annotation)
    if node is None or depth > _MAX_DEPTH:
        return None
    if isinstance(node, ast.Constant):
        return (None,) if node.value is None else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _all_allowed(facts, [node.left, node.right], depth)
    if isinstance(node, ast.Name):
        value = _assigned(facts, node.id)
        return _allowed(facts, value, depth + 1) if value is not None else None
    if not isinstance(node, ast.Subscript):
        return None
    listed = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    match _outermost(node):
        case "Literal":
            written = [
                (one.value,) if isinstance(one, ast.Constant) else _allowed(facts, one, depth + 1) for one in listed
            ]
            return _concatenated(written)
        case "Union":
            return _all_allowed(facts, listed, depth)
        case "Optional" | "Annotated" | "Final":
            return _allowed(facts, listed[0], depth + 1)
    return None


def _all_allowed(facts: FileFacts, nodes: list[ast.expr], depth: int) -> tuple[object, ...] | None:
    return _concatenated([_allowed(facts, node, depth + 1) for node in nodes])


def _concatenated(parts: list[tuple[object, ...] | None]) -> tuple[object, ...] | None:
    known = [part for part in parts if part is not None]
    return tuple(value for part in known for value in part) if len(known) == len(parts) else None


def _unquoted(annotation: ast.expr) -> ast.expr | None:
    """An annotation that is written as a string, read; None where that fails."""
    if not isinstance(annotation, ast.Constant) or not isinstance(annotation.value, str):
        return annotation
    try:
        statement = parse(f"({annotation.value}\n)").body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return statement.value if isinstance(statement, ast.Expr) else None


def _assigned(facts: FileFacts, name: str) -> ast.expr | None:
    for statement in facts.tree.body if facts.tree is not None else ():
        # The last is the name of a ``type`` statement.
        bound = [getattr(statement, part, None) for part in ("target", "name")]
        bound += statement.targets if isinstance(statement, ast.Assign) else []
        if any(isinstance(one, ast.Name) and one.id == name for one in bound):
            value = getattr(statement, "value", None)
            return value if isinstance(value, ast.expr) else None
    return None
