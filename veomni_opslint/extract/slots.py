"""Declarations of slots: ``name = OpSlot("op", "variant")`` and ``name = OpsConfigSlot("field")``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Literal

from veomni_opslint.conditions import Condition
from veomni_opslint.extract.operands import operand
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import SlotCall

if TYPE_CHECKING:
    from veomni_opslint.extract.walk import Walker

_PARAMETERS = {"op": ("op_name", "variant"), "config": ("field_name",)}


def slot_call(walker: Walker, node: ast.Call, name: str, when: Condition, kind: Literal["op", "config"]) -> None:
    """Record the creation of a slot, and the module-level name that it is assigned to, if any."""
    values = [_string(walker, argument) for argument in node.args]
    parameters = _PARAMETERS[kind]
    by_name = dict(zip(parameters, values, strict=False))
    for keyword in node.keywords:
        if keyword.arg in parameters:
            by_name[keyword.arg] = _string(walker, keyword.value)
    var, at_module_level = walker.slot_targets.get(id(node), ("", False))
    walker.slots.append(
        SlotCall(
            kind=kind,
            scope=walker.scope.index,
            var=var,
            op_name=by_name.get(parameters[0]),
            variant=by_name.get("variant"),
            span=span_of(node),
            when=when,
            at_module_level=at_module_level and walker.scope.kind == "module",
            callee=name,
        )
    )


def _string(walker: Walker, node: ast.expr) -> str | None:
    value = operand(node, walker.scope.names)
    return value[1] if value[0] == "const" and isinstance(value[1], str) else None
