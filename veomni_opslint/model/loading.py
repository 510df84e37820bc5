"""What importing a module loads at once: chains of imports that no function, guard or ``try`` stands before."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from veomni_opslint.conditions import TRUE, Condition, negate, possible
from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import FileFacts, Import, Ref, Scope, Span
from veomni_opslint.model.called_at_load import decorating
from veomni_opslint.model.plain_truths import plain_truth
from veomni_opslint.model.run_by_call import RunByCall
from veomni_opslint.model.symbols import Symbols

_MAX_CALLS = 200


class Step(NamedTuple):
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Loading:
    """Answers what is loaded together with what."""

    symbols: Symbols
    dialect: Dialect
    calls: RunByCall
    _runs: dict[str, tuple[Step, ...]] = field(default_factory=dict, repr=False)
    _certain: dict[tuple[Condition, str], bool] = field(default_factory=dict, repr=False)
    _never: dict[tuple[Condition, str], bool] = field(default_factory=dict, repr=False)

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
        if imported.level:
            return ()
        root = imported.module.partition(".")[0]
        if root in _names(self.dialect.optional_packages):
            return (root,)
        return tuple(_of_torch(imported, self.dialect)) if root == "torch" else ()

    def certain(self, condition: Condition, package: str = "") -> bool:
        """Whether a condition holds, given that *package* is not installed, and that others all are or all are not."""
        if condition == TRUE:
            return True
        key = (condition, package)
        known = self._certain.get(key)
        if known is None:
            otherwise = negate(condition)
            known = self._certain[key] = any(
                not possible(otherwise, lambda atom, has=has: plain_truth(atom, package, has))  # type: ignore[misc]
                for has in (True, False)
            )
        return known

    def never(self, condition: Condition, package: str = "") -> bool:
        """Whether a condition cannot hold when a module is imported where *package* is not installed."""
        if condition == TRUE:
            return False
        key = (condition, package)
        known = self._never.get(key)
        if known is None:
            known = self._never[key] = not possible(condition, lambda atom: plain_truth(atom, package, None))
        return known

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
        for scope in facts.scopes[1:]:
            if scope.kind == "class" and scope.index in running:
                line, column, _, _ = scope.span
                header = (line, column, line, column + len(f"class {scope.name}"))
                for where, there, function in self.calls.by_definition(module, scope):
                    if (where, function.index) not in seen:
                        seen.add((where, function.index))
                        for step in self._run(where, there, function, False, running[scope.index], seen):
                            yield step._replace(called_from=(module, header))
        decorators = {(one.parent, name) for one in facts.scopes for name in one.decorators if one.parent in running}
        for ref in facts.refs:
            called = ref.call or (ref.scope, ref.name) in decorators
            if called and ref.scope in running and not self.never(ref.when):
                certain = running[ref.scope] and self.certain(ref.when)
                for step in self._called(module, facts, ref, ref.import_handled, certain, seen):
                    yield step._replace(called_from=(module, ref.span))

    def _called(
        self, module: str, facts: FileFacts, ref: Ref, tried: bool, certain: bool, seen: set[tuple[str, int]]
    ) -> Iterator[Step]:
        if len(seen) > _MAX_CALLS:
            return
        for found in self.symbols.resolve_deep(facts, module, ref.scope, ref.name):
            for where, there, function in self.calls.functions(found):
                if (where, function.index) not in seen:
                    seen.add((where, function.index))
                    yield from self._run(where, there, function, tried, certain, seen)
                    for inner in decorating(facts, ref, there, function):
                        yield from self._run(where, there, inner, tried, certain, seen)
            for where, there, function in self.calls.methods(found, facts, ref):
                if (where, function.index) not in seen:
                    seen.add((where, function.index))
                    yield from self._run(where, there, function, tried, certain, seen)

    def _run(
        self, module: str, there: FileFacts, function: Scope, tried: bool, certain: bool, seen: set[tuple[str, int]]
    ) -> Iterator[Step]:
        for imported in there.imports:
            if imported.scope == function.index and not self.never(imported.when):
                sure = certain and self._certain_import(imported, function)
                yield Step(module, imported, imported.scope, tried or imported.handled, sure)
        for inner in there.refs:
            if inner.scope == function.index and inner.call and not self.never(inner.when):
                sure = certain and self.certain(inner.when)
                yield from self._called(module, there, inner, tried or inner.import_handled, sure, seen)

    def _certain_import(self, imported: Import, within: Scope) -> bool:
        if imported.when is TRUE:
            return True
        package = next(iter(self.packages(imported)), "")
        if self.certain(imported.when, package):
            return True
        # Below a first import of the package nothing runs without it, but the second one is no better for that.
        return bool(package) and self.certain(imported.when) and self.never(within.completes, package)


def _of_torch(imported: Import, dialect: Dialect) -> Iterator[str]:
    """The NPU packages that are part of torch."""
    rest = imported.module.partition(".")[2]
    names = [rest.partition(".")[0]] if rest else [name.name for name in imported.names]
    for name in names:
        if f"torch.{name}" in dialect.npu_packages:
            yield f"torch.{name}"


@lru_cache(maxsize=8)
def _names(listed: tuple[str, ...]) -> frozenset[str]:
    return frozenset(listed)
