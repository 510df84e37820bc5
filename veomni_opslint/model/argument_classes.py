"""The tree of dataclasses that a job's YAML file fills: which keys there are at which place, and what they hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.findings import Place
from veomni_opslint.model.ops_config import class_node, literal_choices
from veomni_opslint.model.symbols import Symbols
from veomni_opslint.places import place_of

ClassKey = tuple[str, str]
_MAX_DEPTH = 12


class ArgumentField(NamedTuple):
    """One field. ``holds`` is the dataclass that its value fills, None where the value is anything else.

    ``choices`` are those of a ``Literal``.
    """

    name: str
    place: Place
    holds: ClassKey | None
    choices: tuple[str, ...] | None


class ArgumentClass(NamedTuple):
    """A dataclass with its fields, inherited ones included. ``closed``: it certainly has no others."""

    key: ClassKey
    place: Place
    fields: dict[str, ArgumentField]
    closed: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArgumentClasses:
    """All dataclasses of the project, read as they are asked for."""

    symbols: Symbols
    _known: dict[ClassKey, ArgumentClass | None] = field(default_factory=dict, repr=False)

    def get(self, key: ClassKey) -> ArgumentClass | None:
        """The dataclass of that module and name; None where there is none."""
        if key not in self._known:
            self._known[key] = self._read(key, 0)
        return self._known[key]

    def all(self) -> Iterator[ArgumentClass]:
        """Every dataclass at module level, in order of module and then of the file."""
        for module in sorted(self.symbols.modules):
            for scope in self.symbols.modules[module].scopes[1:]:
                if scope.kind == "class" and scope.parent == 0 and _is_dataclass(scope.decorators):
                    found = self.get((module, scope.name))
                    if found is not None:
                        yield found

    def paths_to(self, key: ClassKey) -> tuple[tuple[str, ...], ...]:
        """The keys that lead from a class that no other one holds to the values of the class *key*."""
        owners: dict[ClassKey, list[tuple[ClassKey, str]]] = {}
        for one in self.all():
            for held in one.fields.values():
                if held.holds is not None:
                    owners.setdefault(held.holds, []).append((one.key, held.name))
        found: list[tuple[str, ...]] = []
        pending: list[tuple[ClassKey, tuple[str, ...]]] = [(key, ())]
        while pending:
            current, path = pending.pop()
            holders = owners.get(current, ()) if len(path) < _MAX_DEPTH else ()
            if not holders and path:
                found.append(path)
            pending += [(owner, (name, *path)) for owner, name in holders]
        return tuple(sorted(set(found)))

    def _read(self, key: ClassKey, depth: int) -> ArgumentClass | None:
        module, name = key
        facts = self.symbols.modules.get(module)
        node = class_node(facts, name) if facts is not None else None
        if facts is None or node is None or depth > _MAX_DEPTH:
            return None
        if not _is_dataclass(
            tuple(dotted(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list)
        ):
            return None
        fields: dict[str, ArgumentField] = {}
        closed = not node.keywords
        for base in reversed(node.bases):
            inherited = self._class(module, base, depth)
            closed = closed and inherited is not None and inherited.closed
            fields.update(inherited.fields if inherited is not None else {})
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                place = place_of(facts.path, facts.text, span_of(statement))
                holds = self._held(module, statement.annotation, depth)
                choices = literal_choices(facts, statement.annotation) if holds is None else None
                fields[statement.target.id] = ArgumentField(statement.target.id, place, holds, choices)
        return ArgumentClass(key, place_of(facts.path, facts.text, span_of(node)), fields, closed)

    def _class(self, module: str, node: ast.expr, depth: int) -> ArgumentClass | None:
        key = self._class_key(module, node)
        if key is None:
            return None
        if key not in self._known:
            self._known[key] = None
            self._known[key] = self._read(key, depth + 1)
        return self._known[key]

    def _class_key(self, module: str, node: ast.expr) -> ClassKey | None:
        name = dotted(node)
        targets = self.symbols.resolve(module, 0, name) if name else ()
        keys = {(target.module, target.name) for target in targets if target.kind == "scope" and not target.rest}
        return keys.pop() if len(keys) == 1 and len(targets) == 1 else None

    def _held(self, module: str, annotation: ast.expr, depth: int) -> ClassKey | None:
        """The dataclass that an annotation asks for, as the parser of the arguments unwraps it."""
        if depth > _MAX_DEPTH:
            return None
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                return self._held(module, ast.parse(annotation.value, mode="eval").body, depth + 1)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
        if isinstance(annotation, ast.Subscript):
            if dotted(annotation.value).rpartition(".")[2] not in ("Optional", "Union"):
                return None
            parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            return self._only(module, parts, depth)
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            return self._only(module, [annotation.left, annotation.right], depth)
        key = self._class_key(module, annotation)
        return key if key is not None and self._is_dataclass_key(key) else None

    def _only(self, module: str, parts: list[ast.expr], depth: int) -> ClassKey | None:
        real = [part for part in parts if not (isinstance(part, ast.Constant) and part.value is None)]
        return self._held(module, real[0], depth + 1) if len(real) == 1 else None

    def _is_dataclass_key(self, key: ClassKey) -> bool:
        facts = self.symbols.modules[key[0]]
        return any(
            scope.kind == "class" and scope.name == key[1] and _is_dataclass(scope.decorators) for scope in facts.scopes
        )


def _is_dataclass(decorators: tuple[str, ...]) -> bool:
    return any(decorator.rpartition(".")[2] == "dataclass" for decorator in decorators)
