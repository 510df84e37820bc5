"""Files that exist to implement something with an optional package, so that they are to be loaded late."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import FileFacts, Import
from veomni_opslint.model.loading import Loading, Step
from veomni_opslint.model.symbols import Symbols

_LIBRARY_WORDS = frozenset({"", "kernel", "kernels"})
_SHORTEST_PART = 5
_MANY = 4
"""A file in which one definition of so many is made with a package exists for that, however many files import it."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ImplementationFiles:
    """Tells them from files that everybody loads and that should not import the package.

    ``loaded_first`` are the packages that every program which uses the project loads; ``ops_package`` is one of them.
    """

    symbols: Symbols
    dialect: Dialect
    loading: Loading
    loaded_first: tuple[str, ...]
    ops_package: str
    _known: dict[str, bool] = field(default_factory=dict, repr=False)
    _importers: list[dict[str, tuple[set[str], set[str]]]] = field(default_factory=list, repr=False)

    def __contains__(self, module: str) -> bool:
        """Whether a file loads a package, and is made with it, called like it, or imported late elsewhere."""
        known = self._known.get(module)
        if known is None:
            self._known[module] = False
            known = self._known[module] = self._decide(module)
        return known

    def packages(self, imported: Import) -> tuple[str, ...]:
        """Optional packages that an import names, without those of the NPU."""
        found = self.loading.packages(imported)
        return tuple(one for one in found if one not in self.dialect.npu_packages) if found else ()

    def is_named_after_one(self, stem: str) -> bool:
        """Whether the name of a file or folder names an optional package: ``triton_wan``, ``liger``, ``flashmla``."""
        words, condensed = set(stem.split("_")), stem.replace("_", "")
        for package in self.dialect.optional_packages:
            first, _, rest = package.partition("_")
            if first in words and rest in _LIBRARY_WORDS:
                return True
            if len(package) >= _SHORTEST_PART and package.replace("_", "") in condensed:
                return True
        return False

    def _decide(self, module: str) -> bool:
        if module in self.symbols.packages:
            return False
        steps = [step for step in self.loading.steps(module) if not step.tried]
        direct = [step for step in steps if self.packages(step.imported)]
        if module.rpartition(".")[2].startswith(self.dialect.generated_prefix):
            return bool(direct)
        if direct:
            return (
                self.is_named_after_one(module.rpartition(".")[2])
                or self._is_made_with(module, self.symbols.modules[module], direct)
                or self._uses_and_is_loaded_late(module, self.symbols.modules[module], direct)
            )
        leads_on = any(
            target in self
            for step in steps
            for target in self.symbols.loaded_by(step.module, step.imported)
            if target != module
        )
        if not leads_on:
            return False
        return self.is_named_after_one(module.rpartition(".")[2]) or (
            self._is_below_ops(module) and self._is_loaded_late(module)
        )

    def _is_made_with(self, module: str, facts: FileFacts, direct: list[Step]) -> bool:
        """Whether functions or classes of a file are decorated with, or derived from, something of a package."""
        names = set(_bound(direct))
        own = [scope for scope in facts.scopes if scope.parent == 0 and scope.kind in ("function", "class")]
        made = [scope for scope in own if any(_root(name) in names for name in (*scope.decorators, *scope.bases))]
        return bool(made) and (len(made) * _MANY >= len(own) or self._is_loaded_late(module))

    def _uses_and_is_loaded_late(self, module: str, facts: FileFacts, direct: list[Step]) -> bool:
        """Outside the ops package a single import may have strayed into a file that is loaded early as well."""
        if not self._is_loaded_late(module) or not (self._is_below_ops(module) or len(direct) > 1):
            return False
        return any(len(re.findall(rf"\b{re.escape(name)}\b", facts.text)) > 1 for name in _bound(direct))

    def _is_below_ops(self, module: str) -> bool:
        return module.startswith(f"{self.ops_package}.")

    def _is_loaded_late(self, module: str) -> bool:
        eager, late = self._importers_of(module)
        return bool(late) and len(eager) <= 1

    def _importers_of(self, module: str) -> tuple[set[str], set[str]]:
        """Modules that import *module* when the package is loaded, and all that do so in a function or by a string."""
        if not self._importers:
            self._importers.append(self._find_importers())
        return self._importers[0].get(module, (set(), set()))

    def _find_importers(self) -> dict[str, tuple[set[str], set[str]]]:
        loaded = {one for root in self.loaded_first for one in self._loaded_with(root)}
        found: dict[str, tuple[set[str], set[str]]] = {}
        for module, facts in self.symbols.modules.items():
            for imported in facts.imports:
                late = facts.scopes[imported.scope].kind in ("function", "lambda")
                for target in self.symbols.loaded_by(module, imported):
                    if target != module and not module.startswith(f"{target}.") and (late or module in loaded):
                        found.setdefault(target, (set(), set()))[late].add(module)
            for text, _, _ in facts.entry_strings:
                target = text.partition(":")[0]
                if target in self.symbols.modules and target != module:
                    found.setdefault(target, (set(), set()))[1].add(module)
        return found

    def _loaded_with(self, root: str) -> Iterator[str]:
        if root in self.symbols.modules:
            yield from (root, *self.loading.closure(root, tried=False).via)


def _bound(steps: list[Step]) -> Iterator[str]:
    for step in steps:
        yield from (name for name in (step.imported.bound, *(one.bound for one in step.imported.names)) if name)


def _root(name: str) -> str:
    return name.partition(".")[0]
