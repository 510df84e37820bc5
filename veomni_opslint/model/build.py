"""Link the facts of all files into the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from veomni_opslint.dialect import Dialect
from veomni_opslint.discovery import Project
from veomni_opslint.evaluate import evaluate
from veomni_opslint.facts import FileFacts, SlotCall
from veomni_opslint.model.ops_config import find_ops_config
from veomni_opslint.model.ops_model import ConfigSlotInfo, OpSlotInfo, OpsModel
from veomni_opslint.model.symbols import Symbols, module_name
from veomni_opslint.places import place_of

_Source = Literal["generated", "patch_gen_config", "other"]


def build_model(
    project: Project,
    files: Mapping[str, FileFacts],
    dialect: Dialect,
    options: Mapping[str, Mapping[str, object]],
) -> OpsModel:
    """The model of *project*, whose files have these facts."""
    source_root = project.package_path.rpartition("/")[0]
    modules: dict[str, FileFacts] = {}
    packages: set[str] = set()
    for path in sorted(files):
        name, is_package = module_name(path, source_root)
        if name in modules and not is_package:
            continue
        modules[name] = files[path]
        if is_package:
            packages.add(name)
    packages.update(_namespace_packages(modules))
    symbols = Symbols(modules, frozenset(packages))
    slots = tuple(_slots(modules, project, dialect))
    return OpsModel(
        project=project,
        dialect=dialect,
        files=files,
        symbols=symbols,
        registrations=evaluate(modules, symbols.packages, dialect, _roots(modules, project)),
        slots=tuple(slot for slot in slots if isinstance(slot, OpSlotInfo)),
        config_slots=tuple(slot for slot in slots if isinstance(slot, ConfigSlotInfo)),
        ops_config=find_ops_config(symbols, dialect, project.package),
        options=options,
    )


def _namespace_packages(modules: Mapping[str, FileFacts]) -> Iterator[str]:
    for name in modules:
        parent = name.rpartition(".")[0]
        while parent and parent not in modules:
            yield parent
            parent = parent.rpartition(".")[0]


def _roots(modules: Mapping[str, FileFacts], project: Project) -> list[str]:
    """Registrations count where the package under check makes them; tests register stand-ins."""
    return sorted(name for name in modules if name == project.package or name.startswith(project.package + "."))


def _slots(
    modules: Mapping[str, FileFacts], project: Project, dialect: Dialect
) -> Iterator[OpSlotInfo | ConfigSlotInfo]:
    for module in sorted(modules):
        facts = modules[module]
        if not module.startswith(project.package):
            continue
        source = slot_source(facts.path, dialect)
        lasts = {slot.var: slot for slot in facts.slots if slot.at_module_level}
        for slot in facts.slots:
            yield _slot(facts, module, slot, source, False, lasts.get(slot.var) is slot)
        for block in facts.embedded:
            if block.facts is not None:
                inner = {slot.var: slot for slot in block.facts.slots if slot.at_module_level}
                for slot in block.facts.slots:
                    yield _slot(facts, module, slot, source, True, inner.get(slot.var) is slot)


def slot_source(path: str, dialect: Dialect) -> _Source:
    """Which kind of file a slot stands in."""
    folders = path.split("/")
    if dialect.generated_folder in folders[:-1] or folders[-1].startswith(dialect.generated_prefix):
        return "generated"
    if folders[-1].removesuffix(".py").endswith(dialect.patch_config_suffix):
        return "patch_gen_config"
    return "other"


def _slot(
    facts: FileFacts, module: str, slot: SlotCall, source: _Source, embedded: bool, live: bool
) -> OpSlotInfo | ConfigSlotInfo:
    place = place_of(facts.path, facts.text, slot.span)
    if slot.kind == "config":
        return ConfigSlotInfo(
            facts.path, module, slot.var, slot.op_name, source, embedded, slot.at_module_level, live, place, slot.span
        )
    return OpSlotInfo(
        facts.path, module, slot.var, slot.op_name, slot.variant, source, embedded, slot.at_module_level, live, place, slot.span,
    )  # fmt: skip
