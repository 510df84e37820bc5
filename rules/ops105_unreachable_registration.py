"""A module registers kernels or ops, but importing the ops package never loads it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import text_of
from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.factories import parsed
from veomni_opslint.model.symbols import Target
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)

_IMPORTERS = frozenset({"import_module", "__import__", "exec_module", "load_module", "run_path", "run_module"})


def check(model: OpsModel) -> Iterator[Finding]:
    registering = _registering(model) if model.ops_package in model.symbols.modules else {}
    loaded = _loaded_with(model, (model.package, model.ops_package, model.models_package))
    if all(module in loaded for module in registering):
        return
    loaded |= _loaded_with(model, _generated(model))
    if any(model.module(module).problem is not None or _loads_unknown_modules(model, module) for module in loaded):
        return
    for module, (place, what) in registering.items():
        if module not in loaded:
            nearest = module.rpartition(".")[0]
            while nearest not in loaded and "." in nearest:
                nearest = nearest.rpartition(".")[0]
            message = (
                f"{module} registers {what}, but nothing that `import {model.ops_package}` runs loads it: selecting it "
                f"fails as if it did not exist; import the module in the package {nearest}"
            )
            yield rule.finding(place, message, _late_importers(model, module))


def _registering(model: OpsModel) -> dict[str, tuple[Place, str]]:
    """For each module that registers something, its first registration."""
    found: dict[str, tuple[Place, str]] = {}
    for kernel in model.registrations.kernel_specs:
        place = kernel.place if kernel.place.path == model.module(kernel.module).path else kernel.caller
        found.setdefault(kernel.module, (place, f"{kernel.name!r} for {kernel.op_name}/{kernel.variant}"))
    for op in model.registrations.op_specs:
        found.setdefault(op.module, (op.place, f"the op {op.name!r}"))
    return found


def _generated(model: OpsModel) -> tuple[str, ...]:
    prefix = model.dialect.generated_prefix
    return tuple(name for name in model.symbols.modules if name.rpartition(".")[2].startswith(prefix))


def _loaded_with(model: OpsModel, roots: Iterable[str]) -> set[str]:
    """Modules that may be loaded when one of *roots* is: whatever no condition rules out."""
    found: set[str] = set()
    for root in roots:
        if root in model.symbols.modules and root not in found:
            found.update((root, *model.loading.closure(root, certain=False).via))
    return found


def _loads_unknown_modules(model: OpsModel, module: str) -> bool:
    """Whether loading a module imports others whose names are computed, itself or in a function that it calls."""
    facts = model.module(module)
    tree = parsed(facts.text) if any(f"{word}(" in facts.text for word in _IMPORTERS) else None
    if tree is not None and any(_imports_computed(node) for statement in tree.body for node in _run_at_load(statement)):
        return True
    for ref in facts.refs:
        if ref.call and facts.scopes[ref.scope].kind in ("module", "class"):
            for target in model.symbols.resolve(module, ref.scope, ref.name):
                if target.kind == "scope" and not target.rest and _function_imports_computed(model, target):
                    return True
    return False


def _function_imports_computed(model: OpsModel, target: Target) -> bool:
    facts = model.module(target.module)
    text = text_of(facts, facts.scopes[target.scope].span)
    if not any(f"{word}(" in text for word in _IMPORTERS):
        return False
    tree = parsed(facts.text)
    line = facts.scopes[target.scope].span[0]
    return any(
        _imports_computed(inner)
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.FunctionDef) and node.lineno == line
        for inner in ast.walk(node)
    )


def _imports_computed(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or dotted(node.func).rpartition(".")[2] not in _IMPORTERS:
        return False
    return not node.args or not isinstance(node.args[0], ast.Constant)


def _run_at_load(statement: ast.stmt) -> Iterator[ast.AST]:
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
            pending.extend(ast.iter_child_nodes(node))


def _late_importers(model: OpsModel, module: str) -> Iterator[Related]:
    last = module.rpartition(".")[2]
    for other, facts in model.modules_in(model.package):
        for imported in facts.imports if last in facts.text else ():
            if imported.scope and other != module and module in model.symbols.loaded_by(other, imported):
                name = facts.scopes[imported.scope].qualname
                yield Related(model.place(facts.path, imported.span), f"{other} imports it only when {name}() runs")
