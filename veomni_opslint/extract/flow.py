"""The statements whose paths meet again: ``try`` and ``with``, and what is known of names where paths meet."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.extract.operands import Operand, arguments_of, dotted, select
from veomni_opslint.extract.scope_state import BUILTINS, IMPORT_ERRORS, USE_ERRORS, catches, names_assigned

if TYPE_CHECKING:
    from veomni_opslint.extract.walk import Walker

_RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
_SUPPRESSING = "suppress"
_EXPECTING = "raises"
_ASKING_WORDS = ("npu", "require", "ensure", "check", "need", "only")
_MANAGERS = frozenset({_SUPPRESSING, _EXPECTING, "nullcontext", "no_grad", "inference_mode", "autocast", "ExitStack"})


def merge(test: Condition, left: dict[str, Operand], right: dict[str, Operand], node: ast.stmt) -> dict[str, Operand]:
    """What is known of names after ``left if test else right``."""
    if left is right:
        return left
    merged = dict(right)
    for name, one in left.items():
        other = right.get(name)
        if one is not other and one != other:
            merged[name] = _joined(test, one, other, name, node)
    for name, other in right.items():
        if name not in left:
            merged[name] = _joined(test, None, other, name, node)
    return merged


def _joined(test: Condition, one: Operand | None, other: Operand | None, name: str, node: ast.stmt) -> Operand:
    unknown: Operand = ("opaque", node.lineno, node.col_offset, name)
    one, other = one or unknown, other or unknown
    if one[0] == "opaque" and other[0] == "opaque":
        return unknown
    joined = select(test, one, other)
    return unknown if _size(joined) > 40 else joined


def try_statement(walker: Walker, node: ast.Try, when: Condition) -> Condition:
    """Handlers run where the body raised; a missing optional package decides that for an import inside it."""
    scope = walker.scope
    import_handled = any(catches(handler, IMPORT_ERRORS) for handler in node.handlers)
    use_handled = any(catches(handler, USE_ERRORS) for handler in node.handlers)
    raised = _raised(walker, node) if any(_mentions_import_error(handler) for handler in node.handlers) else None
    if raised is None:
        raised = ("opaque", node.lineno, node.col_offset, "raised")
    before = dict(scope.names)
    scope.handled_imports += import_handled
    scope.handled_uses += use_handled
    body = walker.block(node.body, when)
    scope.handled_imports -= import_handled
    scope.handled_uses -= use_handled
    if node.orelse:
        body = both(body, walker.block(node.orelse, both(when, body)))
    after_body = scope.names
    reached: Condition = both(negate(raised), body) if node.handlers and _is_availability(raised) else body
    outcomes: list[dict[str, Operand]] = [after_body] if body != FALSE else []
    handled: Condition = FALSE
    for handler in node.handlers:
        scope.names = dict(before)
        for name in names_assigned(node.body):
            scope.names[name] = ("opaque", node.lineno, node.col_offset, name)
        if _is_availability(raised):
            scope.names.update({name: before[name] for name in names_assigned(node.body) if name in before})
        if handler.name:
            scope.locals.add(handler.name)
            scope.names[handler.name] = ("opaque", handler.lineno, handler.col_offset, handler.name)
        if handler.type is not None:
            walker.scan(handler.type, when)
        after = walker.block(handler.body, both(when, raised))
        handled = either(handled, after)
        if after != FALSE:
            outcomes.append(scope.names)
    reached = either(reached, both(raised, handled))
    scope.names = outcomes[0] if outcomes else after_body
    for names in outcomes[1:]:
        scope.names = merge(raised, names, scope.names, node)
    if node.finalbody:
        reached = both(reached, walker.block(node.finalbody, when))
    return reached


def with_statement(walker: Walker, node: ast.With | ast.AsyncWith, when: Condition) -> Condition:
    """A ``with`` runs its body once; ``suppress(ImportError)`` and ``pytest.raises(…)`` also go on after an error."""
    scope = walker.scope
    catching = False
    enters: Condition = TRUE
    for item in node.items:
        walker.scan(item.context_expr, when)
        enters = both(enters, entered(walker, item.context_expr))
        if item.optional_vars is not None:
            walker.bind_target(item.optional_vars, None, when)
        catching = catching or _catches_imports(item.context_expr)
    raising = any(_is_raises(item.context_expr) for item in node.items)
    outer = scope.suppressed, scope.caught
    scope.suppressed, scope.caught = _suppressed(node) or scope.suppressed, FALSE
    scope.raising += raising
    scope.handled_imports += catching
    scope.handled_uses += catching
    after = both(enters, walker.block(node.body, both(when, enters)))
    scope.handled_imports -= catching
    scope.handled_uses -= catching
    scope.raising -= raising
    after = either(after, scope.caught)
    scope.suppressed, scope.caught = outer
    return TRUE if catching else after


def entered(walker: Walker, node: ast.expr) -> Condition:
    """The condition under which a context manager lets its body run, as far as it asks for a guard."""
    if not isinstance(node, ast.Call):
        return TRUE
    name = dotted(node.func)
    root = name.partition(".")[0]
    known = root in walker.scope.names and not is_own_method(name)
    if not name or known or name in BUILTINS or name.rpartition(".")[2] in _MANAGERS:
        return TRUE
    if "." in name and not any(word in name.lower() for word in _ASKING_WORDS):
        return TRUE
    return ("completes", name, "with", arguments_of(node, walker.scope.names))


def is_own_method(name: str) -> bool:
    """Whether what is called is a method of the object at hand."""
    return name.startswith(("self.", "cls.")) and name.count(".") == 1


def _suppressed(node: ast.With | ast.AsyncWith) -> frozenset[str]:
    """The exceptions that the ``suppress(…)`` of a statement names."""
    calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
    return frozenset(
        dotted(argument).rpartition(".")[2]
        for call in calls
        if dotted(call.func).rpartition(".")[2] == _SUPPRESSING
        for argument in call.args
    )


def _catches_imports(node: ast.expr) -> bool:
    manager = dotted(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    if not isinstance(node, ast.Call) or manager != _SUPPRESSING:
        return manager == _EXPECTING
    listed = [element for argument in node.args for element in getattr(argument, "elts", [argument])]
    return any(dotted(argument).rpartition(".")[2] in IMPORT_ERRORS for argument in listed)


def _is_raises(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _RAISES


def _mentions_import_error(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    listed = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(dotted(item).rpartition(".")[2] in IMPORT_ERRORS for item in listed)


def _raised(walker: Walker, node: ast.Try) -> Condition | None:
    for statement in node.body:
        modules: list[str] = []
        if isinstance(statement, ast.Import):
            modules = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            modules = [statement.module]
        for module in modules:
            package = walker.optional_package(module)
            if package:
                return negate(("available", package))
    return _first_import_failed(node.body[0])


def _first_import_failed(first: ast.stmt) -> Condition | None:
    """For other packages, what is imported is named in full: one may lack a name and have another."""
    if isinstance(first, ast.Import):
        return negate(("available", first.names[0].name))
    if isinstance(first, ast.ImportFrom) and first.module and not first.level:
        return negate(("available", f"{first.module}.{first.names[0].name}"))
    return None


def _is_availability(condition: Condition) -> bool:
    return bool(condition[0] == "not" and condition[1][0] == "available")


def _size(value: Operand) -> int:
    size, stack = 0, [value]
    while stack and size <= 40:
        current = stack.pop()
        size += 1
        stack.extend(part for part in current if isinstance(part, tuple))
    return size
