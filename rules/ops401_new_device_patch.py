"""A device_patch.py, or a caller of apply_per_model_patches, beyond the models that may have one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from veomni_opslint.conditions import Condition, possible
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Import, ImportedName, Span
from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.symbols import Target
from veomni_opslint.model.test_paths import is_test
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)


def check(model: OpsModel) -> Iterator[Finding]:
    if not model.has_registry:
        return
    patches = [module for module, facts in model.modules_in(model.package) if _is_device_patch(model, module, facts)]
    permitted = [module for module in patches if _permitted(model, module)]
    old = _for_old_transformers(model, patches) if len(permitted) < len(patches) else set()
    uses = _uses(model, {*permitted, *old})
    new = [module for module in patches if module not in permitted and module not in old]
    for module in new:
        path = model.module(module).path
        calls = [Related(model.place(path, span), "patches the model here") for span in sorted(uses.pop(module, ()))]
        yield rule.finding(Place(path, 1), _of_file(model, module), [*calls, *_alternative(model)])
    for module, spans in sorted(uses.items()):
        for span in sorted(spans) if not _within(module, new) else ():
            yield rule.finding(model.place(model.module(module).path, span), _of_caller(model), _alternative(model))


def _is_device_patch(model: OpsModel, module: str, facts: FileFacts) -> bool:
    return module.rpartition(".")[2] == model.dialect.device_patch and not is_test(facts.path)


def _permitted(model: OpsModel, module: str) -> bool:
    folder = module.rpartition(".")[0]
    in_models = folder.startswith(model.models_package + ".")
    return in_models and folder.rpartition(".")[2] in model.dialect.device_patch_models


def _for_old_transformers(model: OpsModel, patches: list[str]) -> set[str]:
    """The device patches that, directly or by way of a module, serve a Transformers for which nothing is generated."""
    users: dict[str, list[tuple[str, Import]]] = {}
    for module, facts in model.symbols.modules.items():
        for imported in facts.imports:
            for target in model.symbols.loaded_by(module, imported):
                if target != module:
                    users.setdefault(target, []).append((module, imported))

    def is_old(patch: str) -> bool:
        steps = list(users.get(patch, ()))
        steps += [step for module, _ in steps for step in users.get(module, ())]
        return any(not possible(step.when, _with_new_transformers(model, user, step)) for user, step in steps)

    return {patch for patch in patches if is_old(patch)}


def _with_new_transformers(model: OpsModel, module: str, imported: Import) -> Callable[[Condition], bool | None]:
    """What conditions say with the new Transformers, and whether the functions called before the import return."""

    def value_of(atom: Condition) -> bool | None:
        if atom[0] != "completes" or len(atom) > 2:
            return _is_new_transformers(atom)
        for target in model.symbols.resolve(module, imported.scope, str(atom[1])):
            if target.kind == "scope" and not target.rest:
                scope = model.deep(target.module).scopes[target.scope]
                if scope.kind == "function" and not possible(scope.completes, _is_new_transformers):
                    return False
        return None

    return value_of


def _is_new_transformers(atom: Condition) -> bool | None:
    asked = str(atom[1]).lower() if atom[0] == "call" else ""
    return True if "transformers" in asked and "version" in asked else None


def _uses(model: OpsModel, permitted: set[str]) -> dict[str, set[Span]]:
    """Where each module uses the patching function; where it only imports it, unless to pass it on, the import."""
    name = model.dialect.apply_per_model_patches
    mentioning = {
        module: facts
        for module, facts in model.symbols.modules.items()
        if name in facts.text and not is_test(facts.path) and not _within(module, permitted)
    }
    definitions = {
        Target("scope", module, name, binding.target_scope)
        for module in mentioning
        for binding in model.symbols.bindings(module).get(name, ())
        if binding.kind == "scope"
    }
    passing_on = {package for one in definitions for package in _enclosing(one.module)}
    renamed = {one.bound for facts in mentioning.values() for one in _imported(facts, name)} - {name}
    found: dict[str, set[Span]] = {}
    for module, facts in model.symbols.modules.items() if renamed else mentioning.items():
        if is_test(facts.path) or _within(module, permitted) or not any(one in facts.text for one in (name, *renamed)):
            continue
        spans = set(_resolved_uses(model, module, definitions, {name, *renamed}))
        if not spans and module not in passing_on:
            passed_on = {exported for exported, _ in facts.exports or ()}
            imported = (one.span for one in _imported(facts, name) if one.bound not in passed_on)
            spans = {*imported, *_uses_by_text(model, module, name)}
        spans.update(_uses_in_blocks(facts, name))
        if spans:
            found[module] = spans
    return found


def _within(module: str, packages: Iterable[str]) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


def _resolved_uses(model: OpsModel, module: str, definitions: set[Target], names: set[str]) -> Iterator[Span]:
    shallow = model.module(module)
    written = any(f".{name}" in shallow.text for name in names)
    bound = {one.bound for imported in shallow.imports for one in imported.names}
    if not written and names.isdisjoint(bound) and "import *" not in shallow.text:
        return
    facts = model.deep(module)
    for ref in facts.refs:
        if ref.name.rpartition(".")[2] in names:
            targets = model.symbols.resolve_deep(facts, module, ref.scope, ref.name)
            if not definitions.isdisjoint(targets) and all(target.module != module for target in targets):
                yield ref.span


def _enclosing(module: str) -> Iterator[str]:
    while module:
        yield module
        module = module.rpartition(".")[0]


def _imported(facts: FileFacts, name: str) -> Iterator[ImportedName]:
    yield from (one for imported in facts.imports for one in imported.names if one.name == name)


def _uses_in_blocks(facts: FileFacts, name: str) -> Iterator[Span]:
    for block in facts.embedded:
        if block.facts is None or name not in block.facts.text:
            continue
        imported = {one.span for one in _imported(block.facts, name)}
        used = {ref.span for ref in block.facts.refs if ref.name.rpartition(".")[2] == name}
        yield from used or imported


def _uses_by_text(model: OpsModel, module: str, name: str) -> Iterator[Span]:
    """``import_module(…).name``, ``getattr(…, "name")``, and the name as a string that patch generation imports."""
    facts = model.module(module)
    if facts.problem is not None or not any(
        written in facts.text for written in (f'"{name}"', f"'{name}'", f").{name}")
    ):
        return
    by_name = ("getattr", model.dialect.add_import)
    for node in ast.walk(ast.parse(facts.text)):
        if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.value, ast.Call):
            if dotted(node.value.func).rpartition(".")[2] == "import_module":
                yield span_of(node)
        elif isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in by_name:
            yield from (
                span_of(inner) for inner in ast.walk(node) if isinstance(inner, ast.Constant) and inner.value == name
            )


def _of_file(model: OpsModel, module: str) -> str:
    name = module.rpartition(".")[0].rpartition(".")[2]
    return (
        f"`{name}` gets a {model.dialect.device_patch}.py, but only {_permitted_models(model)} may have one: "
        f"{_consequence(model)}"
    )


def _of_caller(model: OpsModel) -> str:
    return (
        f"`{model.dialect.apply_per_model_patches}` is used outside the {model.dialect.device_patch}.py of "
        f"{_permitted_models(model)}: {_consequence(model)}"
    )


def _permitted_models(model: OpsModel) -> str:
    *first, last = model.dialect.device_patch_models or ("no model",)
    return f"{', '.join(first)} and {last}" if first else last


def _consequence(model: OpsModel) -> str:
    return (
        "it rewrites the Transformers module for every model of the process and past the kernel registry; "
        f"declare an {model.dialect.op_slot} in the model's patch config and register the kernel for it"
    )


def _alternative(model: OpsModel) -> list[Related]:
    name = model.dialect.op_slot
    return [
        Related(model.place(facts.path, binding.span), f"{name}, which takes the place of device patches")
        for module, facts in model.modules_in(model.ops_package)
        for binding in model.symbols.bindings(module).get(name, ())
        if binding.kind == "scope"
    ][:1]
