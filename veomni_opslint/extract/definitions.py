"""Definitions of functions and classes: a new scope each, and the decorators that decide whether its body can run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from veomni_opslint.conditions import TRUE, Condition, both, either
from veomni_opslint.extract.choices import choices_of, returned_choices
from veomni_opslint.extract.operands import Operand, dotted, operand, truth_of
from veomni_opslint.extract.scope_state import ScopeState, span_of
from veomni_opslint.facts import AttributeTruth, Binding, Span

if TYPE_CHECKING:
    from veomni_opslint.extract.walk import Walker

_OPEN = frozenset({"property", "staticmethod", "classmethod", "dataclass", "abstractmethod", "overload", "setter"})
"""Decorators that let everything run."""


def function_statement(walker: Walker, node: ast.FunctionDef | ast.AsyncFunctionDef, when: Condition) -> Condition:
    gate, decorators = _decorations(walker, node, when)
    _signature(walker, node, when)
    _define(walker, node.name, span_of(node), when)
    walker.functions.append(node)
    wanted = walker.wants(node)
    if not wanted and not walker.deep:
        walker.pass_over(node, when, gate, decorators)
        return TRUE
    scope = walker.enter("function", node.name, node, when, node.args)
    scope.gate, scope.decorators = gate, decorators
    scope.is_async = isinstance(node, ast.AsyncFunctionDef)
    if wanted:
        function_body(walker, node, scope)
    else:
        walker.deferred.append((node, scope))
    walker.leave()
    return TRUE


def _decorations(
    walker: Walker, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, when: Condition
) -> tuple[Condition, tuple[str, ...]]:
    """Under which condition the decorators let the body run, and their names."""
    if not node.decorator_list:
        return TRUE, ()
    gate = TRUE
    for decorator in node.decorator_list:
        walker.scan(decorator, when)
        gate = both(gate, _gate(decorator, walker.scope.names))
    return gate, tuple(map(_decorator_name, node.decorator_list))


def function_body(walker: Walker, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: ScopeState) -> None:
    scope.bind_parameters()
    end = walker.block(node.body, TRUE)
    scope.completes = either(end, scope.leaves)
    scope.choices = returned_choices(scope.outcomes, end)


def _signature(walker: Walker, node: ast.FunctionDef | ast.AsyncFunctionDef, when: Condition) -> None:
    arguments = node.args
    for default in arguments.defaults:
        walker.scan(default, when)
    for keyword_default in arguments.kw_defaults:
        if keyword_default is not None:
            walker.scan(keyword_default, when)
    for listed in (arguments.posonlyargs, arguments.args, arguments.kwonlyargs):
        for argument in listed:
            if argument.annotation is not None:
                _annotation(walker, argument.annotation, when)
                argument.annotation = None
    for extra in (arguments.vararg, arguments.kwarg):
        if extra is not None and extra.annotation is not None:
            _annotation(walker, extra.annotation, when)
            extra.annotation = None
    if node.returns is not None:
        _annotation(walker, node.returns, when)


def _annotation(walker: Walker, node: ast.expr, when: Condition) -> None:
    # What binds a name or opens a scope is passed over, so that scopes and bindings count as in shallow facts.
    if walker.deep and not any(isinstance(inner, ast.Lambda | ast.NamedExpr) for inner in ast.walk(node)):
        walker.scan(node, when)


def class_statement(walker: Walker, node: ast.ClassDef, when: Condition) -> Condition:
    gate, decorators = _decorations(walker, node, when)
    for base in node.bases:
        walker.scan(base, when)
    for keyword in node.keywords:
        walker.scan(keyword.value, when)
    _define(walker, node.name, span_of(node), when)
    scope = walker.enter("class", node.name, node, when)
    scope.gate, scope.decorators = gate, decorators
    scope.bases = tuple(dotted(base) for base in node.bases)
    scope.metaclass = next((dotted(one.value) for one in node.keywords if one.arg == "metaclass"), "")
    scope.completes = walker.block(node.body, TRUE)
    walker.attributes += [
        AttributeTruth(scope.index, name, scope.index, truth_of(value), choices_of(value))
        for name, value in scope.names.items()
        if name in scope.locals
    ]
    walker.leave()
    return scope.completes


def _define(walker: Walker, name: str, span: Span, when: Condition) -> None:
    scope = walker.scope
    scope.names.pop(name, None)
    scope.bound.add(name)
    if scope.kind == "module" or scope.kind == "class":
        walker.bindings.append(Binding(scope.index, name, "scope", span, when, -1, "", len(walker.scopes)))


def _decorator_name(node: ast.expr) -> str:
    return dotted(node.func if isinstance(node, ast.Call) else node)


def _gate(node: ast.expr, names: dict[str, Operand]) -> Condition:
    value = operand(node, names)
    if value[0] == "cond":
        return truth_of(value)
    if value[0] not in ("name", "call") or str(value[1]).rpartition(".")[2] in _OPEN:
        return TRUE
    return ("gate", *value[1:])
