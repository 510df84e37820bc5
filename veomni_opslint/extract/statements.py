"""What each kind of statement tells, and the condition under which the next one is reached."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.extract.branches import break_statement, continue_statement, if_statement, loop_statement
from veomni_opslint.extract.definitions import class_statement, function_statement
from veomni_opslint.extract.flow import entered, is_own_method, try_statement, with_statement
from veomni_opslint.extract.imports import import_from, import_plain, import_skip_call, imported_package
from veomni_opslint.extract.matching import match_statement
from veomni_opslint.extract.operands import condition, dotted, operand, truth_of
from veomni_opslint.extract.scope_state import BUILTINS, span_of
from veomni_opslint.extract.slots import mark_slots
from veomni_opslint.extract.unpacking import mark_spread
from veomni_opslint.facts import Span

if TYPE_CHECKING:
    from veomni_opslint.extract.walk import Walker

_NEVER_RETURNS = frozenset(
    {"sys.exit", "os._exit", "exit", "quit", "pytest.skip", "pytest.fail", "pytest.exit", "os.abort"}
)
_CHECKING_WORDS = ("require", "ensure", "assert", "check", "verify", "validate", "guard", "only", "must", "need")


def _return(walker: Walker, node: ast.Return, when: Condition) -> Condition:
    scope = walker.scope
    if node.value is not None:
        walker.scan(node.value, when)
        value = operand(node.value, scope.names)
        scope.outcomes.append((when, value))
        scope.returns = either(scope.returns, both(when, truth_of(value)))
    scope.leaves = either(scope.leaves, when)
    return FALSE


def _raise(walker: Walker, node: ast.Raise, when: Condition) -> Condition:
    _scan_fields(walker, node, when)
    if node.exc is not None:
        walker.scope.catch(when, dotted(node.exc.func if isinstance(node.exc, ast.Call) else node.exc))
    return FALSE


def _scan_fields(walker: Walker, node: ast.stmt, when: Condition) -> None:
    """Record the uses in a statement that is not treated otherwise."""
    for child in ast.iter_child_nodes(node):
        walker.scan(child, when)


def _assert(walker: Walker, node: ast.Assert, when: Condition) -> Condition:
    _scan_fields(walker, node, when)
    test = condition(node.test, walker.scope.names)
    walker.scope.catch(both(when, negate(test)), "AssertionError")
    return test


def _expression(walker: Walker, node: ast.Expr, when: Condition) -> Condition:
    walker.scan(node.value, when)
    return _completed(walker, node.value, when)


def _completed(walker: Walker, node: ast.expr, when: Condition) -> Condition:
    outcome = _outcome(walker, node, 0)
    if outcome is not TRUE and walker.scope.suppressed:
        # What a guard raises is not known here; most raise this one.
        walker.scope.catch(both(when, negate(outcome)), "RuntimeError")
    return outcome


def _outcome(walker: Walker, node: ast.expr, depth: int) -> Condition:
    """The condition under which evaluating an expression does not end in an exception, as far as imports decide it."""
    if isinstance(node, ast.Call):
        return _call_outcome(walker, node)
    if isinstance(node, ast.BoolOp) and depth < 3:
        result, reached = TRUE, TRUE
        for value in node.values:
            inner = _outcome(walker, value, depth + 1)
            if inner is not TRUE:
                result = both(result, either(negate(reached), inner))
            truth = condition(value, walker.scope.names)
            reached = both(reached, truth if isinstance(node.op, ast.And) else negate(truth))
        return result
    if isinstance(node, ast.IfExp) and depth < 3:
        body, orelse = _outcome(walker, node.body, depth + 1), _outcome(walker, node.orelse, depth + 1)
        if body is TRUE and orelse is TRUE:
            return TRUE
        test = condition(node.test, walker.scope.names)
        return both(either(negate(test), body), either(test, orelse))
    return TRUE


def _call_outcome(walker: Walker, call: ast.Call) -> Condition:
    name = dotted(call.func)
    if name in _NEVER_RETURNS:
        return FALSE
    last = name.rpartition(".")[2]
    if last == "importorskip":
        return import_skip_call(call)
    if last in ("enter_context", "enter_async_context") and call.args:
        return entered(walker, call.args[0])
    if last in ("import_module", "__import__"):
        package = imported_package(walker, call)
        return ("available", package) if package else TRUE
    lowered = last.lower()
    speaks = any(word in lowered for word in _CHECKING_WORDS)
    if is_own_method(name):
        return ("completes", name) if speaks else TRUE
    checking = "." not in name or speaks
    if name and checking and name.partition(".")[0] not in walker.scope.names and name not in BUILTINS:
        return ("completes", name)
    return TRUE


def _assign(walker: Walker, node: ast.Assign | ast.AnnAssign, when: Condition) -> Condition:
    if node.value is None:
        return TRUE
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if isinstance(node, ast.AnnAssign):
        walker.scan(node.annotation, when)
    mark_slots(walker, targets, node.value)
    if walker.deep:
        for target in targets:
            mark_spread(walker, target, node.value)
    # A generator that is only kept has not run yet, and may never do.
    lazy = isinstance(node.value, ast.GeneratorExp)
    walker.scan(node.value, both(when, ("opaque", node.lineno, node.col_offset, "run")) if lazy else when)
    for target in targets:
        walker.bind_target(target, node.value, when)
    if walker.scope.kind == "module" and any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
        walker.exports = _strings(node.value)
    return _completed(walker, node.value, when)


def _strings(node: ast.expr) -> list[tuple[str, Span]]:
    elements = node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else []
    return [
        (element.value, span_of(element))
        for element in elements
        if isinstance(element, ast.Constant) and isinstance(element.value, str)
    ]


def _aug_assign(walker: Walker, node: ast.AugAssign, when: Condition) -> Condition:
    walker.scan(node.value, when)
    if isinstance(node.target, ast.Name):
        name = node.target.id
        if name == "__all__" and walker.scope.kind == "module":
            walker.exports = (walker.exports or []) + _strings(node.value)
        walker.bind_name(name, ("opaque", 0, 0, name), node.target, when, None)
    else:
        walker.scan(node.target, when)
    return TRUE


def _type_alias(walker: Walker, node: ast.stmt, when: Condition) -> Condition:
    """``type X = …``, which binds X."""
    name = getattr(node, "name", None)
    if isinstance(name, ast.Name):
        walker.bind_name(name.id, ("opaque", 0, 0, ""), name, when, None)
    return TRUE


def _global(walker: Walker, node: ast.Global | ast.Nonlocal, when: Condition) -> Condition:
    if isinstance(node, ast.Global):
        walker.scope.globals.update(node.names)
    return TRUE


STATEMENTS: dict[type[ast.stmt], Callable[..., Condition]] = {
    ast.FunctionDef: function_statement,
    ast.AsyncFunctionDef: function_statement,
    ast.ClassDef: class_statement,
    ast.If: if_statement,
    ast.For: loop_statement,
    ast.AsyncFor: loop_statement,
    ast.While: loop_statement,
    ast.Break: break_statement,
    ast.Continue: continue_statement,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _assign,
    ast.AugAssign: _aug_assign,
    ast.Global: _global,
    ast.Nonlocal: _global,
    ast.Import: import_plain,
    ast.ImportFrom: import_from,
    ast.Try: try_statement,
    ast.With: with_statement,
    ast.AsyncWith: with_statement,
    ast.Match: match_statement,
}
if hasattr(ast, "TryStar"):
    STATEMENTS[ast.TryStar] = try_statement
if hasattr(ast, "TypeAlias"):
    STATEMENTS[ast.TypeAlias] = _type_alias
