"""What importing a module loads at once: chains of imports that no function, guard or ``try`` stands before."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from veomni_opslint.conditions import Condition, truth
from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import FileFacts, Import
from veomni_opslint.model.symbols import Symbols

_AVAILABILITY_WORDS = ("avail", "has_", "have_", "is_", "use_", "can_", "support", "installed", "enabled")
_MAX_CALL_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Step:
    """One link of a chain: *module*, in one of its scopes, runs an import (or calls a function, then ``calls``)."""

    module: str
    imported: Import
    scope: int


@dataclass(frozen=True, slots=True)
class External:
    """An import of a package outside the project that runs when ``module`` is loaded.

    ``step`` is the import; ``tried`` when it stands in a ``try`` that goes on without the package.
    """

    package: str
    step: Step
    tried: bool


@dataclass(frozen=True, slots=True)
class Closure:
    """All modules that loading ``root`` loads at once. ``via`` gives, for each but the root, the step that loads it."""

    root: str
    via: dict[str, Step]

    def __contains__(self, module: str) -> bool:
        return module == self.root or module in self.via

    def chain(self, module: str) -> tuple[Step, ...]:
        """The steps from the root to *module*, in order."""
        steps: list[Step] = []
        while module != self.root:
            step = self.via[module]
            steps.append(step)
            module = step.module
        return tuple(reversed(steps))


@dataclass(frozen=True, slots=True)
class Loading:
    """Answers what is loaded together with what."""

    symbols: Symbols
    dialect: Dialect
    deep: Callable[[str], FileFacts]
    _runs: dict[str, tuple[tuple[Import, int], ...]] = field(default_factory=dict, repr=False)

    def closure(self, root: str, tried: bool = True) -> Closure:
        """Everything that loading *root* loads; also through imports in a ``try``, if *tried*."""
        via: dict[str, Step] = {}
        pending = deque([root])
        while pending:
            module = pending.popleft()
            for imported, scope in self.imports_run(module):
                if imported.handled and not tried:
                    continue
                for target in self.symbols.loaded_by(module, imported):
                    if target != root and target not in via:
                        via[target] = Step(module, imported, scope)
                        pending.append(target)
        return Closure(root, via)

    def imports_run(self, module: str) -> tuple[tuple[Import, int], ...]:
        """Imports that certainly run when *module* is loaded: at its top, in class bodies, in functions it calls."""
        known = self._runs.get(module)
        if known is None:
            known = self._runs[module] = tuple(self._collect(module))
        return known

    def externals(self, module: str) -> Iterator[External]:
        """Optional packages of the dialect that loading *module* itself imports, not what it loads."""
        for imported, scope in self.imports_run(module):
            if imported.level:
                continue
            for package in _packages(imported, self.dialect):
                yield External(package, Step(module, imported, scope), imported.handled)

    def certain(self, condition: Condition, package: str = "") -> bool:
        """Whether a condition holds whatever is installed, given that *package* is not."""
        return truth(condition, lambda atom: _plain_truth(atom, package)) is True

    def _collect(self, module: str) -> Iterator[tuple[Import, int]]:
        facts = self.symbols.modules[module]
        running = [scope.index for scope in facts.scopes if self._runs_at_load(facts, scope.index)]
        for imported in facts.imports:
            if imported.scope in running and self._certain_import(imported):
                yield imported, imported.scope
        seen: set[tuple[str, int]] = set()
        for ref in facts.refs:
            if ref.call and ref.scope in running and self.certain(ref.when):
                yield from self._called(module, ref.scope, ref.name, seen, 0)

    def _called(
        self, module: str, scope: int, name: str, seen: set[tuple[str, int]], depth: int
    ) -> Iterator[tuple[Import, int]]:
        for target in self.symbols.resolve(module, scope, name):
            # Only calls inside one module: a function of another module has its imports reported there.
            if target.kind != "scope" or target.rest or target.module != module or depth > _MAX_CALL_DEPTH:
                continue
            facts = self.deep(module)
            function = facts.scopes[target.scope]
            if function.kind != "function" or (module, function.index) in seen or function.is_generator:
                continue
            seen.add((module, function.index))
            for imported in facts.imports:
                if imported.scope == function.index and self._certain_import(imported):
                    yield imported, imported.scope
            for ref in facts.refs:
                if ref.scope == function.index and ref.call and self.certain(ref.when):
                    yield from self._called(module, function.index, ref.name, seen, depth + 1)

    def _runs_at_load(self, facts: FileFacts, index: int) -> bool:
        while index > 0:
            scope = facts.scopes[index]
            if scope.kind != "class" or not self.certain(scope.when):
                return False
            index = scope.parent
        return True

    def _certain_import(self, imported: Import) -> bool:
        packages = tuple(_packages(imported, self.dialect)) if not imported.level else ()
        return self.certain(imported.when, packages[0] if packages else "")


def _packages(imported: Import, dialect: Dialect) -> Iterator[str]:
    root, _, rest = imported.module.partition(".")
    if root in dialect.optional_packages:
        yield root
    elif root == "torch":
        names = [rest.partition(".")[0]] if rest else [name.name for name in imported.names]
        for name in names:
            if f"torch.{name}" in dialect.npu_packages:
                yield f"torch.{name}"


def _plain_truth(atom: Condition, package: str) -> bool | None:
    kind = atom[0]
    if kind == "available":
        return bool(atom[1] != package)
    if kind == "completes":
        return True
    if kind in ("name", "call"):
        last = str(atom[1]).rpartition(".")[2]
        if last == "TYPE_CHECKING":
            return False
        if package and _is_availability_of(last, atom, package):
            return False
    return None


def _is_availability_of(name: str, atom: Condition, package: str) -> bool:
    if atom[0] == "call" and atom[2] and atom[2][0] == package:
        return True
    lowered = name.lower()
    token = package.partition("_")[0] if len(package.partition("_")[0]) > 3 else package
    return token in lowered and any(word in lowered for word in _AVAILABILITY_WORDS)
