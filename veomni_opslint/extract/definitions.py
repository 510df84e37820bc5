"""Definitions of functions and classes: a new scope each, and the decorators that decide whether its body can run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from veomni_opslint.conditions import TRUE, Condition, both, either
from veomni_opslint.extract.operands import Operand, dotted, operand, truth_of
from veomni_opslint.extract.scope_state import ScopeState, span_of
from veomni_opslint.facts import Binding, Span

if TYPE_CHECKING:
    from veomni_opslint.extract.walk import Walker

_GATING_WORDS = ("npu", "skip", "require")


def function_statement(walker: Walker, node: ast.FunctionDef | ast.AsyncFunctionDef, when: Condition) -> Condition:
    gate = TRUE
    for decorator in node.decorator_list:
        walker.scan(decorator, when)
        gate = both(gate, _gate(decorator, walker.scope.names))
    _signature(walker, node, when)
    _define(walker, node.name, span_of(node), when)
    scope = walker.enter("function", node.name, node, when, node.args)
    scope.gate = gate
    scope.is_async = isinstance(node, ast.AsyncFunctionDef)
    scope.decorators = tuple(_decorator_name(decorator) for decorator in node.decorator_list)
    walker.functions.append(node)
    if walker.wants(node):
        function_body(walker, node, scope)
    else:
        scope.deferred = True
        walker.deferred.append((node, scope))
    walker.leave()
    return TRUE


def function_body(walker: Walker, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: ScopeState) -> None:
    scope.bind_parameters()
    scope.completes = either(walker.block(node.body, TRUE), scope.leaves)


def _signature(walker: Walker, node: ast.FunctionDef | ast.AsyncFunctionDef, when: Condition) -> None:
    arguments = node.args
    for default in (*arguments.defaults, *arguments.kw_defaults):
        if default is not None:
            walker.scan(default, when)
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    for argument in named:
        if argument.annotation is not None:
            _annotation(walker, argument.annotation, when)
            argument.annotation = None
    if node.returns is not None:
        _annotation(walker, node.returns, when)


def _annotation(walker: Walker, node: ast.expr, when: Condition) -> None:
    # What binds a name or opens a scope is passed over, so that scopes and bindings count as in shallow facts.
    if walker.deep and not any(isinstance(inner, ast.Lambda | ast.NamedExpr) for inner in ast.walk(node)):
        walker.scan(node, when)


def class_statement(walker: Walker, node: ast.ClassDef, when: Condition) -> Condition:
    for decorator in node.decorator_list:
        walker.scan(decorator, when)
    for base in node.bases:
        walker.scan(base, when)
    for keyword in node.keywords:
        walker.scan(keyword.value, when)
    _define(walker, node.name, span_of(node), when)
    gate = TRUE
    for decorator in node.decorator_list:
        gate = both(gate, _gate(decorator, walker.scope.names))
    scope = walker.enter("class", node.name, node, when)
    scope.gate = gate
    scope.decorators = tuple(_decorator_name(decorator) for decorator in node.decorator_list)
    scope.bases = tuple(dotted(base) for base in node.bases)
    scope.completes = walker.block(node.body, TRUE)
    walker.leave()
    return scope.completes


def _define(walker: Walker, name: str, span: Span, when: Condition) -> None:
    walker.scope.names.pop(name, None)
    walker.scope.bound.add(name)
    if walker.scope.kind in ("module", "class"):
        index = len(walker.scopes)
        walker.bindings.append(Binding(walker.scope.index, name, "scope", span, when, target_scope=index))


def _decorator_name(node: ast.expr) -> str:
    return dotted(node.func if isinstance(node, ast.Call) else node)


def _gate(node: ast.expr, names: dict[str, Operand]) -> Condition:
    value = operand(node, names)
    if value[0] == "cond":
        return truth_of(value)
    last = _decorator_name(node).rpartition(".")[2].lower()
    if value[0] in ("name", "call") and any(word in last for word in _GATING_WORDS):
        return ("gate", *value[1:])
    return TRUE
