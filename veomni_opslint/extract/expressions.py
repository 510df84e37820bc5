"""The uses of names inside expressions, with the condition under which each is evaluated."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.extract.operands import condition, dotted, operand
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import Ref

if TYPE_CHECKING:
    from veomni_opslint.extract.walk import Walker

_ENTRY = re.compile(r"[A-Za-z_][\w]*(?:\.\w+)*:[A-Za-z_][\w.]*")
_CHILD_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
_NOT_CHILDREN = frozenset({"ctx", "op", "ops", "kind", "conversion", "lineno"})


def scan(walker: Walker, node: ast.AST, when: Condition) -> None:
    """Record every use of a name in *node*, which is evaluated under *when*."""
    stack: list[ast.AST] = [node]
    pop = stack.pop
    while stack:
        current = pop()
        kind = current.__class__
        if kind is ast.Constant:
            value = current.value  # type: ignore[attr-defined]
            if value.__class__ is str and ":" in value and len(value) < 200 and _ENTRY.fullmatch(value):
                walker.entry_strings.append((value, span_of(current), when))  # type: ignore[arg-type]
        elif kind is ast.Name:
            _use(walker, current.id, current, when, False)  # type: ignore[attr-defined, arg-type]
        elif kind is ast.Attribute:
            name = dotted(current)  # type: ignore[arg-type]
            if name:
                _use(walker, name, current, when, False)  # type: ignore[arg-type]
            else:
                while current.__class__ is ast.Attribute:
                    current = current.value  # type: ignore[attr-defined]
                stack.append(current)
        elif kind is ast.Call:
            _call(walker, current, when, stack)  # type: ignore[arg-type]
        else:
            special = _SPECIAL.get(kind)
            if special is not None:
                special(walker, current, when)
                continue
            fields = _CHILD_FIELDS.get(kind)
            if fields is None:
                fields = tuple(name for name in kind._fields if name not in _NOT_CHILDREN)
                _CHILD_FIELDS[kind] = fields
            for name in fields:
                child = getattr(current, name, None)
                if child.__class__ is list:
                    stack.extend(item for item in child if isinstance(item, ast.AST))
                elif isinstance(child, ast.AST):
                    stack.append(child)


def _use(walker: Walker, name: str, node: ast.expr, when: Condition, call: bool) -> None:
    scope = walker.scope
    if name.startswith(walker.device_prefixes) or name.partition(".")[0] in walker.device_roots:
        scope.every_ref.append(Ref(scope.index, name, span_of(node), when, call, scope.handled_uses > 0))
        return
    key = (name, id(when))
    known = scope.refs.get(key)
    if known is None:
        span = (node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0)
        scope.refs[key] = (when, span, call, scope.handled_uses > 0)
    elif call and not known[2]:
        scope.refs[key] = (known[0], known[1], True, known[3])


def _call(walker: Walker, node: ast.Call, when: Condition, stack: list[ast.AST]) -> None:
    name = dotted(node.func)
    if name:
        _use(walker, name, node.func, when, True)
        last = name.rpartition(".")[2]
        if last in walker.call_hooks:
            walker.call_hooks[last](node, name, when)
    else:
        stack.append(node.func)
        if node.func.__class__ is ast.Attribute and node.func.attr in walker.call_hooks:  # type: ignore[attr-defined]
            attribute = node.func.attr  # type: ignore[attr-defined]
            walker.call_hooks[attribute](node, attribute, when)
    stack.extend(node.args)
    stack.extend(keyword.value for keyword in node.keywords)


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
    scan(walker, node.value, when)
    walker.bind_name(node.target.id, operand(node.value, walker.scope.names), node.target, when, node.value)


def _comprehension(
    walker: Walker, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, when: Condition
) -> None:
    for generator in node.generators:
        scan(walker, generator.iter, when)
        for name in ast.walk(generator.target):
            if isinstance(name, ast.Name):
                walker.scope.names[name.id] = ("opaque", name.lineno, name.col_offset, name.id)
                walker.scope.locals.add(name.id)
        for test in generator.ifs:
            scan(walker, test, when)
            when = both(when, condition(test, walker.scope.names))
    if isinstance(node, ast.DictComp):
        scan(walker, node.key, when)
        scan(walker, node.value, when)
    else:
        scan(walker, node.elt, when)


def _lambda(walker: Walker, node: ast.Lambda, when: Condition) -> None:
    for default in (*node.args.defaults, *node.args.kw_defaults):
        if default is not None:
            scan(walker, default, when)
    with walker.enter("lambda", "<lambda>", node, when, arguments=node.args) as scope:
        scan(walker, node.body, TRUE)
        scope.returns = either(FALSE, condition(node.body, scope.names))


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
    ast.Yield: _yield,  # type: ignore[dict-item]
    ast.YieldFrom: _yield,  # type: ignore[dict-item]
}
