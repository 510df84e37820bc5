"""A function pointer is missing in the list of pointers, or its public op in the exports of the ops package."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from veomni_opslint.facts import FileFacts, statements_of
from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.pointer_owners import PointerList
from veomni_opslint.model.pointers import NamedPlace, Pointer
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.WARNING)


def check(model: OpsModel) -> Iterator[Finding]:
    ops = model.symbols.modules.get(model.ops_package)
    if ops is None or ops.problem is not None:
        return
    exported = {name for name, _ in ops.exports} if ops.exports is not None else None
    bound = model.symbols.bindings(model.ops_package)
    for pointer in model.pointers:
        if not f"{pointer.module}.".startswith(f"{model.ops_package}."):
            continue
        op = _public_op(model, pointer)
        known = op is not None and op.name in bound
        unlisted = model.pointer_list if _is_unlisted(model.pointer_list, pointer) else None
        hidden = op if op is not None and exported is not None and op.name not in exported else None
        if unlisted is not None and hidden is not None and not known:
            yield rule.finding(pointer.place, _of_both(model, pointer, hidden, unlisted), _at_list(unlisted))
            continue
        if unlisted is not None:
            place = unlisted.place if known else pointer.place
            related = [Related(pointer.place, f"the pointer `{pointer.name}`")] if known else _at_list(unlisted)
            yield rule.finding(place, _of_pointer(pointer, unlisted), related)
        if hidden is not None:
            listing = _export_place(model, ops)
            yield rule.finding(
                listing if known else hidden.place,
                _of_op(model, hidden),
                [Related(hidden.place, f"`{hidden.name}` calls the pointer `{pointer.name}`")],
            )


def _is_unlisted(listing: PointerList | None, pointer: Pointer) -> bool:
    return listing is not None and listing.complete and pointer.name not in listing.names


def _public_op(model: OpsModel, pointer: Pointer) -> NamedPlace | None:
    """The one function by which users reach the pointer; None where it is reached as a value that is registered."""
    public = [one for one in pointer.public if not one.name.startswith("_")]
    if len(public) != 1 or public[0].name.startswith(model.dialect.pointer_setters):
        return None
    return None if _is_passed_on(model.module(pointer.module), public[0].name) else public[0]


def _is_passed_on(facts: FileFacts, name: str) -> bool:
    """Whether the module itself gives the function to somebody as a value."""
    nodes = [node for statement in statements_of(facts, facts.scopes[0]) for node in ast.walk(statement)]
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) and id(node) not in called
        for node in nodes
    )


def _export_place(model: OpsModel, ops: FileFacts) -> Place:
    return model.place(ops.path, model.symbols.bindings(model.ops_package)["__all__"][0].span)


def _at_list(listing: PointerList) -> list[Related]:
    return [Related(listing.place, f"what `{listing.function}` lists")]


def _of_pointer(pointer: Pointer, listing: PointerList) -> str:
    return (
        f"`{listing.function}` does not list the pointer `{pointer.name}` of {pointer.module}: the log of a job does "
        "not say which kernel it is bound to; add it to the list"
    )


def _of_op(model: OpsModel, op: NamedPlace) -> str:
    return (
        f"`__all__` of {model.ops_package} lacks the public op `{op.name}`: a star import does not give it, and "
        "readers of the package do not find it; add it"
    )


def _of_both(model: OpsModel, pointer: Pointer, op: NamedPlace, listing: PointerList) -> str:
    return (
        f"the pointer `{pointer.name}` is missing in `{listing.function}`, so the log of a job does not say which "
        f"kernel it is bound to, and its public op `{op.name}` in `__all__` of {model.ops_package}; add both there"
    )
