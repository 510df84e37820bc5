"""What is for the NPU: modules, by their names and by what they load, and names that stand for NPU packages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import FileFacts, Import
from veomni_opslint.model.guards import Guards
from veomni_opslint.model.project_modules import runs_at_load
from veomni_opslint.model.symbols import Symbols

_NPU_PARTS = ("npu", "ascend", "cann")
_NPU_WORDS = frozenset({*_NPU_PARTS, "ascendc"})
_WORD_BREAK = re.compile(r"[._]+")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NpuModules:
    """Answers for one project. ``guards`` are those of a host without NPU."""

    symbols: Symbols
    dialect: Dialect
    guards: Guards
    deep: Callable[[str], FileFacts]
    _named: dict[str, bool] = field(default_factory=dict, repr=False)
    _only: dict[str, bool] = field(default_factory=dict, repr=False)

    def is_npu_name(self, module: str) -> bool:
        """Whether a module is, by its name or its folder's, written for the NPU."""
        known = self._named.get(module)
        if known is None:
            lowered = module.lower()
            known = any(part in lowered for part in _NPU_PARTS) and any(
                word in _NPU_WORDS for word in _WORD_BREAK.split(lowered)
            )
            self._named[module] = known
        return known

    def is_npu_only(self, module: str) -> bool:
        """Whether a module cannot (or, if generated for the NPU, must not) be loaded without an NPU."""
        known = self._only.get(module)
        if known is None:
            self._only[module] = False
            known = self._only[module] = self._decide_npu_only(module)
        return known

    def needs_npu(self, subject: str) -> bool:
        """Whether loading an NPU package or NPU-only module really fails without an NPU."""
        return subject not in self.symbols.modules or self._loads_npu(subject)

    def packages_of(self, imported: Import) -> tuple[str, ...]:
        """NPU packages that an absolute import names."""
        if imported.level:
            return ()
        packages = self.dialect.npu_packages
        if not imported.module.startswith(_roots(packages)):
            return ()
        found = [
            package for package in packages if imported.module == package or imported.module.startswith(package + ".")
        ]
        found += [
            f"{imported.module}.{name.name}" for name in imported.names if f"{imported.module}.{name.name}" in packages
        ]
        return tuple(dict.fromkeys(found))

    def subject(self, module: str, imported: Import) -> str:
        """The NPU package or NPU-only module that an import loads; empty where it loads none."""
        packages = self.packages_of(imported)
        if packages:
            return packages[0]
        if not imported.level and not self.symbols.is_project(imported.module):
            return ""
        written = ".".join((imported.module, *(name.name for name in imported.names)))
        if not self.is_npu_name(written) and not self.is_npu_name(module):
            return ""
        return next((one for one in self.symbols.loaded_by(module, imported) if self.is_npu_only(one)), "")

    def names_in(self, facts: FileFacts) -> set[str]:
        """Names that a file binds to an NPU package or to something of one."""
        found: set[str] = set()
        for imported in facts.imports:
            if self.packages_of(imported):
                found.update((imported.bound,) if imported.bound else (name.bound for name in imported.names))
        return found - {"torch"}

    def is_namespace(self, module: str, scope: int, name: str) -> bool:
        """Whether a dotted use really is the NPU package and not a variable of that name."""
        targets = self.symbols.resolve(module, scope, name)
        if targets:
            return any(
                target.kind == "external"
                and any(
                    target.name == package or target.name.startswith(package + ".")
                    for package in self.dialect.npu_packages
                )
                for target in targets
            )
        return any(name.startswith(package + ".") for package in self.dialect.npu_packages) and not self._is_local(
            module, scope, name
        )

    def has_fallback(self, module: str, scope: int, name: str) -> bool:
        """Whether a name, which is only mentioned, has another value where the NPU package is not there."""
        if "." in name:
            return False
        targets = self.symbols.resolve(module, scope, name)
        return any(target.kind == "value" for target in targets) or self._is_local(module, scope, name)

    def _decide_npu_only(self, module: str) -> bool:
        stem = module.rpartition(".")[2]
        if stem.startswith(self.dialect.generated_prefix) and self.is_npu_name(stem):
            # Generated for both, one of the two is for the host at hand, whatever they import.
            sibling = module.removesuffix("npu") + "gpu"
            if module.endswith("npu") and sibling in self.symbols.modules:
                return True
        return self.is_npu_name(module) and self._loads_npu(module)

    def _loads_npu(self, module: str) -> bool:
        facts = self.symbols.modules[module]
        for imported in facts.imports:
            if imported.handled or not runs_at_load(facts, imported.scope):
                continue
            if not self.guards.possible(module, imported.scope, imported.when):
                continue
            if self.packages_of(imported):
                return True
            if any(self.is_npu_only(target) for target in self.symbols.loaded_by(module, imported) if target != module):
                return True
        return any(
            ref.scope == 0 and not ref.handled and self.is_namespace(module, 0, ref.name)
            and self.guards.possible(module, 0, ref.when)
            for ref in facts.refs
        )  # fmt: skip

    def _is_local(self, module: str, scope: int, name: str) -> bool:
        root = name.partition(".")[0]
        facts = self.deep(module) if scope >= len(self.symbols.modules[module].scopes) else self.symbols.modules[module]
        while scope > 0:
            if root in facts.scopes[scope].locals:
                return True
            scope = facts.scopes[scope].parent
        return False


@lru_cache(maxsize=8)
def _roots(packages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple({package.partition(".")[0] for package in packages})
