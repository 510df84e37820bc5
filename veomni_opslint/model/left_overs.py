"""What a generated file still has though its patch config does not ask for it, or not any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import Span
from veomni_opslint.model.generated_files import GeneratedFile
from veomni_opslint.model.patch_plans import PatchPlan


class LeftOver(NamedTuple):
    """A patched class, function or method, a slot, an import, or what the config drops or excludes by name."""

    kind: Literal["class", "function", "method", "slot", "import", "dropped", "excluded"]
    name: str
    span: Span


def left_overs(plan: PatchPlan, file: GeneratedFile, package: str, dialect: Dialect) -> Iterator[LeftOver]:
    """All that is left over, as far as the plan is known.

    The source module of another package declares no slots and imports nothing of the project or of NPU packages.
    """
    if plan.knows("code", "excluded"):
        yield from _patches(plan, file)
    if plan.knows("imports", "blocks", "code") and plan.source_module.partition(".")[0] != package:
        yield from _slots(plan, file)
        yield from _imports(plan, file, (package, *dialect.npu_packages))
    yield from _names(plan, file)


def _patches(plan: PatchPlan, file: GeneratedFile) -> Iterator[LeftOver]:
    """Patches that the header of the file lists and the config does not ask for."""
    wanted = {(one.kind, one.target) for one in plan.code}
    replaced = {target for kind, target in wanted if kind == "class"}
    for (kind, target), line in file.listed.items():
        owner = target.partition(".")[0]
        if (kind, target) in wanted or owner in plan.excluded or (kind == "method" and owner in replaced):
            continue
        nodes = file.find(kind, target)
        yield LeftOver(kind, target, span_of(nodes[-1]) if nodes else (line, 0, line, len(file.lines[line - 1])))


def _slots(plan: PatchPlan, file: GeneratedFile) -> Iterator[LeftOver]:
    wanted: set[str] = set()
    for one in plan.blocks:
        if one.block.facts is not None:
            wanted.update(binding.name for binding in one.block.facts.bindings)
            if any(name.name == "*" for imported in one.block.facts.imports for name in imported.names):
                return
    for slot in file.facts.slots:
        if slot.at_module_level and slot.names and wanted.isdisjoint(slot.names):
            yield LeftOver("slot", slot.var, slot.span)


def _imports(plan: PatchPlan, file: GeneratedFile, roots: tuple[str, ...]) -> Iterator[LeftOver]:
    added = _added(plan)
    for bound, imports in file.imports.items():
        for imported, name, span in imports:
            module = "." * imported.level + imported.module
            own = imported.level > 0 or module.partition(".")[0] in roots
            if own and bound not in added:
                yield LeftOver("import", f"from {module} import {name}" if name else f"import {module}", span)


def _names(plan: PatchPlan, file: GeneratedFile) -> Iterator[LeftOver]:
    """Imports that the config drops, and definitions that it excludes."""
    added = _added(plan)
    for name in dict.fromkeys(plan.dropped) if plan.knows("imports", "blocks", "dropped") else ():
        for _, _, span in file.imports.get(name, ()) if name not in added else ():
            yield LeftOver("dropped", name, span)
    for name in dict.fromkeys(plan.excluded) if plan.knows("code", "blocks", "excluded") else ():
        for node in file.definitions.get(name, ()) if name not in added else ():
            yield LeftOver("excluded", name, span_of(node))


def _added(plan: PatchPlan) -> set[str]:
    return {one.bound for one in plan.all_imports()} | {one.target for one in plan.code}
