"""Slots that a helper function makes: what ``make_slot("rms_norm", "standard")`` gives is a slot as if written out."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Scope, TextParts, statements_of
from veomni_opslint.model.slots import ConfigSlotInfo, OpSlotInfo, slot_source
from veomni_opslint.model.symbols import Symbols
from veomni_opslint.places import place_of

Slot = OpSlotInfo | ConfigSlotInfo


class _Helper(NamedTuple):
    """A function that makes one slot and returns it."""

    slot: OpSlotInfo
    function: Scope
    op_name: TextParts
    variant: TextParts


def with_made(slots: tuple[Slot, ...], symbols: Symbols, package: str, dialect: Dialect) -> tuple[Slot, ...]:
    """The slots, with those that module-level code lets a helper make in the place of the one in the helper."""
    helpers = {(one.slot.module, one.function.index): one for one in _helpers(slots)}
    if not helpers:
        return slots
    made: list[Slot] = []
    used: set[int] = set()
    named = sorted({one.function.name for one in helpers.values()})
    for module in sorted(set().union(*(symbols.mentioning(name) for name in named))):
        if module != package and not module.startswith(f"{package}."):
            continue
        for call, names in _assigned_calls(symbols.modules[module]):
            for target in symbols.resolve(module, 0, dotted(call.func)):
                helper = helpers.get((target.module, target.scope)) if target.kind == "scope" else None
                if helper is not None and not target.rest:
                    made.append(_made(symbols, dialect, module, call, names, helper))
                    used.add(id(helper.slot))
    # A name that is given twice is the last one's, as for slots that are written out.
    return (*(slot for slot in slots if id(slot) not in used), *made)


def _helpers(slots: tuple[Slot, ...]) -> Iterator[_Helper]:
    for slot in slots:
        if not isinstance(slot, OpSlotInfo) or slot.at_module_level or slot.embedded or not slot.scope:
            continue
        facts = slot.namespace
        function = facts.scopes[slot.scope]
        own = [one for one in facts.slots if one.scope == slot.scope]
        plain = function.kind == "function" and function.parent == 0 and not function.is_generator
        if plain and len(own) == 1 and not function.decorators and _returns(facts, function, slot):
            yield _Helper(slot, function, own[0].op_name_parts, own[0].variant_parts)


def _returns(facts: FileFacts, function: Scope, slot: OpSlotInfo) -> bool:
    """Whether the slot is all that the function returns."""
    nodes = [node for statement in statements_of(facts, function) for node in ast.walk(statement)]
    held = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and span_of(node.value) == slot.span
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    returned = [node.value for node in nodes if isinstance(node, ast.Return)]
    return len(returned) == 1 and (
        (isinstance(returned[0], ast.Call) and span_of(returned[0]) == slot.span)
        or (isinstance(returned[0], ast.Name) and returned[0].id in held)
    )


def _assigned_calls(facts: FileFacts) -> Iterator[tuple[ast.Call, tuple[str, ...]]]:
    for statement in facts.tree.body if facts.tree is not None else ():
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.Call):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = tuple(one.id for one in targets if isinstance(one, ast.Name))
            if names and dotted(statement.value.func):
                yield statement.value, names


def _made(
    symbols: Symbols, dialect: Dialect, module: str, call: ast.Call, names: tuple[str, ...], helper: _Helper
) -> OpSlotInfo:
    facts = symbols.modules[module]
    given = _given(symbols, module, call, helper)
    values = [_value(symbols, parts, given, helper) for parts in (helper.op_name, helper.variant)]
    last = [one.span for one in facts.bindings if one.scope == 0 and one.name == names[-1]][-1:]
    live = not last or last[0] <= span_of(call)
    return OpSlotInfo(
        facts.path, module, names[-1], values[0], values[1], slot_source(facts.path, dialect), False, True, live,
        place_of(facts.path, facts.text, span_of(call)), span_of(call), names, 0, facts,
    )  # fmt: skip


def _given(symbols: Symbols, module: str, call: ast.Call, helper: _Helper) -> Mapping[str, str]:
    """The strings that parameters of the helper have in one call, as far as they are known."""
    arguments = helper.function.arguments
    if arguments is None or any(isinstance(one, ast.Starred) for one in call.args):
        return {}
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True)
    found = {one.arg: _string(symbols, helper.slot.module, default) for one, default in defaults}
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            found[one.arg] = _string(symbols, helper.slot.module, default)
    found |= {one.arg: _string(symbols, module, value) for one, value in zip(plain, call.args, strict=False)}
    if any(keyword.arg is None for keyword in call.keywords):
        return {}
    found |= {str(keyword.arg): _string(symbols, module, keyword.value) for keyword in call.keywords}
    return {name: value for name, value in found.items() if value is not None}


def _string(symbols: Symbols, module: str, node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    name = dotted(node)
    known = {symbols.literal(target) for target in symbols.resolve(module, 0, name)} if name else set()
    return known.pop() if len(known) == 1 else None


def _value(symbols: Symbols, parts: TextParts, given: Mapping[str, str], helper: _Helper) -> str | None:
    texts: list[str | None] = []
    for kind, text in parts:
        if kind == "name":
            texts.append(_string(symbols, helper.slot.module, ast.parse(text, mode="eval").body))
        else:
            texts.append(text if kind == "text" else given.get(text))
    return "".join(one for one in texts if one is not None) if texts and None not in texts else None
