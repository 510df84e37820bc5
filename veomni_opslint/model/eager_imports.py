"""Optional packages that importing a package of the project loads, and the import that would have to be deferred."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import FileFacts, Import
from veomni_opslint.model.loading import Loading, Step
from veomni_opslint.model.symbols import Symbols

_LIBRARY_WORDS = frozenset({"kernel", "kernels"})
_SHORTEST_PART = 5
_MANY = 4
"""A file in which one definition of so many is made with a package exists for that, however many files import it."""


@dataclass(frozen=True, slots=True)
class EagerImport:
    """Loading ``root`` imports ``package``.

    ``step`` is the import to defer: that of the package or, where the package is first met in a file that exists to
    implement something with it, the import that leads into that file. ``chain`` goes from the root to the package.
    ``tried``: nothing fails where the package is absent.
    """

    package: str
    root: str
    step: Step
    chain: tuple[Step, ...]
    tried: bool


@dataclass(frozen=True, slots=True)
class EagerImports:
    """Finds them. NPU packages, and files written for the NPU, are left to the rules about NPU guards.

    ``loaded_first`` are the packages that every program which uses the project loads.
    """

    symbols: Symbols
    dialect: Dialect
    loading: Loading
    is_npu_name: Callable[[str], bool]
    loaded_first: tuple[str, ...]
    _implementations: dict[str, bool] = field(default_factory=dict, repr=False)
    _importers: list[dict[str, tuple[set[str], set[str]]]] = field(default_factory=list, repr=False)

    def unguarded(self, roots: Iterable[str], requested: Iterable[Step] = ()) -> Iterator[EagerImport]:
        """Those that fail where the package is absent, in the order of *roots*; each import once for a package.

        *requested* are steps that are no code yet, as those that a patch config asks for.
        """
        shared = _Region()
        for root in roots:
            self._load(shared, root)
        steps = [*(step for step in shared.steps if not step.tried), *requested]
        yield from self._at_steps(shared, steps, tried=False)

    def tried(self, root: str) -> Iterator[EagerImport]:
        """Those that load the package wherever it is installed and do no harm where it is not."""
        region = _Region()
        self._load(region, root, certain=False)
        pending = [step for step in region.steps if step.tried]
        while pending:
            known = len(region.steps)
            yield from self._at_steps(region, pending, tried=True)
            for step in pending:
                for target in self._targets(step, region):
                    region.via[target] = step
                    self._load(region, target, certain=False)
            pending = [step for step in region.steps[known:] if step.tried]

    def packages(self, imported: Import) -> tuple[str, ...]:
        """Optional packages that an import names, without those of the NPU."""
        return tuple(one for one in self.loading.packages(imported) if one not in self.dialect.npu_packages)

    def _load(self, region: _Region, root: str, certain: bool = True) -> None:
        """Follow imports outside any ``try`` from *root*, as far as files that implement something with a package."""
        pending = deque([root])
        region.via.setdefault(root, None)
        while pending:
            module = pending.popleft()
            for step in self.loading.steps(module, certain):
                leads_on = step.tried or bool(self.packages(step.imported))
                for target in () if step.tried else self._targets(step, region):
                    if self.is_implementation(target):
                        leads_on = True
                    else:
                        region.via[target] = step
                        pending.append(target)
                if leads_on:
                    region.steps.append(step)

    def _targets(self, step: Step, region: _Region) -> Iterator[str]:
        for target in self.symbols.loaded_by(step.module, step.imported):
            if target not in region.via and not (self.is_npu_name(target) and not self._is_generated(target)):
                yield target

    def _at_steps(self, region: _Region, steps: Iterable[Step], tried: bool) -> Iterator[EagerImport]:
        seen: set[tuple[str, Import, str]] = set()
        for step in steps:
            found: dict[str, tuple[Step, ...]] = {
                package: ()
                for package in self.packages(step.imported)
                if not (tried and self.loading.never(step.imported.when, package))
            }
            for target in self._targets(step, region):
                for package, inner in self._loaded_below(target, region).items():
                    found.setdefault(package, inner)
            for package, inner in found.items():
                if (step.module, step.imported, package) not in seen:
                    seen.add((step.module, step.imported, package))
                    before = region.chain(step.module)
                    root = before[0].module if before else step.module
                    yield EagerImport(package, root, step, (*before, step, *inner), tried)

    def _loaded_below(self, module: str, region: _Region) -> dict[str, tuple[Step, ...]]:
        """Packages that loading *module* loads, with the chain to each; what is loaded anyway does not count."""
        found: dict[str, tuple[Step, ...]] = {}
        inner = _Region(via={module: None})
        pending = deque([module])
        while pending:
            current = pending.popleft()
            for step in self.loading.steps(current):
                if step.tried:
                    continue
                for package in self.packages(step.imported):
                    found.setdefault(package, (*inner.chain(current), step))
                for target in self._targets(step, region):
                    if target not in inner.via:
                        inner.via[target] = step
                        pending.append(target)
        return found

    def is_implementation(self, module: str) -> bool:
        """Whether a file exists to implement something with an optional package, so that it is to be loaded late.

        It loads one, and defines functions or classes with it, is called like it, or is imported late elsewhere.
        """
        known = self._implementations.get(module)
        if known is None:
            self._implementations[module] = False
            known = self._implementations[module] = self._decide(module)
        return known

    def _decide(self, module: str) -> bool:
        facts = self.symbols.modules[module]
        if module in self.symbols.packages or self._is_generated(module):
            return False
        names = {
            name
            for step in self.loading.steps(module)
            if not step.tried and self.packages(step.imported)
            for name in (step.imported.bound, *(one.bound for one in step.imported.names))
        }
        if names:
            return self.is_named_after_one(module.rpartition(".")[2]) or self._defines_with(module, facts, names)
        leads_on = any(
            self.is_implementation(target)
            for step in self.loading.steps(module)
            if not step.tried
            for target in self.symbols.loaded_by(step.module, step.imported)
            if target != module
        )
        return leads_on and (self.is_named_after_one(module.rpartition(".")[2]) or self._is_loaded_late(module))

    def is_named_after_one(self, stem: str) -> bool:
        """Whether the name of a file or folder names an optional package: ``triton_wan``, ``liger``, ``flashmla``."""
        words, condensed = set(stem.split("_")), stem.replace("_", "")
        for package in self.dialect.optional_packages:
            first, _, rest = package.partition("_")
            if first in words and rest in _LIBRARY_WORDS | {""}:
                return True
            if len(package) >= _SHORTEST_PART and package.replace("_", "") in condensed:
                return True
        return False

    def _defines_with(self, module: str, facts: FileFacts, names: set[str]) -> bool:
        eager, late = self._importers_of(module)
        own = [scope for scope in facts.scopes if scope.parent == 0 and scope.kind in ("function", "class")]
        with_one = [scope for scope in own if any(_root(name) in names for name in (*scope.decorators, *scope.bases))]
        if with_one:
            return bool(late) or len(eager) <= 1 or len(with_one) * _MANY >= len(own)
        return self._is_loaded_late(module) and any(
            len(re.findall(rf"\b{re.escape(name)}\b", facts.text)) > 1 for name in names if name
        )

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

    def _is_generated(self, module: str) -> bool:
        return module.rpartition(".")[2].startswith(self.dialect.generated_prefix)


@dataclass(slots=True)
class _Region:
    """Modules that are loaded, each with the step that loads it, and the steps that may lead to a package, in order."""

    via: dict[str, Step | None] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    def chain(self, module: str) -> tuple[Step, ...]:
        """The steps from a root to *module*, in order."""
        found: list[Step] = []
        step = self.via.get(module)
        while step is not None and step not in found:
            found.append(step)
            step = self.via.get(step.module)
        return tuple(reversed(found))


def _root(name: str) -> str:
    return name.partition(".")[0]
