"""Where the entries of a module-level table, and the elements of an entry, are written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.places import place_of

Key = str | tuple[str, ...]

_MAX_DEPTH = 6


class TablePlaces(NamedTuple):
    """Finds places in the module-level code of one file."""

    facts: FileFacts

    def table(self, name: str) -> Place:
        """The name in the first statement that binds it."""
        for statement in self._statements(name):
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and node.id == name:
                    return self._place(node)
        return Place(self.facts.path, 1)

    def key(self, name: str, key: Key) -> Place:
        """The key of an entry, where the table ``name`` gets it last; the table's name where that is not seen."""
        hits = list(self._entries(name, key, 0))
        return self._place(hits[-1][0]) if hits else self.table(name)

    def part(self, name: str, key: Key, text: str) -> Place:
        """One string of a key, or of a key inside the entry: itself where a comprehension makes it, else the key."""
        if text not in ((key,) if isinstance(key, str) else key):
            return self.element(name, key, text)
        if not any(isinstance(one, ast.Tuple) for one, _ in self._entries(name, key, 0)):
            made = (node for one in self._statements(name) for node in ast.walk(one) if isinstance(node, ast.DictComp))
            for generator in (generator for node in made for generator in node.generators):
                found = self._constant(generator.iter, text, 0)
                if found is not None:
                    return self._place(found)
        return self.key(name, key)

    def element(self, name: str, key: Key, text: str) -> Place:
        """One string in the value of an entry: itself where it is written in this file, else the value, or the key."""
        hits = list(self._entries(name, key, 0))
        values = [value for _, value in reversed(hits)]
        written = (getattr(one, "value", None) for one in self._statements(name))
        values += [value for value in written if isinstance(value, ast.expr)]
        for value in values:
            found = self._constant(value, text, 0)
            if found is not None:
                return self._place(found)
        return self._place(hits[-1][1]) if hits else self.table(name)

    def string(self, node: ast.expr, text: str) -> Place:
        """The string *text* in an expression, followed through module-level names; else the expression."""
        return self._place(self._constant(node, text, 0) or node)

    def _place(self, node: ast.AST) -> Place:
        return place_of(self.facts.path, self.facts.text, span_of(node))  # type: ignore[arg-type]

    def _entries(self, name: str, key: Key, depth: int) -> Iterator[tuple[ast.AST, ast.expr]]:
        """Key and value of each place that gives the table an entry under *key*; the later ones overwrite."""
        if depth > _MAX_DEPTH:
            return
        direct: list[tuple[ast.AST, ast.expr]] = []
        for statement in self._statements(name):
            direct += self._direct_entries(statement, key)
        if not direct:
            for other in self._names_in(name):
                yield from self._entries(other, key, depth + 1)
            direct += self._registered(key)
        yield from direct

    def _direct_entries(self, statement: ast.stmt, key: Key) -> Iterator[tuple[ast.AST, ast.expr]]:
        for node in ast.walk(statement):
            if isinstance(node, ast.Dict):
                for one, value in zip(node.keys, node.values, strict=True):
                    if one is not None and self._is(one, key):
                        yield one, value
            elif isinstance(node, ast.Assign | ast.AugAssign):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Subscript) and self._is(target.slice, key):
                        yield target.slice, node.value
            elif isinstance(node, ast.keyword):
                if node.arg == key:
                    yield node, node.value
            elif isinstance(node, ast.DictComp):
                for generator in node.generators:
                    written = self._constant(generator.iter, key if isinstance(key, str) else key[0], 0)
                    if written is not None:
                        yield written, node.value
            elif isinstance(node, ast.Tuple | ast.List) and len(node.elts) == 2 and self._is(node.elts[0], key):
                yield node.elts[0], node.elts[1]
            elif isinstance(node, ast.Call) and len(node.args) == 2 and self._is(node.args[0], key):
                yield node.args[0], node.args[1]

    def _registered(self, key: Key) -> Iterator[tuple[ast.AST, ast.expr]]:
        """Calls with the key, as decorators or on their own, by which a function of the module may fill the table."""
        for statement in self.facts.tree.body if self.facts.tree is not None else ():
            calls: list[ast.expr] = []
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                calls += statement.decorator_list
            elif isinstance(statement, ast.Expr):
                calls.append(statement.value)
            for call in calls:
                for argument in call.args if isinstance(call, ast.Call) else ():
                    if self._is(argument, key):
                        yield argument, call

    def _constant(self, node: ast.expr, text: str, depth: int) -> ast.expr | None:
        named: list[str] = []
        for inner in ast.walk(node):
            if isinstance(inner, ast.Constant) and inner.value == text:
                return inner
            if isinstance(inner, ast.Name):
                named.append(inner.id)
        for name in named if depth <= _MAX_DEPTH else ():
            for statement in self._statements(name):
                value = getattr(statement, "value", None)
                found = self._constant(value, text, depth + 1) if isinstance(value, ast.expr) else None
                if found is not None:
                    return found
        return None

    def _is(self, node: ast.expr, key: Key) -> bool:
        if isinstance(node, ast.Tuple):
            return isinstance(key, tuple) and len(node.elts) == len(key) and all(map(self._is, node.elts, key))
        if isinstance(node, ast.Constant):
            return bool(node.value == key)
        if isinstance(node, ast.Name) and isinstance(key, str):
            return any(one.scope == 0 and one.name == node.id and one.literal == key for one in self.facts.bindings)
        return False

    def _names_in(self, name: str) -> list[str]:
        found = dict.fromkeys(
            node.id
            for statement in self._statements(name)
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id != name
        )
        return list(found)

    def _statements(self, name: str) -> Iterator[ast.stmt]:
        """Module-level statements that bind the name or change its value in place."""
        pending = list(self.facts.tree.body) if self.facts.tree is not None else []
        while pending:
            statement = pending.pop(0)
            if isinstance(statement, ast.If | ast.Try | ast.With | ast.For | ast.While):
                pending[:0] = [inner for inner in ast.iter_child_nodes(statement) if isinstance(inner, ast.stmt)]
            elif _concerns(statement, name):
                yield statement


def _concerns(statement: ast.stmt, name: str) -> bool:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        targets = [statement.value.func]
    return any(_root(target) == name for target in targets)


def _root(target: ast.expr) -> str:
    while isinstance(target, ast.Subscript | ast.Attribute):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""
