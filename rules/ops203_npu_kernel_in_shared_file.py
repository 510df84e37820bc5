"""An NPU implementation is defined in the file that also has the implementation for other devices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.facts import FileFacts, Import, text_of
from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.factory_needs import scope_at, scopes_mentioned
from veomni_opslint.registrations import Backend, Factory, Hardware, KernelSpec
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.WARNING)

_ASSIGNED = re.compile(r"\s*(\w+)\s*(?::[^=]*)?=\s*")


class _Implementation(NamedTuple):
    """One implementation of an op: the definition that it starts from, and where it is registered."""

    op_name: str
    name: str
    for_npu: bool
    module: str
    scope: int
    by_factory: bool
    place: Place


def check(model: OpsModel) -> Iterator[Finding]:
    implementations = [*_kernels(model), *_backends(model)]
    reported: set[Place] = set()
    for one in implementations:
        if not one.for_npu or one.scope < 0 or model.is_npu_name(one.module):
            continue
        beside = [other for other in implementations if _is_beside(model, one, other)]
        place = _npu_code(model, one, beside) if beside else None
        if place is not None and place not in reported:
            reported.add(place)
            yield _finding(one, beside[0], place)


def _kernels(model: OpsModel) -> Iterator[_Implementation]:
    for spec in model.registrations.kernel_specs:
        module, scope = spec.module, -1
        if isinstance(spec.factory, Factory) and spec.factory.module in model.symbols.modules:
            module = spec.factory.module
            scope = scope_at(model.module(module), spec.factory)
        yield _Implementation(spec.op_name, spec.name, _is_for_npu(model, spec), module, scope, True, spec.place)


def _is_for_npu(model: OpsModel, spec: KernelSpec) -> bool:
    types = spec.hardware.device_type if isinstance(spec.hardware, Hardware) else None
    listed = (types,) if isinstance(types, str) else types if isinstance(types, tuple) else ()
    return bool(listed) and all(one in model.dialect.npu_device_types for one in listed)


def _backends(model: OpsModel) -> Iterator[_Implementation]:
    for spec in model.registrations.op_specs:
        for name, backend in spec.backends if isinstance(spec.backends, tuple) else ():
            if isinstance(backend.entry, str):
                module, _, attribute = backend.entry.partition(":")
                scopes = [
                    target
                    for target in (
                        model.symbols.attribute(module, attribute) if module in model.symbols.modules else ()
                    )
                    if target.kind == "scope" and not target.rest
                ]
                holder, scope = (scopes[0].module, scopes[0].scope) if scopes else (module, -1)
                for_npu, by_factory = _requires_npu(model, backend), backend.entry_is_factory is True
                yield _Implementation(spec.name, name, for_npu, holder, scope, by_factory, backend.place)


def _requires_npu(model: OpsModel, backend: Backend) -> bool:
    return isinstance(backend.requires, tuple) and any(one in model.dialect.npu_packages for one in backend.requires)


def _is_beside(model: OpsModel, one: _Implementation, other: _Implementation) -> bool:
    """Whether another implementation, not for NPUs, is in the file or registered there, or shares the op's package."""
    if other.for_npu:
        return False
    path = model.module(one.module).path
    own_package = one.module in model.symbols.packages and other.op_name == one.op_name
    return other.module == one.module or other.place.path == path or own_package


def _npu_code(model: OpsModel, one: _Implementation, beside: list[_Implementation]) -> Place | None:
    """The first definition for this implementation alone that uses an NPU package itself.

    A factory that only imports what it returns is no kernel, nor is a function that serves other devices as well.
    """
    facts = model.module(one.module)
    found = set(_using_npu(model, facts))
    if found:
        found &= scopes_mentioned(facts, one.scope) - ({one.scope} if one.by_factory else set())
        for other in beside:
            if other.module == one.module and other.scope >= 0:
                found -= scopes_mentioned(facts, other.scope)
    return model.place(facts.path, facts.scopes[min(found)].span) if found else None


def _using_npu(model: OpsModel, facts: FileFacts) -> Iterator[int]:
    imports = [imported for imported in facts.imports if model.npu_modules.packages_of(imported)]
    names = {imported.bound for imported in imports} | {name.bound for one in imports for name in one.names}
    names -= {"", "torch"}
    for imported in imports:
        yield imported.scope
        held = _name_held(facts, imported) if imported.how in ("import_module", "__import__") else ""
        if held:
            names.add(held)
            yield from _inner_users(facts, imported.scope, held)
    prefixes = tuple(f"{package}." for package in model.dialect.npu_packages)
    for ref in facts.refs:
        if ref.name.startswith(prefixes) or ref.name.partition(".")[0] in names:
            yield ref.scope
    for scope in facts.scopes:
        # What a definition is based on, or decorated with, is used by the scope around it.
        for name in (*scope.bases, *scope.decorators):
            if name.startswith(prefixes) or name.partition(".")[0] in names:
                yield scope.index


def _name_held(facts: FileFacts, imported: Import) -> str:
    """The name that the result of a dynamic import is assigned to."""
    line, column, _, _ = imported.span
    found = _ASSIGNED.fullmatch(text_of(facts, (line, 0, line, column)))
    return found[1] if found is not None else ""


def _inner_users(facts: FileFacts, scope: int, name: str) -> Iterator[int]:
    """The definitions in a function that use a local name of it."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    inside = {scope} if scope else set()
    for one in facts.scopes[scope + 1 :]:
        if one.parent in inside:
            inside.add(one.index)
            if word.search(text_of(facts, one.span)):
                yield one.index


def _finding(one: _Implementation, beside: _Implementation, place: Place) -> Finding:
    message = (
        f"the NPU implementation `{one.name}` of `{one.op_name}` is written in a file that is shared with "
        f"`{beside.name}`: a change of one risks the other, and one import at the wrong place breaks every host "
        "without an NPU; move it to a file of its own, such as `npu.py`, and import that in the factory"
    )
    related = [Related(one.place, f"`{one.name}` is registered here")]
    return rule.finding(place, message, [*related, Related(beside.place, f"`{beside.name}` is registered here")])
