"""Declarations of slots: ``name = OpSlot("op", "variant")`` and ``name = OpsConfigSlot("field")``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from veomni_opslint.conditions import Condition
from veomni_opslint.extract.operands import Names, operand
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import SlotCall, TextParts

if TYPE_CHECKING:
    from veomni_opslint.extract.walk import Walker

_PARAMETERS = {"op": ("op_name", "variant"), "config": ("field_name",)}
_MAX_DEPTH = 20


def mark_slots(walker: Walker, targets: Sequence[ast.expr], value: ast.expr, depth: int = 0) -> None:
    """Remember to which targets an assignment gives the calls that its value consists of."""
    kind = value.__class__
    if kind is ast.Call:
        walker.slot_targets[id(value)] = targets
    elif depth > _MAX_DEPTH:
        return
    elif isinstance(value, ast.IfExp):
        mark_slots(walker, targets, value.body, depth + 1)
        mark_slots(walker, targets, value.orelse, depth + 1)
    elif isinstance(value, ast.BoolOp):
        for one in value.values:
            mark_slots(walker, targets, one, depth + 1)
    elif isinstance(value, ast.NamedExpr):
        mark_slots(walker, [*targets, value.target], value.value, depth + 1)
    elif isinstance(value, ast.Tuple | ast.List):
        for target in targets:
            if isinstance(target, ast.Tuple | ast.List) and len(target.elts) == len(value.elts):
                for element, one in zip(target.elts, value.elts, strict=True):
                    mark_slots(walker, [element], one, depth + 1)


def slot_call(walker: Walker, node: ast.Call, name: str, when: Condition, kind: Literal["op", "config"]) -> None:
    """Record the creation of a slot, and the module-level names that it is assigned to, if any."""
    names = walker.scope.names
    parameters = _PARAMETERS[kind]
    values = dict(zip(parameters, (_parts(argument, names) for argument in node.args), strict=False))
    values.update({keyword.arg: _parts(keyword.value, names) for keyword in node.keywords if keyword.arg in parameters})
    bound = [target.id for target in walker.slot_targets.get(id(node), ()) if isinstance(target, ast.Name)]
    visible = [one for one in bound if walker.scope.kind == "module" or one in walker.scope.globals]
    op_name, variant = values.get(parameters[0], ()), values.get("variant", ())
    walker.slots.append(
        SlotCall(
            kind=kind,
            scope=walker.scope.index,
            var=(visible or bound or [""])[-1],
            op_name=_known(op_name),
            variant=_known(variant),
            span=span_of(node),
            when=when,
            at_module_level=bool(visible),
            callee=name,
            names=tuple(visible),
            op_name_parts=op_name,
            variant_parts=variant,
        )
    )


def _parts(node: ast.expr, names: Names, depth: int = 0) -> TextParts:
    """The string as written texts, and names and parameters that others know; empty when it is none of that."""
    if depth > _MAX_DEPTH:
        return ()
    if isinstance(node, ast.JoinedStr):
        return _joined(node.values, names, depth)
    if isinstance(node, ast.FormattedValue):
        plain = node.conversion == -1 and node.format_spec is None
        return _parts(node.value, names, depth + 1) if plain else ()
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _joined([node.left, node.right], names, depth)
    value = operand(node, names)
    if value[0] == "const" and isinstance(value[1], str):
        return (("text", value[1]),)
    kind = value[0]
    return ((kind, str(value[1])),) if kind == "name" or (kind == "param" and "." not in str(value[1])) else ()


def _joined(nodes: Sequence[ast.expr], names: Names, depth: int) -> TextParts:
    pieces = [_parts(node, names, depth + 1) for node in nodes]
    return tuple(part for piece in pieces for part in piece) if all(pieces) else ()


def _known(parts: TextParts) -> str | None:
    return "".join(text for _, text in parts) if parts and all(kind == "text" for kind, _ in parts) else None
