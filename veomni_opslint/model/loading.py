"""What importing a module loads at once: chains of imports that no function, guard or ``try`` stands before."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from veomni_opslint.conditions import Condition, negate, possible
from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import FileFacts, Import, Ref, Scope, Span, text_of
from veomni_opslint.model.symbols import Symbols, Target

_AVAILABILITY_WORDS = ("avail", "has_", "have_", "is_", "use_", "can_", "support", "installed", "enabled")
_MAIN = ("cmp", "Eq", ("name", "__name__"), ("const", "__main__"))
_MAX_CALLS = 200


@dataclass(frozen=True, slots=True)
class Step:
    """One link of a chain: the import at ``imported``, written in ``scope`` of ``module``, runs.

    ``tried``: in a ``try`` that goes on without what is imported. ``certain``: whatever is installed; otherwise only
    that nothing rules it out. ``called_from``: the module and the call at module level by which a function with the
    import runs.
    """

    module: str
    imported: Import
    scope: int
    tried: bool
    certain: bool
    called_from: tuple[str, Span] | None = None

    @property
    def place(self) -> tuple[str, Span]:
        """The module and the code in it but for which the import would not run when the module is loaded."""
        return self.called_from or (self.module, self.imported.span)


class External(NamedTuple):
    """An import of a package outside the project that runs when a module is loaded."""

    package: str
    step: Step


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
            module = step.place[0]
        return tuple(reversed(steps))


@dataclass(frozen=True, slots=True)
class Loading:
    """Answers what is loaded together with what."""

    symbols: Symbols
    dialect: Dialect
    deep: Callable[[str], FileFacts]
    _runs: dict[str, tuple[Step, ...]] = field(default_factory=dict, repr=False)

    def closure(self, root: str, tried: bool = True, certain: bool = True) -> Closure:
        """Everything that loading *root* loads; also through imports in a ``try``, if *tried*.

        Unless *certain*, also what is loaded under conditions that nothing rules out.
        """
        via: dict[str, Step] = {}
        pending = deque([root])
        while pending:
            module = pending.popleft()
            for step in self.steps(module, certain):
                if step.tried and not tried:
                    continue
                for target in self.symbols.loaded_by(step.module, step.imported):
                    if target != root and target not in via:
                        via[target] = step
                        pending.append(target)
        return Closure(root, via)

    def steps(self, module: str, certain: bool = True) -> tuple[Step, ...]:
        """Imports that run when *module* is loaded: at its top, in class bodies, in functions that it calls then."""
        known = self._runs.get(module)
        if known is None:
            known = self._runs[module] = tuple(self._collect(module))
        return tuple(step for step in known if step.certain) if certain else known

    def packages(self, imported: Import) -> tuple[str, ...]:
        """Optional packages of the dialect that an import names."""
        return () if imported.level else tuple(_packages(imported, self.dialect))

    def externals(self, module: str) -> Iterator[External]:
        """Optional packages of the dialect that loading *module* itself imports, not what it loads."""
        for step in self.steps(module):
            for package in self.packages(step.imported):
                yield External(package, step)

    def certain(self, condition: Condition, package: str = "") -> bool:
        """Whether a condition holds, given that *package* is not installed, and that others all are or all are not."""
        if condition == ("true",):
            return True
        otherwise = negate(condition)
        return any(
            not possible(otherwise, lambda atom, has=has: _plain_truth(atom, package, has))  # type: ignore[misc]
            for has in (True, False)
        )

    def never(self, condition: Condition, package: str = "") -> bool:
        """Whether a condition cannot hold when a module is imported where *package* is not installed."""
        return condition != ("true",) and not possible(condition, lambda atom: _plain_truth(atom, package, None))

    def _collect(self, module: str) -> Iterator[Step]:
        facts = self.symbols.modules[module]
        running = {0: True}
        for scope in facts.scopes[1:]:
            if scope.kind == "class" and scope.parent in running and not self.never(scope.when):
                running[scope.index] = running[scope.parent] and self.certain(scope.when)
        for imported in facts.imports:
            if imported.scope in running and not self.never(imported.when):
                certain = running[imported.scope] and self._certain_import(imported, facts.scopes[imported.scope])
                yield Step(module, imported, imported.scope, imported.handled, certain)
        seen: set[tuple[str, int]] = set()
        for ref in facts.refs:
            if ref.call and ref.scope in running and not self.never(ref.when):
                certain = running[ref.scope] and self.certain(ref.when)
                for step in self._called(module, facts, ref, ref.import_handled, certain, seen):
                    yield replace(step, called_from=(module, ref.span))

    def _called(
        self, module: str, facts: FileFacts, ref: Ref, tried: bool, certain: bool, seen: set[tuple[str, int]]
    ) -> Iterator[Step]:
        if len(seen) > _MAX_CALLS:
            return
        for target in self.symbols.resolve_deep(facts, module, ref.scope, ref.name):
            there, function = self._function(target)
            if function is None or (target.module, function.index) in seen:
                continue
            seen.add((target.module, function.index))
            for imported in there.imports:
                if imported.scope == function.index and not self.never(imported.when):
                    sure = certain and self._certain_import(imported, function)
                    yield Step(target.module, imported, imported.scope, tried or imported.handled, sure)
            for inner in there.refs:
                if inner.scope == function.index and inner.call and not self.never(inner.when):
                    sure = certain and self.certain(inner.when)
                    caught = tried or inner.import_handled
                    yield from self._called(target.module, there, inner, caught, sure, seen)

    def _function(self, target: Target) -> tuple[FileFacts, Scope | None]:
        facts = self.symbols.modules.get(target.module) or FileFacts("", "", None)
        if target.kind != "scope" or target.rest or target.scope >= len(facts.scopes):
            return facts, None
        function = facts.scopes[target.scope]
        if function.kind != "function" or function.is_generator or function.is_async:
            return facts, None
        if function.deferred and self._may_import(target.module, facts, function):
            facts = self.deep(target.module)
        return facts, facts.scopes[target.scope]

    def _may_import(self, module: str, facts: FileFacts, function: Scope) -> bool:
        """Whether a function that has no import itself may call one of the project that has."""
        text = text_of(facts, function.span)
        for one in facts.imports:
            owner = facts.scopes[one.scope]
            if owner.kind == "function" and owner.name in text:
                return True
            if owner.kind == "module" and self.symbols.is_project(self.symbols.absolute(module, one)):
                bound = (one.bound, *(name.bound for name in one.names))
                if any(f"{name}(" in text or f"{name}." in text for name in bound if name):
                    return True
        return False

    def _certain_import(self, imported: Import, within: Scope) -> bool:
        package = next(iter(self.packages(imported)), "")
        if self.certain(imported.when, package):
            return True
        # Below a first import of the package nothing runs without it, but the second one is no better for that.
        return bool(package) and self.certain(imported.when) and self.never(within.completes, package)


def _packages(imported: Import, dialect: Dialect) -> Iterator[str]:
    root, _, rest = imported.module.partition(".")
    if root in dialect.optional_packages:
        yield root
    elif root == "torch":
        names = [rest.partition(".")[0]] if rest else [name.name for name in imported.names]
        for name in names:
            if f"torch.{name}" in dialect.npu_packages:
                yield f"torch.{name}"


def _plain_truth(atom: Condition, package: str, others: bool | None) -> bool | None:
    """The truth of an atom where *package* is not installed and *others* (None: who knows) are."""
    kind = atom[0]
    if kind == "available":
        return False if atom[1] == package else others
    if kind == "completes":
        return True
    if atom == _MAIN:
        return False
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
