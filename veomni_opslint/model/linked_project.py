"""The project with its files linked by names: what all else of the model is derived from."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from veomni_opslint.dialect import Dialect
from veomni_opslint.discovery import Project
from veomni_opslint.extract import extract
from veomni_opslint.facts import FileFacts, Span, text_of
from veomni_opslint.findings import Place
from veomni_opslint.model.global_names import GlobalNames, global_names
from veomni_opslint.model.ops_config import OpsConfig
from veomni_opslint.model.slots import ConfigSlotInfo, OpSlotInfo
from veomni_opslint.model.symbols import Symbols
from veomni_opslint.places import place_of
from veomni_opslint.registrations import Registrations
from veomni_opslint.source import Source


@dataclass(frozen=True, eq=False, repr=False)
class LinkedProject:
    """The files of the project under check, and the names, registrations, slots and configuration in them.

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
