"""Code that depends on the ops configuration, or on one model, runs when the package is imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Scope, Span
from veomni_opslint.findings import Finding, Place, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.import_time import Chain, ImportTime, RunCall, running_code
from veomni_opslint.model.test_paths import is_test
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)

_HF_MODELS = "transformers.models."


def check(model: OpsModel) -> Iterator[Finding]:
    yield from _config_reads(model)
    yield from _model_patches(model)
    yield from _slot_reads(model)


def _config_reads(model: OpsModel) -> Iterator[Finding]:
    run = ImportTime(model.symbols, model.loading)
    patchers: dict[str, bool] = {}
    names = (*model.dialect.config_readers, *model.dialect.config_appliers, model.dialect.apply_per_model_patches)
    seen: set[Place] = set()
    for module, facts in model.modules_in(model.package):
        if is_test(facts.path) or facts.problem is not None:
            continue
        for chain in run.chains(module, lambda there, scope: _depends(model, there, scope, names, patchers)):
            at = _to_blame(model, chain)
            place = _place(model, chain[at])
            if place not in seen:
                seen.add(place)
                yield rule.finding(place, _message(model, chain, at), _links(model, chain, at))


def _depends(model: OpsModel, module: str, index: int, names: tuple[str, ...], patchers: dict[str, bool]) -> bool:
    """*patchers* is kept from call to call: which modules may patch a model."""
    scope = model.module(module).scopes[index]
    if scope.kind != "function" or scope.parent != 0:
        return False
    if scope.name in names or _chooses_a_kernel(model, module, scope):
        return True
    if module not in patchers:
        patchers[module] = _may_patch_a_model(model, module)
    return patchers[module] and _patches_a_model(model, module, index)


def _chooses_a_kernel(model: OpsModel, module: str, scope: Scope) -> bool:
    """Whether a function binds a pointer to the kernel that it is given, and others give it one."""
    if not scope.parameters or not any(
        one.name == scope.name for pointer in model.pointers if pointer.module == module for one in pointer.apply
    ):
        return False
    given = re.compile(rf"(?<!def )\b{re.escape(scope.name)}\(\s*[^\s)]")
    return any(
        one != model.ops_package and one != module and not is_test(facts.path) and given.search(facts.text) is not None
        for one, facts in model.modules_in(model.package)
        if scope.name in facts.text
    )


def _may_patch_a_model(model: OpsModel, module: str) -> bool:
    """Whether a module outside the models package imports something of a model."""
    return not _within(module, model.models_package) and any(
        _is_of_model(model, model.symbols.absolute(module, one)) for one in model.module(module).imports
    )


def _patches_a_model(model: OpsModel, module: str, index: int) -> bool:
    """Whether a function replaces attributes of a model."""
    facts = model.module(module)
    return any(_replaces(model, module, index, node) for node in running_code(facts, facts.scopes[index]))


def _to_blame(model: OpsModel, chain: Chain) -> int:
    """The call to move: the first of a function that is not there only to be run at import."""
    for index, call in enumerate(chain[:-1]):
        name = model.module(call.callee).scopes[call.scope].name
        uses = re.compile(rf"(?<!def )\b{re.escape(name)}\(")
        count = sum(
            len(uses.findall(facts.text))
            for facts in model.symbols.modules.values()
            if name in facts.text and not is_test(facts.path)
        )
        if count > 1 or name == "__init__":
            return index
    return len(chain) - 1


def _model_patches(model: OpsModel) -> Iterator[Finding]:
    """Modules outside the models package that patch a model when they are loaded, which importing the package does."""
    for root in (model.package, model.ops_package):
        if root not in model.symbols.modules:
            continue
        closure = model.loading.closure(root, certain=False)
        for module in (root, *closure.via):
            facts = model.symbols.modules[module]
            if _within(module, model.models_package) or is_test(facts.path) or not _within(module, model.package):
                continue
            patches = list(_patches_at_top(model, module, facts))
            if not patches:
                continue
            related = [Related(model.place(facts.path, span), "patches the model here") for span in patches[:3]]
            step = closure.via.get(module)
            if step is None:
                place, related = related[0].place, related[1:]
            else:
                at, span = step.place
                place = model.place(model.module(at).path, span)
            yield rule.finding(place, _of_patch(module, root), related)
        return


def _patches_at_top(model: OpsModel, module: str, facts: FileFacts) -> Iterator[Span]:
    if facts.tree is None or not any(
        one.scope == 0 and _is_of_model(model, model.symbols.absolute(module, one)) for one in facts.imports
    ):
        return
    pending: list[ast.stmt] = list(reversed(facts.tree.body))
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.If | ast.Try | ast.With | ast.For):
            pending.extend(reversed([one for one in ast.iter_child_nodes(statement) if isinstance(one, ast.stmt)]))
        elif isinstance(statement, ast.Assign | ast.Expr) and any(
            _replaces(model, module, 0, node) for node in ast.walk(statement)
        ):
            yield span_of(statement)


def _replaces(model: OpsModel, module: str, scope: int, node: ast.AST) -> bool:
    """``modeling.Layer.forward = …`` or ``setattr(modeling.Layer, "forward", …)`` for a model."""
    base: ast.expr | None = None
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        base = node.value
    elif isinstance(node, ast.Call) and dotted(node.func) == "setattr" and len(node.args) == 3:
        base = node.args[0]
    name = dotted(base) if base is not None else ""
    for target in model.symbols.resolve(module, scope, name) if name else ():
        if target.kind == "external" and target.name.startswith(_HF_MODELS):
            return True
        if target.kind in ("module", "scope") and _is_model(model, target.module):
            return True
    return False


def _is_of_model(model: OpsModel, module: str) -> bool:
    return f"{module}.".startswith(_HF_MODELS) or _within(module, model.models_package)


def _is_model(model: OpsModel, module: str) -> bool:
    """Whether a module of the project is one of a model, and not of the machinery around them."""
    return module.startswith(f"{model.models_package}.") and module.count(".") > model.models_package.count(".") + 1


def _slot_reads(model: OpsModel) -> Iterator[Finding]:
    """``slot.use_non_eager_impl`` and the like in code that runs before any slot is bound."""
    read = {model.dialect.slot_guard, model.dialect.slot_kernel}
    ends = (*read, "value")
    names: dict[str, set[str]] = {}
    for slot in model.slots:
        names.setdefault(slot.module, set()).update(slot.names)
    values: dict[str, set[str]] = {}
    for config_slot in model.config_slots:
        values.setdefault(config_slot.module, set()).update(config_slot.names)
    for module in sorted({*names, *values}):
        facts = model.module(module)
        blocks = [block.facts for block in facts.embedded if block.facts is not None]
        for part in (facts, *blocks) if not is_test(facts.path) else ():
            for ref in part.refs:
                if not ref.name.endswith(ends) or part.scopes[ref.scope].kind not in ("module", "class"):
                    continue
                root, _, rest = ref.name.partition(".")
                if (root in names.get(module, ()) and rest in read) or (
                    root in values.get(module, ()) and rest == "value"
                ):
                    yield rule.finding(model.place(facts.path, ref.span), _of_slot(model.dialect.eager, root, rest))


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def _place(model: OpsModel, call: RunCall) -> Place:
    return model.place(model.module(call.module).path, call.span)


def _links(model: OpsModel, chain: Chain, at: int) -> list[Related]:
    return [
        Related(_place(model, call), f"{'runs' if index < at else 'calls'} `{call.name}`")
        for index, call in enumerate(chain)
        if index != at
    ]


def _message(model: OpsModel, chain: Chain, at: int) -> str:
    last = model.module(chain[-1].callee).scopes[chain[-1].scope].name
    by_way = f", which calls `{last}`," if at < len(chain) - 1 else ""
    start = chain[0].module
    if last in model.dialect.config_readers:
        outcome = "no job has set its configuration by then, so it gives None, and None is what the code goes by"
    elif last == model.dialect.apply_per_model_patches:
        outcome = "no job has set its configuration by then, so nothing is patched, whatever the user configures"
    elif last in model.dialect.config_appliers or any(last == one.name for ptr in model.pointers for one in ptr.apply):
        outcome = "it binds kernels before the job has said which, for every process that imports the package"
    else:
        outcome = "it patches a model in every process that imports the package, whatever model it trains"
    return f"`{chain[at].name}`{by_way} runs while {start} is imported: {outcome}; call it when the model is built"


def _of_patch(module: str, root: str) -> str:
    return (
        f"importing {root} loads {module}, which patches a model: the patch hits every process, whatever model it "
        "trains, and before any configuration is known; apply it from the model's own package, when the model is built"
    )


def _of_slot(eager: str, name: str, attribute: str) -> str:
    return (
        f"`{name}.{attribute}` is read while the module is loaded: no slot is bound then, so the answer is that of "
        f"{eager}, whatever the user configures; read it in the function that uses the kernel"
    )
