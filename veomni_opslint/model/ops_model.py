"""The linked project as rules see it. Everything here is derived from the facts; nothing reads a file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from veomni_opslint.dialect import Dialect
from veomni_opslint.discovery import Project
from veomni_opslint.evaluate.trials import Trials
from veomni_opslint.extract import extract
from veomni_opslint.facts import FileFacts, Span, text_of
from veomni_opslint.findings import Place
from veomni_opslint.model.argument_classes import ArgumentClasses
from veomni_opslint.model.eager_imports import EagerImports
from veomni_opslint.model.global_names import GlobalNames, global_names
from veomni_opslint.model.guards import Guards
from veomni_opslint.model.host import Host
from veomni_opslint.model.implementation_files import ImplementationFiles
from veomni_opslint.model.job_files import JobFile, find_job_files
from veomni_opslint.model.legacy_values import LegacyValue, find_internal_values, find_legacy_values
from veomni_opslint.model.loading import Loading
from veomni_opslint.model.npu_tables import NpuTables, find_npu_tables
from veomni_opslint.model.ops_config import OpsConfig, class_node
from veomni_opslint.model.patch_imports import PatchConfigImports, find_patch_imports
from veomni_opslint.model.patch_plans import PatchPlan, find_patch_plans
from veomni_opslint.model.per_model_patches import PerModelPatches, find_per_model_patches
from veomni_opslint.model.pointer_owners import PointerList, find_pointer_list, mentions, rebindable
from veomni_opslint.model.pointers import Pointer, find_pointers
from veomni_opslint.model.presence import Presence
from veomni_opslint.model.reach import Reach
from veomni_opslint.model.slot_names import Names, find_slot_names
from veomni_opslint.model.slots import ConfigSlotInfo, OpSlotInfo
from veomni_opslint.model.special_fields import find_special_fields
from veomni_opslint.model.symbols import Symbols
from veomni_opslint.model.wrapper_module import wrapper_module
from veomni_opslint.places import place_of
from veomni_opslint.registrations import Registrations, Unknown
from veomni_opslint.source import Source

if TYPE_CHECKING:
    from veomni_opslint.markdown import Document
    from veomni_opslint.model.call_targets import CallTargets
    from veomni_opslint.model.suspect_calls import SuspectCalls
    from veomni_opslint.model.workflows import Workflow
    from veomni_opslint.model.wrappers import Wrappers

_WORKFLOWS = ".github/workflows/"


@dataclass(frozen=True, eq=False, repr=False)
class OpsModel:
    """The project under check: its files, names, registrations, slots and configuration.

    ``options`` holds the settings of rules by rule name, ``yaml_sources`` the content of YAML files by path, and
    ``document_sources`` that of Markdown files.
    """

    project: Project
    dialect: Dialect
    files: Mapping[str, FileFacts]
    symbols: Symbols
    registrations: Registrations
    slots: tuple[OpSlotInfo, ...]
    config_slots: tuple[ConfigSlotInfo, ...]
    ops_config: OpsConfig | None
    options: Mapping[str, Mapping[str, object]]
    yaml_sources: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    document_sources: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    _deep: dict[str, FileFacts] = field(default_factory=dict, repr=False)
    _global_names: dict[str, GlobalNames] = field(default_factory=dict, repr=False)

    @property
    def problems(self) -> tuple[Source, ...]:
        """Files and folders that could not be read."""
        return self.project.problems

    @property
    def package(self) -> str:
        """Import name of the package under check."""
        return self.project.package

    @property
    def ops_package(self) -> str:
        """Dotted name of the ops package."""
        return f"{self.package}.{self.dialect.ops_package}"

    @property
    def models_package(self) -> str:
        """Dotted name of the models package."""
        return f"{self.package}.{self.dialect.models_package}"

    @cached_property
    def has_registry(self) -> bool:
        """Whether the tree has a kernel registry; an older generation, or models on their own, have none."""
        if self.registrations.kernel_specs:
            return True
        return any(
            f"class {self.dialect.registry_class}" in facts.text or f"class {self.dialect.kernel_spec}" in facts.text
            for _, facts in self.modules_in(self.package)
        )

    @cached_property
    def special_fields(self) -> Mapping[str, str | None]:
        """The config fields that binding reads for ops whose own name gives none; None where it cannot be known."""
        return find_special_fields(self.symbols, self.package, self.dialect)

    @cached_property
    def loading(self) -> Loading:
        """What loading a module loads."""
        return Loading(self.symbols, self.dialect, self.deep)

    @cached_property
    def eager_imports(self) -> EagerImports:
        """Optional packages that loading something loads."""
        return EagerImports(
            symbols=self.symbols,
            dialect=self.dialect,
            loading=self.loading,
            is_npu_name=self.is_npu_name,
            implementations=self.implementations,
        )

    @cached_property
    def implementations(self) -> ImplementationFiles:
        """Files that exist to implement something with an optional package."""
        return ImplementationFiles(
            symbols=self.symbols,
            dialect=self.dialect,
            loading=self.loading,
            loaded_first=(self.package, self.ops_package, self.models_package),
            ops_package=self.ops_package,
        )

    @cached_property
    def patch_imports(self) -> Mapping[str, PatchConfigImports]:
        """Imports that patch configs ask for, by the module names of the configs."""
        return find_patch_imports(self.symbols.modules, self.dialect)

    @cached_property
    def patch_plans(self) -> Mapping[str, PatchPlan]:
        """What patch configs put into generated files, by the module names of these files, which need not exist."""
        return find_patch_plans(self.symbols, self.package, self.dialect)

    @cached_property
    def presence(self) -> Presence:
        """Whether what a name stands for exists."""
        return Presence(self.symbols, self.project, frozenset(self.dialect.optional_packages))

    @cached_property
    def without_npu(self) -> Guards:
        """What guards let through on a host without NPU."""
        return Guards(self.symbols, Host(self.dialect), self.deep)

    @cached_property
    def reach(self) -> Reach:
        """What can run in a world without NPU."""
        return Reach(
            symbols=self.symbols,
            dialect=self.dialect,
            guards=self.without_npu,
            deep=self.deep,
            factories=frozenset(self._factories()),
            package=self.package,
            backends=tuple(self._backends_for_any_host()),
        )

    @cached_property
    def trials(self) -> Trials:
        """What single names hold and single calls give."""
        return Trials(self.symbols.modules, self.symbols.packages, self.dialect)

    @cached_property
    def wrappers(self) -> Wrappers | None:
        """The wrappers of async Ulysses; None in a tree without them."""
        module = wrapper_module(self.symbols, self.dialect, self.package)
        if module is None:
            return None
        from veomni_opslint.model.wrappers import find_wrappers  # noqa: PLC0415 - many trees have none

        specs = self.registrations.kernel_specs
        names = {
            "variant": frozenset(spec.variant for spec in specs),
            "implementation": frozenset(spec.name for spec in specs) | {self.dialect.eager},
        }
        return find_wrappers(self.symbols, self.dialect, module, self.trials, names)

    @cached_property
    def slot_names(self) -> Mapping[str, Names]:
        """The names of slots in each module of the package that has some."""
        return find_slot_names(self)

    @cached_property
    def pointers(self) -> tuple[Pointer, ...]:
        """Global function pointers."""
        return find_pointers(self.symbols, self.dialect, self.package, self.registrations.op_specs)

    @cached_property
    def pointer_list(self) -> PointerList | None:
        """The function that lists the pointers."""
        return find_pointer_list(self.symbols, self.dialect, self.ops_package)

    @cached_property
    def rebindable(self) -> Mapping[tuple[str, str], Pointer | None]:
        """Pointers by module and name, those included that are only listed."""
        return rebindable(self.pointers, self.pointer_list)

    @cached_property
    def pointer_mentions(self) -> Mapping[str, tuple[str, ...]]:
        """The modules that may use a pointer, with the names of pointers in their text."""
        return mentions(self.symbols, self.dialect, self.rebindable)

    @cached_property
    def call_targets(self) -> CallTargets:
        """What calls reach."""
        from veomni_opslint.model.call_targets import CallTargets  # noqa: PLC0415 - that module imports this one

        return CallTargets(self)

    @cached_property
    def suspect_calls(self) -> SuspectCalls:
        """A first look at all calls."""
        from veomni_opslint.model.suspect_calls import SuspectCalls  # noqa: PLC0415 - as above

        return SuspectCalls(self.call_targets)

    @cached_property
    def npu_tables(self) -> NpuTables | None:
        """The NPU tables beside the ops config; None where the tree has no such config."""
        if self.ops_config is None:
            return None
        return find_npu_tables(self.symbols.modules[self.ops_config.module], self.dialect)

    @cached_property
    def job_files(self) -> tuple[JobFile, ...]:
        """The YAML files that configure jobs; none unless files outside the package are analysed."""
        return tuple(find_job_files(self.argument_classes, self.yaml_sources))

    @property
    def workflow_sources(self) -> Mapping[str, bytes]:
        """The content of the workflows of the repository's CI, by path."""
        return {path: data for path, data in self.yaml_sources.items() if path.startswith(_WORKFLOWS)}

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The Markdown files that say something of the ops of today."""
        from veomni_opslint.model.documentation import read_documents  # noqa: PLC0415 - that module imports this one

        return read_documents(self)

    @cached_property
    def npu_workflows(self) -> tuple[Workflow, ...]:
        """The workflows that run tests on an NPU; none unless files outside the package are analysed."""
        from veomni_opslint.model.workflows import find_npu_workflows  # noqa: PLC0415 - most runs read no workflow

        return tuple(find_npu_workflows(self.workflow_sources, self.dialect.npu_device_names))

    @cached_property
    def test_modules(self) -> Mapping[str, FileFacts]:
        """The files outside the package that pytest collects, by module name."""
        from veomni_opslint.model.workflows import is_test_file  # noqa: PLC0415 - as above

        inside = f"{self.project.package_path}/"
        return {
            name: facts
            for name, facts in self.symbols.modules.items()
            if not facts.path.startswith(inside) and is_test_file(facts.path)
        }

    @cached_property
    def per_model_patches(self) -> tuple[PerModelPatches, ...]:
        """What the device patches of models do."""
        return tuple(find_per_model_patches(self.symbols.modules, self.models_package, self.dialect))

    @cached_property
    def argument_classes(self) -> ArgumentClasses:
        """The dataclasses that a job's YAML file fills."""
        return ArgumentClasses(self.symbols)

    @cached_property
    def legacy_values(self) -> tuple[LegacyValue, ...]:
        """Values of config fields that the config class replaces."""
        if self.ops_config is None:
            return ()
        facts = self.symbols.modules[self.ops_config.module]
        node = class_node(facts, self.dialect.ops_config)
        return find_legacy_values(facts, node, self.dialect) if node is not None else ()

    @cached_property
    def internal_values(self) -> dict[tuple[str, str], str]:
        """From a config field and a value that the config class makes of another one to that other one."""
        if self.ops_config is None:
            return {}
        facts = self.symbols.modules[self.ops_config.module]
        node = class_node(facts, self.dialect.ops_config)
        return find_internal_values(facts, node, self.dialect) if node is not None else {}

    def module(self, name: str) -> FileFacts:
        """The (shallow) facts of a module by dotted name."""
        return self.symbols.modules[name]

    def modules_in(self, package: str) -> Iterator[tuple[str, FileFacts]]:
        """Modules of a package and below it, sorted by name; the package itself included."""
        if package in self.symbols.modules:
            yield package, self.symbols.modules[package]
        names, prefix = self._module_names, package + "."
        for index in range(bisect_left(names, prefix), len(names)):
            name = names[index]
            if not name.startswith(prefix):
                return
            yield name, self.symbols.modules[name]

    @cached_property
    def _module_names(self) -> list[str]:
        return sorted(self.symbols.modules)

    def deep(self, module: str) -> FileFacts:
        """The facts of a module with all function bodies walked."""
        facts = self.symbols.modules[module]
        if facts.deep:
            return facts
        if module not in self._deep:
            self._deep[module] = extract(Source(facts.path, facts.text), self.dialect, deep=True)
        return self._deep[module]

    def global_names(self, module: str) -> GlobalNames:
        """The global names that a module uses."""
        if module not in self._global_names:
            self._global_names[module] = global_names(self.symbols.modules[module])
        return self._global_names[module]

    def place(self, path: str, span: Span) -> Place:
        """The place of a span of a file, with columns counted in characters."""
        facts = self.files.get(path)
        return place_of(path, facts.text if facts is not None else "", span)

    def text(self, path: str, span: Span) -> str:
        """The source text of a span."""
        return text_of(self.files[path], span)

    def is_npu_name(self, module: str) -> bool:
        """Whether a module is, by its name or its folder's, written for the NPU."""
        return self.reach.is_npu_name(module)

    def kernel_variants(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """Registered implementation names by (op, variant), in order of registration."""
        found: dict[tuple[str, str], list[str]] = {}
        for spec in self.registrations.kernel_specs:
            found.setdefault((spec.op_name, spec.variant), []).append(spec.name)
        return {pair: tuple(names) for pair, names in found.items()}

    def _backends_for_any_host(self) -> Iterable[tuple[str, Span, str]]:
        """Module, place and entry of the backends, registered or added for a model, that require no NPU package."""
        for spec in self.registrations.op_specs:
            for _, backend in () if isinstance(spec.backends, Unknown) else spec.backends:
                if isinstance(backend.requires, Unknown) or isinstance(backend.entry, Unknown):
                    continue
                if not set(backend.requires) & set(self.dialect.npu_packages):
                    at = backend.entry_place
                    yield spec.module, (at.line, at.column - 1, at.end_line, at.end_column - 1), backend.entry
        for patches in self.per_model_patches:
            for extra in patches.extra_backends:
                if (
                    extra.entry
                    and extra.requires is not None
                    and not set(extra.requires) & set(self.dialect.npu_packages)
                ):
                    yield patches.module, extra.entry_span, extra.entry

    def _factories(self) -> Iterable[tuple[str, str | tuple[int, int]]]:
        """What the registry calls: functions by name, lambdas by line and column (from 0, in bytes)."""
        modules = {facts.path: module for module, facts in self.symbols.modules.items()}
        for spec in self.registrations.kernel_specs:
            factory = spec.factory
            if isinstance(factory, Unknown):
                continue
            if factory.qualname:
                yield factory.module, factory.qualname
            if factory.kind == "lambda" and factory.place is not None:
                at = factory.place
                line = self.files[at.path].lines[at.line - 1][: at.column - 1]
                yield modules[at.path], (at.line, len(line.encode()))
