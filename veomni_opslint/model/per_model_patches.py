"""What each call of ``apply_per_model_patches`` patches, and which backends it adds to an op or bars from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Span
from veomni_opslint.findings import Place
from veomni_opslint.places import place_of

_TARGETS, _TARGETS_POSITION = "targets", 2
_EXTRA = "extra_backends"
_ENTRY, _ENTRY_POSITION = "entry", 0
_REQUIRES, _REQUIRES_POSITION = "requires", 1


class ExtraBackend(NamedTuple):
    """A backend that a model adds to an op, or bars from it (``BackendSpec`` or None there).

    ``entry`` is empty, and ``requires`` None, where the file alone does not make it known.
    """

    op_name: str
    name: str
    barred: bool
    requires: tuple[str, ...] | None
    place: Place
    entry: str
    entry_span: Span


class PatchTarget(NamedTuple):
    """An op and the attribute of the modeling module that its backend replaces."""

    op_name: str
    attribute: str
    place: Place


class PerModelPatches(NamedTuple):
    """One call of ``apply_per_model_patches``. ``complete``: its targets and extra backends could all be read."""

    module: str
    path: str
    model: str
    place: Place
    targets: tuple[PatchTarget, ...]
    extra_backends: tuple[ExtraBackend, ...]
    complete: bool


def find_per_model_patches(
    modules: Mapping[str, FileFacts], package: str, dialect: Dialect
) -> Iterator[PerModelPatches]:
    """The calls in functions of modules of *package*, in order of module and then of the file."""
    for module in sorted(modules):
        facts = modules[module]
        if module.startswith(f"{package}.") and f"{dialect.apply_per_model_patches}(" in facts.text:
            yield from _Reading(module, facts, dialect).calls()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Reading:
    module: str
    facts: FileFacts
    dialect: Dialect
    problems: list[str] = field(default_factory=list)

    def calls(self) -> Iterator[PerModelPatches]:
        for function in self.facts.tree.body if self.facts.tree is not None else ():
            if not isinstance(function, ast.FunctionDef):
                continue
            body = self.facts.function_body(function)
            for statement in body:
                for node in ast.walk(statement):
                    if isinstance(node, ast.Call) and self._is_patching(node):
                        yield self._patches(node, body)

    def _is_patching(self, call: ast.Call) -> bool:
        return dotted(call.func).rpartition(".")[2] == self.dialect.apply_per_model_patches

    def _patches(self, call: ast.Call, body: list[ast.stmt]) -> PerModelPatches:
        self.problems.clear()
        given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
        if len(call.args) > _TARGETS_POSITION:
            given.setdefault(_TARGETS, call.args[_TARGETS_POSITION])
        targets = [
            PatchTarget(op_name, self._string(value, body), place)
            for op_name, place, value in self._items(given.get(_TARGETS), body)
        ]
        extra = [
            self._backend(op_name, name, place, value, body)
            for op_name, _, inner in self._items(given.get(_EXTRA), body)
            for name, place, value in self._items(inner, body)
        ]
        known = not self.problems and len(given) == len(call.keywords) + (len(call.args) > _TARGETS_POSITION)
        folder, _, stem = self.module.rpartition(".")
        return PerModelPatches(
            module=self.module,
            path=self.facts.path,
            model=folder.rpartition(".")[2] if stem == self.dialect.device_patch else stem,
            place=self._place(call),
            targets=tuple(targets),
            extra_backends=tuple(extra),
            complete=known and _TARGETS in given,
        )

    def _backend(self, op_name: str, name: str, place: Place, value: ast.expr, body: list[ast.stmt]) -> ExtraBackend:
        made = self._followed(value, body)
        barred = isinstance(made, ast.Constant) and made.value is None
        if not isinstance(made, ast.Call):
            if not barred:
                self.problems.append(name)
            return ExtraBackend(op_name, name, barred, (), place, "", span_of(value))
        entry = _argument(made, _ENTRY, _ENTRY_POSITION)
        written = self._followed(entry, body) if entry is not None else None
        known = isinstance(written, ast.Constant) and isinstance(written.value, str)
        return ExtraBackend(
            op_name,
            name,
            barred,
            self._requires(made, body),
            place,
            str(written.value) if known and isinstance(written, ast.Constant) else "",
            span_of(entry if entry is not None else made),
        )

    def _requires(self, call: ast.Call, body: list[ast.stmt]) -> tuple[str, ...] | None:
        node = _argument(call, _REQUIRES, _REQUIRES_POSITION)
        if node is None:
            return () if _is_written_out(call) else None
        made = self._followed(node, body)
        if not isinstance(made, ast.Tuple | ast.List):
            return None
        names = tuple(self._string(one, body) for one in made.elts)
        return names if all(names) else None

    def _items(self, node: ast.expr | None, body: list[ast.stmt]) -> list[tuple[str, Place, ast.expr]]:
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return []
        made = self._followed(node, body)
        if not isinstance(made, ast.Dict):
            self.problems.append(ast.dump(node))
            return []
        found = []
        for key, value in zip(made.keys, made.values, strict=True):
            name = self._string(key, body) if key is not None else ""
            if key is not None and name:
                found.append((name, self._place(key), value))
            else:
                self.problems.append("a key that is not a string")
        return found

    def _string(self, node: ast.expr, body: list[ast.stmt]) -> str:
        made = self._followed(node, body)
        if isinstance(made, ast.Constant) and isinstance(made.value, str):
            return made.value
        self.problems.append("a value that is not a string")
        return ""

    def _followed(self, node: ast.expr, body: list[ast.stmt]) -> ast.expr:
        """What a name was assigned, where it is assigned once in the function or the module."""
        if not isinstance(node, ast.Name):
            return node
        for statements in (body, self.facts.tree.body if self.facts.tree is not None else []):
            values = [value for name, value in _assignments(statements) if name == node.id]
            if values:
                return values[0] if len(values) == 1 else node
        return node

    def _place(self, node: ast.expr) -> Place:
        return place_of(self.facts.path, self.facts.text, span_of(node))


def _argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    given = next((one.value for one in call.keywords if one.arg == name), None)
    return call.args[position] if given is None and len(call.args) > position else given


def _is_written_out(call: ast.Call) -> bool:
    return not any(isinstance(one, ast.Starred) for one in call.args) and all(one.arg for one in call.keywords)


def _assignments(statements: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for statement in statements:
        targets: list[ast.expr] = []
        value: ast.expr | None = None
        if isinstance(statement, ast.AnnAssign):
            targets, value = [statement.target], statement.value
        elif isinstance(statement, ast.Assign):
            targets, value = statement.targets, statement.value
        for target in targets:
            if isinstance(target, ast.Name) and value is not None:
                yield target.id, value
