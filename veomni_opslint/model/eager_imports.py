"""Optional packages that importing a package of the project loads, and the import that would have to be deferred."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import Span
from veomni_opslint.model.implementation_files import ImplementationFiles
from veomni_opslint.model.loading import Loading, Step
from veomni_opslint.model.symbols import Symbols


class EagerImport(NamedTuple):
    """Loading ``root`` imports ``package``.

    ``step`` is the import to defer: that of the package or, where the package is first met in a file that exists to
    implement something with it, the import that leads into that file. ``step.place`` is where it can be deferred.
    ``chain`` goes from the root to the package.
    ``tried``: nothing fails where the package is absent.
    """

    package: str
    root: str
    step: Step
    chain: tuple[Step, ...]
    tried: bool


class EagerImports(NamedTuple):
    """Finds them. NPU packages, and files written for the NPU, are left to the rules about NPU guards."""

    symbols: Symbols
    dialect: Dialect
    loading: Loading
    is_npu_name: Callable[[str], bool]
    implementations: ImplementationFiles

    def unguarded(self, roots: Iterable[str], requested: Iterable[Step] = ()) -> Iterator[EagerImport]:
        """Those that fail where the package is absent, in the order of *roots*; each import once for a package.

        *requested* are steps that are no code yet, as those that a patch config asks for.
        """
        shared = _Region()
        for root in roots:
            self._load(shared, root)
        asked_for = [_Edge(step, tuple(self._targets(step, shared))) for step in requested]
        yield from self._at_edges(shared, [*(edge for edge in shared.edges if not edge.step.tried), *asked_for])

    def tried(self, root: str) -> Iterator[EagerImport]:
        """Those that load the package wherever it is installed and do no harm where it is not."""
        region = _Region()
        self._load(region, root, certain=False)
        pending = [edge for edge in region.edges if edge.step.tried]
        while pending:
            known = len(region.edges)
            yield from self._at_edges(region, pending)
            for edge in pending:
                for target in edge.targets:
                    if target not in region.via:
                        region.via[target] = edge.step
                        self._load(region, target, certain=False)
            pending = [edge for edge in region.edges[known:] if edge.step.tried]

    def _load(self, region: _Region, root: str, certain: bool = True) -> None:
        """Follow imports outside any ``try`` from *root*, as far as files that implement something with a package."""
        pending = deque([root])
        region.via.setdefault(root, None)
        while pending:
            module = pending.popleft()
            for step in self.loading.steps(module, certain):
                barred = []
                for target in self._targets(step, region):
                    if step.tried or target in self.implementations:
                        barred.append(target)
                    else:
                        region.via[target] = step
                        pending.append(target)
                if barred or self.implementations.packages(step.imported):
                    region.edges.append(_Edge(step, tuple(barred)))

    def _targets(self, step: Step, region: _Region) -> Iterator[str]:
        for target in self.symbols.loaded_by(step.module, step.imported):
            if target not in region.via and (self._is_generated(target) or not self.is_npu_name(target)):
                yield target

    def _at_edges(self, region: _Region, edges: Iterable[_Edge]) -> Iterator[EagerImport]:
        seen: set[tuple[str, Span, str]] = set()
        for edge in edges:
            step = edge.step
            found: dict[str, tuple[Step, ...]] = {
                package: ()
                for package in self.implementations.packages(step.imported)
                if not (step.tried and self.loading.never(step.imported.when, package))
            }
            for target in edge.targets:
                if not (step.tried and target in region.via):
                    for package, inner in self._loaded_below(target, region).items():
                        found.setdefault(package, inner)
            for package, inner in found.items():
                if (*step.place, package) not in seen:
                    seen.add((*step.place, package))
                    before = region.chain(step.place[0])
                    root = before[0].module if before else step.place[0]
                    yield EagerImport(package, root, step, (*before, step, *inner), step.tried)

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
                for package in self.implementations.packages(step.imported):
                    found.setdefault(package, (*inner.chain(current), step))
                for target in self._targets(step, region):
                    if target not in inner.via:
                        inner.via[target] = step
                        pending.append(target)
        return found

    def _is_generated(self, module: str) -> bool:
        return module.rpartition(".")[2].startswith(self.dialect.generated_prefix)


class _Edge(NamedTuple):
    """A step that names an optional package, or leads to ``targets`` that were not loaded by it."""

    step: Step
    targets: tuple[str, ...]


@dataclass(slots=True)
class _Region:
    """Modules that are loaded, each with the step that loads it, and the edges out of them, in order."""

    via: dict[str, Step | None] = field(default_factory=dict)
    edges: list[_Edge] = field(default_factory=list)

    def chain(self, module: str) -> tuple[Step, ...]:
        """The steps from a root to *module*, in order."""
        found: list[Step] = []
        step = self.via.get(module)
        while step is not None and step not in found:
            found.append(step)
            step = self.via.get(step.place[0])
        return tuple(reversed(found))
