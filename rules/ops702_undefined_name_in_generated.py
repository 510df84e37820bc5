"""A generated file uses a name that it never defines or imports."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from veomni_opslint.conditions import TRUE, Condition, possible
from veomni_opslint.facts import Binding, FileFacts, Ref
from veomni_opslint.findings import Finding, Related, Severity
from veomni_opslint.model import OpsModel
from veomni_opslint.model.global_names import global_names_of
from veomni_opslint.model.patch_plans import PatchPlan, PlannedCode
from veomni_opslint.model.planned_source import planned_source
from veomni_opslint.model.slots import slot_source
from veomni_opslint.parameters import parameters_of
from veomni_opslint.rule import Rule

rule = Rule.of(__name__, Severity.ERROR)

_ALWAYS = frozenset(dir(builtins)) | {
    "__annotations__", "__builtins__", "__doc__", "__file__", "__loader__", "__module__", "__name__", "__package__",
    "__path__", "__qualname__", "__spec__",
}  # fmt: skip
_DYNAMIC = ("globals()", "vars()", "exec(", "sys.modules")
_MAX_RELATED = 3


def check(model: OpsModel) -> Iterator[Finding]:
    missing: dict[str, frozenset[str]] = {}
    for module, facts in model.modules_in(model.models_package):
        is_generated = slot_source(facts.path, model.dialect) == "generated"
        if is_generated and facts.problem is None and not _imports_all(facts):
            names = model.global_names(module)
            missing[module] = _without_bound(facts, names.used - names.assigned - _ALWAYS)
            if missing[module] and not _makes_names(facts):
                yield from _in_generated(model, module, facts, missing[module])
    for plan in model.patch_plans.values():
        if plan.generated in missing and plan.knows("code", "imports", "blocks"):
            found = tuple(_in_patches(model, plan, missing[plan.generated]))
            if found and not _makes_names(model.module(plan.generated)):
                yield from found


def _in_generated(model: OpsModel, module: str, facts: FileFacts, missing: frozenset[str]) -> Iterator[Finding]:
    plan = model.patch_plans.get(module)
    for name, refs in _uses(model.deep(module), missing):
        first = refs[0]
        related = [Related(model.place(facts.path, ref.span), "used here, too") for ref in refs[1 : 1 + _MAX_RELATED]]
        if plan is not None:
            related.append(Related(model.place(plan.path, plan.created), "the patch config"))
        yield rule.finding(
            model.place(facts.path, (*first.span[:2], first.span[0], first.span[1] + len(name.encode()))),
            f"`{name}` is defined nowhere in this generated file, nor imported when it runs: the first time this code "
            f"runs, NameError ends the job; let the patch config add it ({_ways(model)}) and generate the file again",
            related,
        )


def _ways(model: OpsModel) -> str:
    dialect = model.dialect
    return f"{dialect.add_import}, {dialect.add_helper}, {dialect.post_import_block}"


def _imports_all(facts: FileFacts) -> bool:
    return any(name.name == "*" for one in facts.imports for name in one.names if one.scope == 0)


def _makes_names(facts: FileFacts) -> bool:
    """Whether the module may make names in ways that cannot be followed."""
    return any(word in facts.text for word in _DYNAMIC)


def _without_bound(facts: FileFacts, names: frozenset[str]) -> frozenset[str]:
    """*names* without those that the module has when its functions run."""
    bindings = [one for one in facts.bindings if one.scope == 0 and one.kind != "delete"]
    missing = names.difference(one.name for one in bindings if one.when is TRUE)
    if not missing:
        return missing
    return missing.difference(one.name for one in bindings if one.name in missing and possible(one.when, _when_run))


def _when_run(atom: Condition) -> bool | None:
    return False if atom[0] == "name" and str(atom[1]).rpartition(".")[2] == "TYPE_CHECKING" else None


def _uses(facts: FileFacts, missing: frozenset[str]) -> Iterator[tuple[str, list[Ref]]]:
    """Where the names are used as global ones, by name; not where the code is ready for their absence."""
    found: dict[str, list[Ref]] = {}
    for ref in facts.refs:
        name = ref.name.partition(".")[0]
        if name in missing and not ref.handled and possible(ref.when, _when_run) and not _is_local(facts, ref, name):
            found.setdefault(name, []).append(ref)
    for name in sorted(found):
        yield name, sorted(found[name], key=lambda one: one.span)


def _is_local(facts: FileFacts, ref: Ref, name: str) -> bool:
    index = ref.scope
    while index > 0:
        scope = facts.scopes[index]
        own = index == ref.scope or scope.kind != "class"
        if own and (name in scope.locals or any(one.name == name for one in scope.parameters)):
            return True
        if own and any(one.parent == index and one.name == name for one in facts.scopes):
            return True
        index = scope.parent
    return False


def _in_patches(model: OpsModel, plan: PatchPlan, missing: frozenset[str]) -> Iterator[Finding]:
    """Names that no generated file will have, in patches; *missing* are those that are reported there already."""
    added = {one.bound for one in plan.imports} | {one.target for one in plan.code} | missing | _ALWAYS
    for planned in plan.blocks:
        if planned.block.facts is not None:
            added.update(one.name for one in planned.block.facts.bindings)
    if "*" in added:
        return
    elsewhere, here = _names_by_origin(model, plan)
    own: dict[str, frozenset[str]] = {}
    said: set[str] = set()
    for code in plan.code:
        if code.definition is None:
            continue
        module = code.definition.module
        if module not in own:
            own[module] = (frozenset(_names_of_config(model, module)) | here) - elsewhere - added
        for name, finding in _in_patch(model, plan, code, own[module] - said):
            said.add(name)
            yield finding


def _names_by_origin(model: OpsModel, plan: PatchPlan) -> tuple[frozenset[str], frozenset[str]]:
    """Names of the generated file that may come from the source module, and those that only a patch config adds.

    The source module has no slots, and imports nothing of another package's project.
    """
    facts = model.module(plan.generated)
    bindings = [one for one in facts.bindings if one.scope == 0]
    if plan.source_module.partition(".")[0] == model.package:
        return frozenset(one.name for one in bindings), frozenset()
    added = {name for slot in facts.slots if slot.at_module_level for name in slot.names}
    added.update(one.name for one in bindings if _is_of_project(model, plan.generated, one))
    return frozenset(one.name for one in bindings) - added, frozenset(added)


def _is_of_project(model: OpsModel, module: str, binding: Binding) -> bool:
    if binding.kind != "import":
        return False
    imported = model.module(module).imports[binding.import_index]
    source = model.symbols.absolute(module, imported) if imported.level else imported.module
    return source.partition(".")[0] == model.package


def _names_of_config(model: OpsModel, module: str) -> Iterator[str]:
    """What only the config file has: the source module imports nothing of the project, and has other constants."""
    facts = model.symbols.modules[module]
    for binding in facts.bindings:
        if binding.scope == 0 and (binding.kind in ("scope", "assign") or _is_of_project(model, module, binding)):
            yield binding.name


def _in_patch(
    model: OpsModel, plan: PatchPlan, code: PlannedCode, names: Iterable[str]
) -> Iterator[tuple[str, Finding]]:
    if code.definition is None:
        return
    path, node = code.definition.path, code.definition.node
    source = planned_source(code, model.files[path].text) or []
    text = "\n".join(source)
    words = {name: _word(name) for name in names if name in text}
    mentioned = [
        name
        for name, word in words.items()
        if word.search(text) is not None and (code.name_map or not _is_parameter(node, name, text))
    ]
    for name in sorted(global_names_of(text).used.intersection(mentioned)) if mentioned else ():
        word = words[name]
        index, match = next(
            ((index, found) for index, line in enumerate(source) if (found := word.search(line.partition("#")[0]))),
            (0, None),
        )
        start = node.col_offset + (len(source[index][: match.start()].encode()) if match is not None else 0)
        use = model.place(path, (node.lineno + index, start, node.lineno + index, start + len(name.encode())))
        asked = model.place(plan.path, code.origin.span)
        taken_over = path != plan.path
        yield (
            name,
            rule.finding(
                asked if taken_over else use,
                f"nothing puts `{name}` into {plan.generated.rpartition('.')[2]}: once that file is generated again, "
                f"NameError ends the job when this patch runs; let the patch config add the name ({_ways(model)})",
                [Related(use, "used here") if taken_over else Related(asked, f"goes into {plan.generated}")],
            ),
        )


@lru_cache(maxsize=256)
def _word(name: str) -> re.Pattern[str]:
    # The name first: a pattern that starts with a fixed text is found far faster.
    return re.compile(rf"{re.escape(name)}(?<![\w.]{re.escape(name)})(?!\w)")


def _is_parameter(node: ast.AST, name: str, text: str) -> bool:
    """Whether a function takes what it calls so, and no default or annotation uses a name like that."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    taken = any(one.name == name for one in parameters_of(node.args))
    return taken and len(_word(name).findall(text.partition(":\n")[0])) == 1
