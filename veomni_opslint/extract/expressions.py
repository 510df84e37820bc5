"""The uses of names inside expressions, with the condition under which each is evaluated."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from veomni_opslint.conditions import TRUE, Condition, both, negate
from veomni_opslint.extract.call_arguments import given_by
from veomni_opslint.extract.imports import imports_by_map
from veomni_opslint.extract.operands import Operand, condition, dotted, operand, strings_of
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.extract.slots import mark_slots
from veomni_opslint.extract.unpacking import mark_elements
from veomni_opslint.facts import Call, Ref

if TYPE_CHECKING:
    from veomni_opslint.extract.walk import Walker

_ENTRY = re.compile(r"[A-Za-z_][\w]*(?:\.\w+)*:[A-Za-z_][\w.]*")
_CHILD_FIELDS: dict[type, tuple[str, ...]] = {type(None): ()}
_NOT_CHILDREN = frozenset({"ctx", "op", "ops", "kind", "conversion"})
_BUILTINS = frozenset(dir(builtins))
_SELF = ("self.", "cls.")
_NEW: Any = object()


def scan(walker: Walker, node: ast.AST, when: Condition) -> None:
    """Record every use of a name in *node*, which is evaluated under *when*."""
    stack: list[Any] = [node]
    pop = stack.pop
    fields_of = _CHILD_FIELDS
    while stack:
        current = pop()
        kind = current.__class__
        if kind is ast.Name:
            _use(walker, current.id, current, when, False)
        elif kind is ast.Constant:
            value = current.value
            if value.__class__ is str and ":" in value and len(value) < 200 and _ENTRY.fullmatch(value):
                walker.entry_strings.append((value, span_of(current), when))
        elif kind is ast.Attribute:
            name = dotted(current)
            if name:
                _use(walker, name, current, when, False)
            else:
                while current.__class__ is ast.Attribute:
                    current = current.value
                stack.append(current)
        elif kind is ast.Call:
            _call(walker, current, when, stack)
        elif kind in fields_of:
            for name in fields_of[kind]:
                child = getattr(current, name, None)
                if child.__class__ is list:
                    stack.extend(child[::-1])
                elif child is not None:
                    stack.append(child)
        elif kind in _SPECIAL:
            _SPECIAL[kind](walker, current, when)
        else:
            # What is put on the stack last is looked at first.
            fields_of[kind] = tuple(name for name in reversed(kind._fields) if name not in _NOT_CHILDREN)
            stack.append(current)


def _use(walker: Walker, name: str, node: ast.expr, when: Condition, call: bool) -> None:
    scope = walker.scope
    key = (name, id(when))
    known = scope.refs.get(key, _NEW)
    if known is None:
        return
    if known is not _NEW:
        if (call and not known[2]) or (known[4] and call == known[2] and not scope.handled_imports):
            scope.refs[key] = (known[0], span_of(node), call, scope.handled_uses > 0, scope.handled_imports > 0)
        return
    root = name.partition(".")[0]
    if name.startswith(walker.device_prefixes) or root in walker.device_roots:
        scope.every_ref.append(
            Ref(scope.index, name, span_of(node), when, call, scope.handled_uses > 0, scope.handled_imports > 0)
        )
    elif scope.kind == "function" and root in scope.locals and not name.startswith(_SELF):
        # ``when`` is kept alive by the walk of this block only, so the marker must go with it.
        scope.local_uses[key] = when
        scope.refs[key] = None
    else:
        span = (node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0)
        scope.refs[key] = (when, span, call, scope.handled_uses > 0, scope.handled_imports > 0)


def _call(walker: Walker, node: ast.Call, when: Condition, stack: list[ast.AST]) -> None:
    name = dotted(node.func)
    if name:
        _use(walker, name, node.func, when, True)
        last = name.rpartition(".")[2]
        if last in walker.call_hooks:
            walker.call_hooks[last](node, name, when)
        if walker.deep:
            _record_call(walker, node, name, when)
    elif walker.deep and _is_super(node.func):
        _record_call(walker, node, f"super().{node.func.attr}", when)  # type: ignore[attr-defined]
    elif node.func.__class__ is ast.Attribute and node.func.attr in walker.call_hooks:
        attribute = node.func.attr
        walker.call_hooks[attribute](node, attribute, when)
    stack.extend(keyword.value for keyword in node.keywords[::-1])
    stack.extend(node.args[::-1])
    if node.func.__class__ is ast.Lambda:
        # Called at once, it is code of this scope.
        stack.append(node.func.body)
        stack.extend(node.func.args.defaults)
    elif not name:
        stack.append(node.func)


def _is_super(node: ast.expr) -> bool:
    """Whether the function called is ``super().name``."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Call) or node.value.args:
        return False
    return isinstance(node.value.func, ast.Name) and node.value.func.id == "super"


