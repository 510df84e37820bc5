"""What a patch config puts into the file that patch generation makes from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import EmbeddedBlock, Span
from veomni_opslint.model.generated_files import names_of
from veomni_opslint.model.patch_config_reader import PatchConfigReader
from veomni_opslint.model.patch_values import Config, Definition, PatchKind
from veomni_opslint.model.symbols import Symbols

_GENERATED = "config"
"""The name under which patch generation looks for the config of a module."""


class Origin(NamedTuple):
    """Where a config file says something: a path and a span in it."""

    path: str
    span: Span


class PlannedCode(NamedTuple):
    """A definition that goes into the generated file: as ``target``, with the texts of ``name_map`` replaced.

    ``definition`` is None where its source cannot be known. ``external`` is the dotted name of a class that is imported
    in the place of ``target``.
    """

    kind: PatchKind | Literal["helper"]
    target: str
    definition: Definition | None
    name_map: tuple[tuple[str, str], ...]
    origin: Origin
    external: str = ""


class PlannedImport(NamedTuple):
    """One name that is imported, ``*`` for all; ``name`` is empty for ``import module``."""

    module: str
    name: str
    bound: str
    origin: Origin


class PlannedBlock(NamedTuple):
    """A block of code that comes after the imports, and the path of the config that holds it."""

    path: str
    block: EmbeddedBlock

    def imports(self) -> Iterator[PlannedImport]:
        """What the imports of the block bind at module level."""
        for imported in self.block.facts.imports if self.block.facts is not None else ():
            if imported.scope == 0 and imported.how in ("from", "import"):
                for bound, name, span in names_of(imported):
                    yield PlannedImport("." * imported.level + imported.module, name, bound, Origin(self.path, span))


class PatchPlan(NamedTuple):
    """All that the config ``variable`` of ``module`` says; ``unknown`` names the parts that cannot be known."""

    module: str
    variable: str
    path: str
    generated: str
    source_module: str
    created: Span
    code: tuple[PlannedCode, ...]
    imports: tuple[PlannedImport, ...]
    blocks: tuple[PlannedBlock, ...]
    dropped: tuple[str, ...]
    excluded: tuple[str, ...]
    unknown: frozenset[str]

    def knows(self, *parts: str) -> bool:
        """Whether everything is known of these parts: ``code``, ``imports``, ``blocks``, ``dropped``, ``excluded``."""
        return self.unknown.isdisjoint(parts)

    def all_imports(self) -> Iterator[PlannedImport]:
        """The imports that the config adds, those of its blocks included."""
        yield from self.imports
        for planned in self.blocks:
            yield from planned.imports()


def find_patch_plans(symbols: Symbols, package: str, dialect: Dialect) -> Mapping[str, PatchPlan]:
    """The plans by the dotted name of the generated module, which need not exist; none for a file made by two."""
    reader = PatchConfigReader(symbols, dialect)
    found: dict[str, list[PatchPlan]] = {}
    for module in sorted(symbols.modules):
        if module.startswith(package + ".") and module.endswith(dialect.patch_config_suffix):
            for plan in _plans(reader, module, symbols, dialect):
                found.setdefault(plan.generated, []).append(plan)
    return {generated: plans[0] for generated, plans in found.items() if len(plans) == 1}


def _plans(reader: PatchConfigReader, module: str, symbols: Symbols, dialect: Dialect) -> Iterator[PatchPlan]:
    seen: set[int] = set()
    for name, value in reader.names(module).items():
        if isinstance(value, Config) and id(value) not in seen and (not value.taken or name == _GENERATED):
            seen.add(id(value))
            if value.target_file:
                yield _plan(module, name, value, symbols, dialect)


def _plan(module: str, name: str, config: Config, symbols: Symbols, dialect: Dialect) -> PatchPlan:
    folder = module.rpartition(".")[0]
    if folder.endswith(".patches"):
        folder = folder.removesuffix(".patches")
    stem = config.target_file.rpartition("/")[2].removesuffix(".py")
    return PatchPlan(
        module=module,
        variable=name,
        path=symbols.modules[module].path,
        generated=f"{folder}.{dialect.generated_folder}.{stem}",
        source_module=config.source_module,
        created=config.created,
        code=tuple(_effective(config)),
        imports=tuple(PlannedImport(one.module, one.name, one.bound, Origin(*one.origin)) for one in config.imports),
        blocks=tuple(PlannedBlock(path, block) for path, block in config.blocks),
        dropped=tuple(config.dropped),
        excluded=tuple(config.excluded),
        unknown=frozenset(config.unknown),
    )


def _effective(config: Config) -> Iterator[PlannedCode]:
    """The patches that have an effect: the last one of a target, and none of a method of a class that is replaced."""
    last = {(patch.kind, patch.target): patch for patch in config.patches}
    replaced = {target for kind, target in last if kind == "class"}
    for (kind, target), patch in last.items():
        if target.partition(".")[0] not in (config.excluded if kind != "method" else (*config.excluded, *replaced)):
            yield PlannedCode(kind, target, patch.definition, patch.name_map, Origin(*patch.origin), patch.external)
    for helper in config.helpers:
        if helper.after not in config.excluded:
            yield PlannedCode("helper", helper.definition.node.name, helper.definition, (), Origin(*helper.origin))
