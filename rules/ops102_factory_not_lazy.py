"""`factory=` of a kernel spec is not a zero-argument callable that imports its dependency when it is called."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.factories import Definition, definition, known_factories, required_arguments
from veomni_opslint.model.factory_places import given_at
from veomni_opslint.registrations import Factory, KernelSpec
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)

_MAKERS = ("factory", "make", "build", "create", "get_", "load", "lazy", "cache", "defer", "once", "memo", "resolve")
_UNCALLABLE_BASES = frozenset({"torch.autograd.Function", "autograd.Function", "Function"})
_REMEDY = "give a function without arguments that imports the kernel and returns it"


def check(model: OpsModel) -> Iterator[Finding]:
    seen: set[Place] = set()
    for spec, factory in known_factories(model.registrations):
        found = definition(model, factory)
        fault = _fault(model, factory, found)
        if fault:
            slot = f"{spec.op_name}/{spec.variant}"
            message = f"the factory of {spec.name!r} for {slot} {fault}; {_REMEDY}"
            place = given_at(model, spec, factory)
            if place not in seen:
                seen.add(place)
                yield rule.finding(place, message, _related(spec, factory, place))


def _fault(model: OpsModel, factory: Factory, found: Definition | None) -> str:
    if factory.kind == "other":
        return "is a value that cannot be called, so selecting the kernel raises TypeError"
    if factory.kind == "external":
        if not _may_make_one(factory.dotted):
            return f"is {factory.dotted} itself: it is imported at once, and is called without arguments when selected"
        return ""
    if factory.kind == "call":
        if not _may_make_one(factory.dotted) and not _may_make_one(factory.text):
            return f"is the result of calling {factory.dotted} while the ops package is loaded"
        return ""
    if found is None:
        return ""
    if found.scope.kind == "class":
        return _class_fault(factory, found)
    needed = required_arguments(found.scope, factory)
    if needed:
        names = ", ".join(needed)
        return f"needs {names}, but is called without arguments: it raises TypeError when the kernel is selected"
    return _closed_over(model, found)


def _class_fault(factory: Factory, found: Definition) -> str:
    scope = found.scope
    if _UNCALLABLE_BASES & set(scope.bases):
        return f"is the class {scope.name}, whose objects cannot be called"
    for inner in found.facts.scopes:
        if inner.parent == scope.index and inner.name == "__init__":
            receiver = Factory(
                factory.kind, "", factory.written, bound=factory.bound + 1, bound_names=factory.bound_names
            )
            needed = required_arguments(inner, receiver)
            if needed:
                return f"is the class {scope.name}, which needs {', '.join(needed)} and is called without arguments"
    return ""


def _closed_over(model: OpsModel, found: Definition) -> str:
    """The optional package that the module of a factory imports at once and that the factory uses."""
    eager = {
        name: package
        for step in model.loading.steps(found.module)
        if not step.tried and step.scope == 0 and step.module == found.module
        for package in model.implementations.packages(step.imported)
        for name in (step.imported.bound, *(one.bound for one in step.imported.names))
        if name
    }
    if not eager:
        return ""
    facts = model.deep(found.module)
    inside = {found.scope.index}
    for scope in facts.scopes:
        if scope.parent in inside:
            inside.add(scope.index)
    own = {
        name
        for imported in facts.imports
        if imported.scope in inside
        for name in (imported.bound, *(one.bound for one in imported.names))
    }
    for ref in facts.refs:
        root = ref.name.partition(".")[0]
        if ref.scope in inside and root in eager and root not in own:
            return f"uses {root} of {eager[root]}, which its module imports at once instead of when it is called"
    return ""


def _may_make_one(name: str) -> bool:
    last = name.rpartition(".")[2].lower()
    return any(word in last for word in _MAKERS)


def _related(spec: KernelSpec, factory: Factory, place: Place) -> Iterator[Related]:
    if factory.place is not None and factory.place != place:
        yield Related(factory.place, f"{factory.qualname} is defined here")
    yield Related(spec.spec_place, f"the spec of {spec.name!r} for {spec.op_name}/{spec.variant}")