def _record_call(walker: Walker, node: ast.Call, name: str, when: Condition) -> None:
    scope = walker.scope
    root = name.partition(".")[0]
    if root in _BUILTINS or (root in scope.locals and not (name.startswith(_SELF) and name.count(".") == 1)):
        return
    unpacked, rest = walker.unpacked.get(id(node), (0, False))
    walker.calls.append(
        Call(
            scope.index, name, span_of(node), when, *given_by(node), unpacked, rest, scope.raising > 0,
            walker.unpacked_later.get(id(node)),
        )
    )  # fmt: skip


def _starred(walker: Walker, node: ast.Starred, when: Condition) -> None:
    imports_by_map(walker, node.value, when)
    scan(walker, node.value, when)


def _bool_op(walker: Walker, node: ast.BoolOp, when: Condition) -> None:
    conjunction = node.op.__class__ is ast.And
    for value in node.values:
        scan(walker, value, when)
        truth = condition(value, walker.scope.names)
        when = both(when, truth if conjunction else negate(truth))


def _if_exp(walker: Walker, node: ast.IfExp, when: Condition) -> None:
    scan(walker, node.test, when)
    test = condition(node.test, walker.scope.names)
    scan(walker, node.body, both(when, test))
    scan(walker, node.orelse, both(when, negate(test)))


def _named_expr(walker: Walker, node: ast.NamedExpr, when: Condition) -> None:
    if id(node.value) not in walker.slot_targets:
        mark_slots(walker, [node.target], node.value)
    scan(walker, node.value, when)
    walker.bind_name(node.target.id, operand(node.value, walker.scope.names), node.target, when, node.value)


def _comprehension(
    walker: Walker, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, when: Condition
) -> None:
    names = walker.scope.names
    shadowed: dict[str, Operand | None] = {}
    for generator in node.generators:
        if walker.deep:
            mark_elements(walker, generator.target, generator.iter)
        scan(walker, generator.iter, when)
        imports_by_map(walker, generator.iter, when)
        listed = strings_of(operand(generator.iter, names)) if isinstance(generator.target, ast.Name) else ()
        if listed and isinstance(generator.target, ast.Name):
            walker.scope.elements[generator.target.id] = listed
        for target in ast.walk(generator.target):
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                shadowed.setdefault(target.id, names.get(target.id))
                names[target.id] = ("opaque", target.lineno, target.col_offset, target.id)
                walker.scope.locals.add(target.id)
        for test in generator.ifs:
            scan(walker, test, when)
            when = both(when, condition(test, names))
    if isinstance(node, ast.DictComp):
        scan(walker, node.key, when)
        scan(walker, node.value, when)
    else:
        scan(walker, node.elt, when)
    for name, value in shadowed.items():
        walker.scope.elements.pop(name, None)
        if value is None:
            del names[name]
        else:
            names[name] = value


def _lambda(walker: Walker, node: ast.Lambda, when: Condition) -> None:
    for default in (*node.args.defaults, *node.args.kw_defaults):
        if default is not None:
            scan(walker, default, when)
    scope = walker.enter("lambda", "<lambda>", node, when, node.args)
    scope.bind_parameters()
    scan(walker, node.body, TRUE)
    scope.returns = condition(node.body, scope.names)
    walker.leave()


def _yield(walker: Walker, node: ast.Yield | ast.YieldFrom, when: Condition) -> None:
    walker.scope.is_generator = True
    if node.value is not None:
        scan(walker, node.value, when)


_SPECIAL: dict[type[ast.AST], Callable[[Walker, ast.AST, Condition], None]] = {
    ast.BoolOp: _bool_op,  # type: ignore[dict-item]
    ast.IfExp: _if_exp,  # type: ignore[dict-item]
    ast.NamedExpr: _named_expr,  # type: ignore[dict-item]
    ast.ListComp: _comprehension,  # type: ignore[dict-item]
    ast.SetComp: _comprehension,  # type: ignore[dict-item]
    ast.GeneratorExp: _comprehension,  # type: ignore[dict-item]
    ast.DictComp: _comprehension,  # type: ignore[dict-item]
    ast.Lambda: _lambda,  # type: ignore[dict-item]
    ast.Starred: _starred,  # type: ignore[dict-item]
    ast.Yield: _yield,  # type: ignore[dict-item]
    ast.YieldFrom: _yield,  # type: ignore[dict-item]
}
