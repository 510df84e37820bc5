"""The names that a builder singles out: the constants that it compares its implementation or variant with."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.model.symbols import Symbols
from veomni_opslint.model.table_places import TablePlaces

Roles = str | tuple[str, ...]
"""Which argument an expression is: its role, or the roles of the parts of a tuple; empty for anything else."""

_MAX_DEPTH = 4


class Mention(NamedTuple):
    """One constant that an argument in a role is compared with, and where."""

    role: str
    value: str
    place: Place


@dataclass(frozen=True, slots=True)
class Mentions:
    """Reads the bodies of builders. ``strings_of`` gives the strings that a module-level name holds."""

    symbols: Symbols
    strings_of: Callable[[str, str], tuple[str | tuple[str, ...], ...]]
    _seen: set[tuple[int, tuple[tuple[str, Roles], ...]]] = field(default_factory=set, repr=False)

    def in_function(
        self, module: str, node: ast.FunctionDef | ast.Lambda, roles: Mapping[str, Roles], depth: int = 0
    ) -> Iterator[Mention]:
        """What a function, and those of the project that it hands an argument on to, compare the arguments with."""
        key = (id(node), tuple(sorted(roles.items())))
        if depth > _MAX_DEPTH or key in self._seen:
            return
        self._seen.add(key)
        facts = self.symbols.modules[module]
        if isinstance(node, ast.Lambda):
            body: list[ast.AST] = [node.body]
        else:
            body = list(node.body or facts.function_body(node))
        reader = _Reader(self, module, facts, dict(roles), body)
        for statement in body:
            yield from reader.read(statement, depth)


@dataclass(slots=True)
class _Reader:
    """One pass over the body of one function."""

    outer: Mentions
    module: str
    facts: FileFacts
    roles: dict[str, Roles]
    body: list[ast.AST]

    def read(self, node: ast.AST, depth: int) -> Iterator[Mention]:
        """The mentions in a statement or expression, in order."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            role = self._role(node.value)
            if role:
                self.roles[node.targets[0].id] = role
        elif isinstance(node, ast.NamedExpr) and self._role(node.value):
            self.roles[node.target.id] = self._role(node.value)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, right in pairwise(sides):
                yield from self._compared(self._role(left), right)
                yield from self._compared(self._role(right), left)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                yield from self._matched(self._role(node.subject), case.pattern)
        elif isinstance(node, ast.Subscript):
            yield from self._compared(self._role(node.slice), node.value)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "index", "pop") and node.args:
                yield from self._compared(self._role(node.args[0]), node.func.value)
            yield from self._handed_on(node, depth)
        for child in ast.iter_child_nodes(node):
            yield from self.read(child, depth)

    def _role(self, node: ast.expr) -> Roles:
        if isinstance(node, ast.Name):
            return self.roles.get(node.id, "")
        if isinstance(node, ast.Tuple):
            parts = tuple(self._role(one) for one in node.elts)
            return tuple(part if isinstance(part, str) else "" for part in parts) if any(parts) else ""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return self._role(node.func.value)
        if isinstance(node, ast.Call) and dotted(node.func) == "str" and len(node.args) == 1:
            return self._role(node.args[0])
        return ""

    def _compared(self, role: Roles, other: ast.expr) -> Iterator[Mention]:
        if not role:
            return
        places = TablePlaces(self.facts)
        written = self._written(other)
        for key in dict.fromkeys(self._strings(other, 0)):
            if isinstance(role, str) and isinstance(key, str):
                yield Mention(role, key, places.string(written, key))
            elif isinstance(role, tuple) and isinstance(key, tuple):
                for one, text in zip(role, key, strict=False):
                    if one:
                        yield Mention(one, text, places.string(written, text))

    def _strings(self, node: ast.expr, depth: int) -> Iterator[str | tuple[str, ...]]:
        """The strings, or tuples of strings, that an expression is or holds."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node.value
        elif isinstance(node, ast.Tuple) and node.elts and all(isinstance(one, ast.Constant) for one in node.elts):
            texts = tuple(str(one.value) for one in node.elts if isinstance(one, ast.Constant))
            yield from texts
            yield texts
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            for one in node.elts:
                yield from self._strings(one, depth)
        elif isinstance(node, ast.Dict):
            for key in node.keys:
                yield from self._strings(key, depth) if key is not None else ()
        elif isinstance(node, ast.DictComp | ast.SetComp | ast.ListComp | ast.GeneratorExp):
            for generator in node.generators:
                yield from self._strings(generator.iter, depth)
        elif isinstance(node, ast.BinOp):
            yield from self._strings(node.left, depth)
            yield from self._strings(node.right, depth)
        elif isinstance(node, ast.Call):
            for one in node.args:
                yield from self._strings(one, depth)
            if isinstance(node.func, ast.Attribute):
                yield from self._strings(node.func.value, depth)
        elif isinstance(node, ast.Name) and depth < _MAX_DEPTH:
            written = self._written(node)
            if written is not node:
                yield from self._strings(written, depth + 1)
            else:
                yield from self.outer.strings_of(self.module, node.id)

    def _written(self, node: ast.expr) -> ast.expr:
        """The expression that a local name is bound to, or whose elements it goes through."""
        if isinstance(node, ast.Name):
            for statement in self.body:
                for inner in ast.walk(statement):
                    if isinstance(inner, ast.For | ast.comprehension) and dotted(inner.target) == node.id:
                        return inner.iter
                    if isinstance(inner, ast.Assign) and any(
                        isinstance(target, ast.Name) and target.id == node.id for target in inner.targets
                    ):
                        return inner.value
        return node

    def _matched(self, role: Roles, pattern: ast.pattern) -> Iterator[Mention]:
        if isinstance(pattern, ast.MatchOr):
            for one in pattern.patterns:
                yield from self._matched(role, one)
        elif isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
            yield from self._matched(role, pattern.pattern)
        elif isinstance(pattern, ast.MatchSequence) and isinstance(role, tuple):
            for part, one in zip(role, pattern.patterns, strict=False):
                yield from self._matched(part, one)
        elif isinstance(pattern, ast.MatchValue):
            yield from self._compared(role, pattern.value)

    def _handed_on(self, node: ast.Call, depth: int) -> Iterator[Mention]:
        given = [self._role(argument) for argument in node.args]
        named = {keyword.arg: self._role(keyword.value) for keyword in node.keywords if keyword.arg is not None}
        if not any(given) and not any(named.values()):
            return
        for module, function in self._functions(node.func):
            arguments = function.args
            names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
            if names and names[0] in ("self", "cls") and isinstance(node.func, ast.Attribute):
                names = names[1:]
            roles = {name: role for name, role in zip(names, given, strict=False) if role}
            roles.update({name: role for name, role in named.items() if role})
            yield from self.outer.in_function(module, function, roles, depth + 1)

    def _functions(self, callee: ast.expr) -> Iterator[tuple[str, ast.FunctionDef]]:
        name = dotted(callee)
        for statement in self.body:
            for inner in ast.walk(statement):
                if isinstance(inner, ast.FunctionDef) and inner.name == name:
                    yield self.module, inner
        for target in self.outer.symbols.resolve(self.module, 0, name) if name else ():
            if target.kind == "scope" and not target.rest:
                facts = self.outer.symbols.modules[target.module]
                node = definition_at(facts, facts.scopes[target.scope].span[:2])
                if isinstance(node, ast.FunctionDef):
                    yield target.module, node


def definition_at(facts: FileFacts, position: tuple[int, int]) -> ast.FunctionDef | ast.ClassDef | None:
    """The module- or class-level definition at a position."""
    for node in ast.walk(facts.tree) if facts.tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and (node.lineno, node.col_offset) == position:
            return node
    return None
