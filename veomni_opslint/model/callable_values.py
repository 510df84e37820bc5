"""Which callables of the project an expression gives: names, partials, adapters, lambdas, and what factories return."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Scope, statements_of
from veomni_opslint.model.call_binding import Signature
from veomni_opslint.model.callables import Callables, Known
from veomni_opslint.model.return_shapes import bound_in, own_nodes
from veomni_opslint.parameters import parameters_of

_PARTIALS = frozenset({"functools.partial", "partial"})
_WRAPPERS = frozenset({"compile", "disable", "lru_cache", "cache", "script", "no_grad", "staticmethod"})
_MAX_DEPTH = 8

Possible = list[Known | None]
"""What a value may be: None for something that is not known."""


class CallableValues(NamedTuple):
    """Follows values through assignments, imports and returns; never further than is certain."""

    callables: Callables

    def of(self, module: str, facts: FileFacts, scope: int, node: ast.expr, depth: int = 0) -> Possible:
        """What an expression in a scope may be, None and False apart; *facts* are those that have the scope."""
        if depth > _MAX_DEPTH:
            return [None]
        match node:
            case ast.Constant(value=None | False):
                return []
            case ast.Name() | ast.Attribute() if dotted(node):
                return self._named(module, facts, scope, dotted(node), depth)
            case ast.Lambda():
                where = next((one for one in facts.scopes if one.span == span_of(node)), facts.scopes[scope])
                return [Known("<lambda>", Signature(parameters_of(node.args)), module, where)]
            case ast.IfExp(body=body, orelse=orelse):
                return [one for part in (body, orelse) for one in self.of(module, facts, scope, part, depth + 1)]
            case ast.BoolOp(values=values):
                return [one for part in values for one in self.of(module, facts, scope, part, depth + 1)]
            case ast.Call():
                return self._call(module, facts, scope, node, depth)
        return [None]

    def returned_by(self, module: str, scope: Scope, depth: int = 0) -> Possible:
        """What a function may return; nothing where it returns no value."""
        if scope.is_async or scope.is_generator or scope.kind != "function" or depth > _MAX_DEPTH:
            return [None]
        facts = self.callables.facts(module, scope.index)
        statements = statements_of(facts, scope)
        returned = [node.value for node in own_nodes(statements) if isinstance(node, ast.Return) and node.value]
        if scope.deferred:
            bound = bound_in(statements) | {one.name for one in scope.parameters}
            if any(self._is_local(module, facts, scope.parent, value, bound) for value in returned):
                facts = self.callables.deep(module)
        return [one for value in returned for one in self.of(module, facts, scope.index, value, depth + 1)]

    def _is_local(self, module: str, facts: FileFacts, around: int, value: ast.expr, bound: set[str]) -> bool:
        """Whether what a value may be depends on what a function binds, or on scopes in it: deep facts have these."""
        if isinstance(value, ast.Call) and dotted(value.func):
            name = dotted(value.func)
            if name.partition(".")[0] in bound:
                return True
            targets = self.callables.symbols.resolve_deep(facts, module, around, name)
            if not any(one.kind == "external" and _hands_on(one.name) for one in targets):
                return False
        return any(
            isinstance(one, ast.Lambda) or (isinstance(one, ast.Name) and one.id in bound) for one in ast.walk(value)
        )

    def _named(self, module: str, facts: FileFacts, scope: int, name: str, depth: int) -> Possible:
        root, _, rest = name.partition(".")
        owner = facts.scopes[scope]
        if owner.kind in ("function", "lambda") and root in owner.locals:
            if rest or any(one.name == root for one in owner.parameters):
                return [None]
            return self._local(module, facts, owner, root, depth)
        targets = self.callables.symbols.resolve_deep(facts, module, scope, name)
        found: Possible = []
        for target in targets:
            if target.kind == "value" and not target.rest:
                found += self.variable(target.module, target.name, depth + 1)
            else:
                found.append(self.callables.of(target))
        return found or [None]

    def variable(self, module: str, name: str, depth: int = 0) -> Possible:
        """What the module-level assignments of a name give it."""
        facts = self.callables.symbols.modules[module]
        values = list(values_of(facts.tree.body if facts.tree is not None else [], name))
        bindings = self.callables.symbols.bindings(module).get(name, ())
        if len(values) != len(bindings) or any(f"global {name}" in line for line in facts.lines):
            return [None]
        return [one for value in values for one in self._value(module, facts, 0, value, depth)]

    def _local(self, module: str, facts: FileFacts, owner: Scope, name: str, depth: int) -> Possible:
        found: Possible = []
        for value in values_of(own_nodes(statements_of(facts, owner)), name):
            found += self._value(module, facts, owner.index, value, depth)
        return found or [None]

    def _value(self, module: str, facts: FileFacts, scope: int, value: ast.expr | None, depth: int) -> Possible:
        return self.of(module, facts, scope, value, depth + 1) if value is not None else [None]

    def _call(self, module: str, facts: FileFacts, scope: int, node: ast.Call, depth: int) -> Possible:
        name = dotted(node.func)
        targets = self.callables.symbols.resolve_deep(facts, module, scope, name) if name else ()
        outside = targets[0].name if len(targets) == 1 and targets[0].kind == "external" else ""
        if outside in _PARTIALS:
            return self._partial(module, facts, scope, node, depth)
        if outside.rpartition(".")[2] in _WRAPPERS and len(node.args) == 1:
            return self.of(module, facts, scope, node.args[0], depth + 1)
        if len(targets) != 1 or targets[0].kind != "scope" or targets[0].rest:
            return [None]
        inner = self.callables.facts(targets[0].module, targets[0].scope)
        function = inner.scopes[targets[0].scope]
        if function.kind != "function" or any(one.rpartition(".")[2] not in _WRAPPERS for one in function.decorators):
            return [None]
        return self.returned_by(targets[0].module, function, depth + 1)

    def _partial(self, module: str, facts: FileFacts, scope: int, node: ast.Call, depth: int) -> Possible:
        if not node.args or any(isinstance(one, ast.Starred) for one in node.args):
            return [None]
        if any(one.arg is None for one in node.keywords):
            return [None]
        names = tuple(one.arg for one in node.keywords if one.arg is not None)
        inner = self.of(module, facts, scope, node.args[0], depth + 1)
        given = len(node.args) - 1
        return [one and one._replace(signature=one.signature.given(given, names)) for one in inner]


def _hands_on(name: str) -> bool:
    """Whether what a function of another package returns is what it is given."""
    return name in _PARTIALS or name.rpartition(".")[2] in _WRAPPERS


def values_of(nodes: Sequence[ast.AST], name: str) -> Iterator[ast.expr | None]:
    """The values that a name gets, None for one that is not a plain assignment."""
    for node in nodes:
        targets: list[ast.expr] = []
        value: ast.expr | None = None
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.AugAssign):
            targets, value = [node.target], None if isinstance(node, ast.AugAssign) else node.value
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            targets = [node.target]
        elif isinstance(node, ast.withitem):
            targets = [node.optional_vars] if node.optional_vars is not None else []
        for target in targets:
            if isinstance(target, ast.Name) and target.id == name:
                yield value
            elif isinstance(target, ast.Tuple | ast.List | ast.Starred) and any(
                isinstance(one, ast.Name) and one.id == name for one in ast.walk(target)
            ):
                yield None
