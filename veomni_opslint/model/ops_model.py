"""The ops of the project as rules see them. Everything here is derived from the facts; nothing reads a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from veomni_opslint.evaluate.trials import Trials
from veomni_opslint.facts import FileFacts
from veomni_opslint.model.argument_classes import ArgumentClasses
from veomni_opslint.model.callers import Callers
from veomni_opslint.model.eager_imports import EagerImports
from veomni_opslint.model.gates import Gates
from veomni_opslint.model.guards import Guards
from veomni_opslint.model.host import Host
from veomni_opslint.model.implementation_files import ImplementationFiles
from veomni_opslint.model.job_files import JobFile, find_job_files
from veomni_opslint.model.legacy_values import LegacyValue, find_internal_values, find_legacy_values
from veomni_opslint.model.linked_project import LinkedProject
from veomni_opslint.model.loading import Loading
from veomni_opslint.model.npu_modules import NpuModules
from veomni_opslint.model.npu_tables import NpuTables, find_npu_tables
from veomni_opslint.model.ops_config import class_node
from veomni_opslint.model.patch_imports import PatchConfigImports, find_patch_imports
from veomni_opslint.model.patch_plans import PatchPlan, find_patch_plans
from veomni_opslint.model.per_model_patches import PerModelPatches, find_per_model_patches
from veomni_opslint.model.pointer_owners import PointerList, find_pointer_list, mentions, rebindable
from veomni_opslint.model.pointers import Pointer, find_pointers
from veomni_opslint.model.presence import Presence
from veomni_opslint.model.questions import Questions
from veomni_opslint.model.reach import Reach
from veomni_opslint.model.registry_entries import backends_for_any_host, called_factories
from veomni_opslint.model.run_by_call import RunByCall
from veomni_opslint.model.slot_names import Names, find_slot_names
from veomni_opslint.model.special_fields import find_special_fields
from veomni_opslint.model.uses import Uses
from veomni_opslint.model.wrapper_module import wrapper_module

if TYPE_CHECKING:
    from veomni_opslint.markdown import Document
    from veomni_opslint.model.call_targets import CallTargets
    from veomni_opslint.model.suspect_calls import SuspectCalls
    from veomni_opslint.model.workflows import Workflow
    from veomni_opslint.model.wrappers import Wrappers

_WORKFLOWS = ".github/workflows/"


@dataclass(frozen=True, eq=False, repr=False)
class OpsModel(LinkedProject):
    """The project under check, and what its files together say of ops, each view made when it is first asked for."""

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
        return Loading(self.symbols, self.dialect, RunByCall(self.symbols, self.deep))

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
        return Guards(self.symbols, Host(self.dialect), self.deep, Gates(self.symbols, self.dialect, self.deep))

    @cached_property
    def npu_modules(self) -> NpuModules:
        """What is for the NPU."""
        return NpuModules(self.symbols, self.dialect, self.without_npu, self.deep)

    @cached_property
    def uses(self) -> Uses:
        """Where functions and classes are used."""
        return Uses(self.symbols, self.deep, self.is_npu_name)

    @cached_property
    def reach(self) -> Reach:
        """What of the NPU can run on a host without one."""
        words = (*self.dialect.npu_guards, *self.dialect.npu_packages)
        callers = Callers(
            symbols=self.symbols,
            dialect=self.dialect,
            guards=self.without_npu,
            deep=self.deep,
            uses=self.uses,
            factories=frozenset(called_factories(self)),
            package=self.package,
            is_npu_name=self.is_npu_name,
            questions=Questions(self.symbols, self.deep, words, self.without_npu.is_decided),
        )
        return Reach(
            symbols=self.symbols,
            dialect=self.dialect,
            guards=self.without_npu,
            npu=self.npu_modules,
            uses=self.uses,
            callers=callers,
            backends=tuple(backends_for_any_host(self, self.per_model_patches)),
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
        from veomni_opslint.model.documentation import read_documents  # noqa: PLC0415 - many runs read no document

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

    def is_npu_name(self, module: str) -> bool:
        """Whether a module is, by its name or its folder's, written for the NPU."""
        return self.npu_modules.is_npu_name(module)

    def kernel_variants(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """Registered implementation names by (op, variant), in order of registration."""
        found: dict[tuple[str, str], list[str]] = {}
        for spec in self.registrations.kernel_specs:
            found.setdefault((spec.op_name, spec.variant), []).append(spec.name)
        return {pair: tuple(names) for pair, names in found.items()}
