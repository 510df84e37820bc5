"""`factory=` of a kernel spec is not a zero-argument callable that imports its dependency when it is called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Import
from veomni_opslint.findings import Finding, Fix, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.factories import (
    Definition,
    definition,
    function_node,
    known_factories,
    required_arguments,
)
from veomni_opslint.model.factory_places import given_at
from veomni_opslint.proposals import Edit, NotPossibleError, Proposal, extent, module_of
from veomni_opslint.registrations import Factory, KernelSpec
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)

_MAKERS = ("factory", "make", "build", "create", "get_", "load", "lazy", "cache", "defer", "once", "memo", "resolve")
_MAKER = re.compile(r"(?:^|[._])(?:factory|make|build|create|get|load)(?:_kernel|_factory)?s?(?:_for|$)|_factory$")
_UNCALLABLE_BASES = frozenset({"torch.autograd.Function", "autograd.Function", "Function"})
_UNCLEAR = "whether it is the kernel, or a factory that needs too much, only its author knows"
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


def fix(model: OpsModel, finding: Finding) -> Proposal | None:
    from veomni_opslint.model.expression_places import Surroundings, expression_at  # noqa: PLC0415 - for findings only

    facts = model.files[finding.place.path]
    for spec, factory in known_factories(model.registrations):
        if given_at(model, spec, factory) == finding.place:
            node = expression_at(facts, finding.place)
            around = Surroundings.of(facts, node) if node is not None else None
            if node is None or around is None:
                raise NotPossibleError("the spec is made in another way than by writing its factory there")
            eager = _eager_import(model, module_of(model, finding.place.path), factory, node)
            if eager is not None:
                from veomni_opslint.deferral import deferral  # noqa: PLC0415 - as above

                return deferral(model, *eager)
            if around.depends_on_loop:
                raise NotPossibleError("the value changes with the loop, so that a factory would see the last one")
            return _written_anew(model, facts, finding.place, factory, node, around.is_plain)
    raise NotPossibleError("the spec is made in another way than by writing its factory there")


def _written_anew(
    model: OpsModel, facts: FileFacts, place: Place, factory: Factory, node: ast.expr, plain: bool
) -> Proposal:
    """The value as a factory, where it can be known what it was meant to be."""
    start, end = extent(facts.text, place)
    text = facts.text[start:end]
    if isinstance(node, ast.Call):
        makes = _is_factory(model, module_of(model, facts.path), node.func)
        if makes and not (node.args or node.keywords):
            called = Edit(start + len(text) - len(text[text.rindex("(") :]), end, "")
            return Proposal(Fix("give the factory instead of calling it", safe=plain), lambda: (called,))
        if isinstance(node.func, ast.Lambda) and not (node.args or node.keywords):
            uncalled = Edit(start, end, facts.text[slice(*extent(facts.text, _place(model, facts, node.func)))])
            return Proposal(Fix("give the factory instead of calling it", safe=plain), lambda: (uncalled,))
        if isinstance(node.func, ast.Lambda) or (factory.kind == "partial" and _makes(model, factory)):
            raise NotPossibleError(_UNCLEAR)
        lazily = Fix("call it when the kernel is selected", safe=False)
        return Proposal(lazily, lambda: (Edit(start, end, f"lambda: {text}"),))
    if isinstance(node, ast.Lambda):
        return _lambda_anew(model, facts, node)
    if not isinstance(node, ast.Name | ast.Attribute) or factory.kind in ("partial", "other", "lambda"):
        raise NotPossibleError(_UNCLEAR)
    found = definition(model, factory)
    if found is not None and found.scope.kind == "class":
        if not _UNCALLABLE_BASES & set(found.scope.bases):
            raise NotPossibleError(_UNCLEAR)
        applied = Fix("return its `apply` from a factory", safe=False)
        return Proposal(applied, lambda: (Edit(start, end, f"lambda: {text}.apply"),))
    if _makes(model, factory):
        raise NotPossibleError(_UNCLEAR)
    from veomni_opslint.deferral import factory_there  # noqa: PLC0415 - only a finding needs it

    there = factory_there(facts, node)
    if there:
        return Proposal(Fix(f"give `{there}`, which returns it", safe=plain), lambda: (Edit(start, end, there),))
    returned = Fix("return the kernel from a factory", safe=plain and found is not None)
    return Proposal(returned, lambda: (Edit(start, end, f"lambda: {text}"),))


def _lambda_anew(model: OpsModel, facts: FileFacts, node: ast.Lambda) -> Proposal:
    """A lambda with arguments: one that ignores them is a factory, one that uses them is the kernel."""
    arguments = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    start, end = extent(facts.text, _place(model, facts, node))
    body = facts.text[slice(*extent(facts.text, _place(model, facts, node.body)))]
    if arguments & {one.id for one in ast.walk(node.body) if isinstance(one, ast.Name)}:
        inner = Edit(start, end, f"lambda: {facts.text[start:end]}")
        return Proposal(Fix("return the lambda from a factory", safe=False), lambda: (inner,))
    if not isinstance(node.body, ast.Name | ast.Attribute):
        raise NotPossibleError(_UNCLEAR)
    without = Edit(start, end, f"lambda: {body}")
    return Proposal(Fix("take away the arguments, which are not used", safe=False), lambda: (without,))


def _place(model: OpsModel, facts: FileFacts, node: ast.expr) -> Place:
    return model.place(facts.path, span_of(node))


def _eager_import(model: OpsModel, module: str, factory: Factory, node: ast.expr) -> tuple[str, Import] | None:
    """The import at module level that makes the factory eager, and the module that it is in."""
    found = definition(model, factory)
    if found is not None and factory.kind in ("function", "lambda", "partial"):
        used = _name_closed_over(model, found)
        if used in (eager := _eager_names(model, found.module)):
            return found.module, eager[used][0]
    root = ast.unparse(node).partition(".")[0]
    eager = _eager_names(model, module)
    return (module, eager[root][0]) if root in eager else None


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
    name = _name_closed_over(model, found)
    if not name:
        return ""
    package = _eager_names(model, found.module)[name][1]
    return f"uses {name} of {package}, which its module imports at once instead of when it is called"


def _name_closed_over(model: OpsModel, found: Definition) -> str:
    eager = _eager_names(model, found.module)
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
            return root
    return ""


def _eager_names(model: OpsModel, module: str) -> dict[str, tuple[Import, str]]:
    """Names that a module takes from an optional package when it is loaded: the import, and the package."""
    return {
        name: (step.imported, package)
        for step in model.loading.steps(module)
        if not step.tried and step.scope == 0 and step.module == module
        for package in model.implementations.packages(step.imported)
        for name in (step.imported.bound, *(one.bound for one in step.imported.names))
        if name
    }


def _may_make_one(name: str) -> bool:
    last = name.rpartition(".")[2].lower()
    return any(word in last for word in _MAKERS)


def _related(spec: KernelSpec, factory: Factory, place: Place) -> Iterator[Related]:
    if factory.place is not None and factory.place != place:
        yield Related(factory.place, f"{factory.qualname} is defined here")
    yield Related(spec.spec_place, f"the spec of {spec.name!r} for {spec.op_name}/{spec.variant}")


def _makes(model: OpsModel, factory: Factory) -> bool:
    """Whether what needs arguments seems to be a factory that was given too few, and no kernel."""
    found = definition(model, factory)
    return _MAKER.search(factory.qualname or factory.dotted) is not None or (
        found is not None and _returns_function(found)
    )


def _returns_function(found: Definition) -> bool:
    """Whether a function makes another one, so that it is a factory whose arguments are missing, and no kernel."""
    node = function_node(found)
    if node is None or isinstance(node, ast.Lambda):
        return False
    module_functions = {scope.name for scope in found.facts.scopes if scope.kind == "function" and scope.parent == 0}
    own = {one.name for one in ast.walk(node) if isinstance(one, ast.FunctionDef) and one is not node}
    own |= {one.asname or one.name for one in ast.walk(node) if isinstance(one, ast.alias)}
    imported = {one.bound for statement in found.facts.imports for one in statement.names}
    returned = [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
    return any(
        isinstance(value, ast.Lambda) or (isinstance(value, ast.Name) and value.id in module_functions | own | imported)
        for value in returned
    )


def _is_factory(model: OpsModel, module: str, called: ast.expr) -> bool:
    """Whether a function of the project that can be called without arguments."""
    for target in model.symbols.resolve(module, 0, ast.unparse(called)):
        if target.kind == "scope" and not target.rest and target.module in model.symbols.modules:
            scope = model.module(target.module).scopes[target.scope]
            if scope.kind == "function" and all(
                one.has_default or one.kind in ("var", "kwvar") for one in scope.parameters
            ):
                return True
    return False
