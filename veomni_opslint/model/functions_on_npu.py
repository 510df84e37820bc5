"""Which functions can run on a host with an NPU, and the call that leads to each."""

from __future__ import annotations

from dataclasses import dataclass

from veomni_opslint.facts import FileFacts, Scope, Span
from veomni_opslint.model.gpu_files import GpuFiles
from veomni_opslint.model.guards import Guards
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.uses import Use

_OF_CLASS = frozenset({"classmethod", "staticmethod"})
_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FunctionsOnNpu:
    """Answers for the host that the guards are about; ``gpu_files`` run on none with an NPU."""

    model: OpsModel
    guards: Guards
    gpu_files: GpuFiles

    def reached(self, module: str, facts: FileFacts, function: Scope) -> tuple[bool, tuple[str, Span] | None]:
        """Whether a function can run there, and where it is called then, as far as that is known."""
        return self._reached(module, facts, function, frozenset(), 0)

    def _reached(
        self, module: str, facts: FileFacts, function: Scope, above: frozenset[tuple[str, int]], depth: int
    ) -> tuple[bool, tuple[str, Span] | None]:
        if (module, function.index) in above or depth > _MAX_DEPTH:
            return False, None
        above = above | {(module, function.index)}
        mark = dict(facts.truths).get("pytestmark")
        if mark is not None and not self.guards.possible(module, 0, mark):
            return False, None
        scope = function
        while scope.parent >= 0:
            if not (
                self.guards.possible(module, scope.parent, scope.when)
                and self.guards.possible(module, scope.parent, scope.gate)
            ):
                return False, None
            scope = facts.scopes[scope.parent]
        if "cuda" in function.name.split("_") or function.name.startswith("test_"):
            return function.name.startswith("test_"), None
        if not self._is_made(module, facts, function, above, depth):
            return False, None
        if function.decorators or (facts.scopes[function.parent].kind == "class" and function.name.startswith("__")):
            return True, None
        if function.name in ("forward", "backward", "main", "setup", "run"):
            return True, None
        uses = self.model.uses.of(module, function.index)
        for use in uses:
            if self._use_reached(use, above, depth):
                return True, (use.module, use.span)
        return not uses, None

    def _is_made(
        self, module: str, facts: FileFacts, function: Scope, above: frozenset[tuple[str, int]], depth: int
    ) -> bool:
        """Whether the class of a method can have an object, or whatever it takes to call the method."""
        owner = facts.scopes[function.parent]
        if owner.kind != "class":
            return True
        if function.name != "__init__" and _OF_CLASS.isdisjoint(function.decorators):
            for init in self.model.deep(module).scopes:
                if (
                    init.parent == owner.index
                    and init.name == "__init__"
                    and not self.guards.possible(module, init.index, init.completes)
                ):
                    return False
        uses = [
            use
            for use in self.model.uses.of(module, owner.index)
            if use.module != module or not owner.span[:2] <= use.span[:2] <= owner.span[2:]
        ]
        return not uses or bool(owner.decorators) or any(self._use_reached(use, above, depth + 1) for use in uses)

    def _use_reached(self, use: Use, above: frozenset[tuple[str, int]], depth: int) -> bool:
        if not self.guards.possible(use.module, use.scope, use.when):
            return False
        facts = self.model.deep(use.module)
        scope = facts.scopes[use.scope]
        while scope.index > 0 and not (scope.kind == "function" and facts.scopes[scope.parent].kind != "function"):
            if not self.guards.possible(use.module, scope.parent, scope.when):
                return False
            scope = facts.scopes[scope.parent]
        if scope.index == 0 or use.module in self.gpu_files:
            return use.module not in self.gpu_files
        return self._reached(use.module, facts, scope, above, depth + 1)[0]
