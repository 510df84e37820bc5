"""Backwards from a place: can it be reached where there is no NPU, and on which chain?"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from veomni_opslint.conditions import TRUE, Condition, atoms, both
from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.operands import Operand
from veomni_opslint.facts import FileFacts, Import, Scope, Span
from veomni_opslint.model.arguments import arguments_at, defaults_of, substitute
from veomni_opslint.model.guards import Guards
from veomni_opslint.model.project_modules import runs_at_load
from veomni_opslint.model.questions import Questions
from veomni_opslint.model.symbols import Symbols
from veomni_opslint.model.uses import Use, Uses

_MAX_DEPTH = 30
_ENDING = 9


class Hop(NamedTuple):
    """One link of a chain: what happens at *span* in *module* (``loads x``, ``calls f``)."""

    module: str
    span: Span
    action: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Callers:
    """Reachability without an NPU. A place that nothing known refers to counts as reached: its users are unknown."""

    symbols: Symbols
    dialect: Dialect
    guards: Guards
    deep: Callable[[str], FileFacts]
    uses: Uses
    factories: frozenset[tuple[str, str | tuple[int, int]]]
    package: str
    is_npu_name: Callable[[str], bool]
    questions: Questions
    _loaded: dict[str, tuple[str, Import] | None] = field(default_factory=dict, repr=False)
    _importers: dict[str, list[tuple[str, Import]]] = field(default_factory=dict, repr=False)

    def reached(self, module: str, scope: int, when: Condition) -> tuple[Hop, ...] | None:
        """The chain that leads, without passing a guard, to a place in the scope that runs under *when*.

        None when there is none. What *when* asks of the parameters of a function is asked of its callers.
        """
        if not self._open(module, scope, when):
            return None
        return self._reached(module, scope, when, frozenset(), 0)

    def _open(self, module: str, scope: int, when: Condition) -> bool:
        """Whether a path can be taken without an NPU, and nothing on it may ask for one in another way."""
        if when == TRUE:
            return True
        if not self.guards.possible(module, scope, when):
            return False
        return not self.questions.may_ask(module, self.symbols.modules[module], scope, when)

    def _reached(
        self, module: str, scope: int, when: Condition, above: frozenset[tuple[str, int]], depth: int
    ) -> tuple[Hop, ...] | None:
        if (module, scope) in above or depth > _MAX_DEPTH:
            return None
        above = above | {(module, scope)}
        if scope == 0:
            return self._module_reached(module, above, depth)
        facts = self.symbols.modules[module]
        if scope >= len(facts.scopes) or facts.scopes[scope].deferred:
            facts = self.deep(module)
        here = facts.scopes[scope]
        if not self.guards.possible(module, here.parent, here.gate):
            return None
        if not self._marked(module, facts):
            return None
        if here.kind in ("class", "lambda"):
            if not self.guards.possible(module, here.parent, here.when):
                return None
            if here.kind == "lambda" and (
                (module, here.span[:2]) in self.factories or self._speaks_of_npu(facts, here)
            ):
                return None
            return self._reached(module, here.parent, here.when, above, depth + 1)
        return self._function_reached(module, facts, here, when, above, depth)

    def _function_reached(
        self, module: str, facts: FileFacts, here: Scope, when: Condition, above: frozenset[tuple[str, int]], depth: int
    ) -> tuple[Hop, ...] | None:
        if not self._defined(module, facts, here):
            return None
        # A file that cannot be loaded is left by an exception, but what it calls while it loads does run.
        loads = self.guards.possible(module, 0, facts.scopes[0].completes)
        if here.decorators and module.endswith(self.dialect.patch_config_suffix) and loads:
            # A patch runs in the generated module, whoever else imports it.
            return self._reached(module, self._holder(facts, here), TRUE, above, depth + 1)
        is_factory = (module, here.qualname) in self.factories
        if is_factory and not self._is_called(here.name):
            return None
        uses = self.uses.of(module, here.index)
        if is_factory:
            uses = tuple(use for use in uses if use.call)
        for use in uses:
            if use.caught or not self._counts(use, here) or not (loads or (use.module, use.scope) == (module, 0)):
                continue
            asked = both(use.when, self._asked_of_caller(use, module, here, when))
            if not self._open(use.module, use.scope, asked):
                continue
            chain = self._reached(use.module, use.scope, asked, above, depth + 1)
            if chain is not None:
                return (*chain, Hop(use.module, use.span, f"{'calls' if use.call else 'uses'} {here.qualname}"))
        if uses or is_factory or self.is_npu_name(here.name) or not loads or self._may_be_used_unread(here.name):
            return None
        if self._needs_an_argument(module, here, when):
            return None
        owner = facts.scopes[here.parent]
        if owner.kind == "class":
            return self._class_reached(module, facts, owner, above, depth)
        return self._reached(module, self._holder(facts, here), TRUE, above, depth + 1)

    def _class_reached(
        self, module: str, facts: FileFacts, owner: Scope, above: frozenset[tuple[str, int]], depth: int
    ) -> tuple[Hop, ...] | None:
        """The chain to where a class is used, which is where its methods can come to run."""
        uses = [use for use in self.uses.of(module, owner.index) if not self._inside(use, module, owner)]
        for use in uses:
            if use.caught or not self._open(use.module, use.scope, use.when):
                continue
            chain = self._reached(use.module, use.scope, use.when, above, depth + 1)
            if chain is not None:
                return (*chain, Hop(use.module, use.span, f"uses {owner.qualname}"))
        if uses:
            return None
        return self._reached(module, self._holder(facts, owner), TRUE, above, depth + 1)

    def _inside(self, use: Use, module: str, owner: Scope) -> bool:
        return use.module == module and owner.span[:2] <= use.span[:2] <= owner.span[2:]

    def _asked_of_caller(self, use: Use, module: str, function: Scope, when: Condition) -> Condition:
        """What *when* says of the function's parameters, said of the arguments at one call of it."""
        names = {one.name for one in function.parameters}
        if not any(_mentions_parameter(atom, names) for atom in atoms(when)):
            return TRUE
        defaults = self._defaults(module, function, constants=use.call)
        if use.call:
            defaults = arguments_at(self.deep(use.module), use.scope, use.span, function, defaults)
        return substitute(when, defaults, lambda atom: self.guards.truth(module, function.index, atom))

    def _defaults(self, module: str, function: Scope, constants: bool) -> dict[str, Operand]:
        outside = max(function.parent, 0)
        return defaults_of(function, lambda asked: self.guards.truth(module, outside, asked), constants)

    def _needs_an_argument(self, module: str, function: Scope, when: Condition) -> bool:
        """Whether a function whose callers are not known gets to *when* only where they overrule a guard by default."""
        asks = any(atom[0] in ("param", "cmp") for atom in atoms(when))
        defaults = self._defaults(module, function, constants=False) if asks else {}
        asked = substitute(when, defaults, lambda atom: self.guards.truth(module, function.index, atom))
        return bool(defaults) and not self.guards.possible(module, max(function.parent, 0), asked)

    def _is_called(self, name: str) -> bool:
        """Whether any text calls the name, other than to define it."""
        call, definition = f"{name}(", f"def {name}("
        # Names of factories end alike: all but the first are looked for in few files.
        texts = (self.symbols.modules[module].text for module in self.symbols.mentioning(call[-_ENDING:]))
        return any(call in text and text.count(call) > text.count(definition) for text in texts)

    def _may_be_used_unread(self, name: str) -> bool:
        """Whether a file that cannot be parsed names it: it may be the factory of a kernel there, or guarded."""
        return any(facts.problem is not None and name in facts.text for facts in self.symbols.modules.values())

    def _marked(self, module: str, facts: FileFacts) -> bool:
        """Whether the tests of a file can run: ``pytestmark`` holds for all that is in it."""
        mark = dict(facts.truths).get("pytestmark")
        return mark is None or self.guards.possible(module, 0, mark)

    def _speaks_of_npu(self, facts: FileFacts, here: Scope) -> bool:
        """Whether a lambda, which runs where its holder is used, stands in a line about the NPU, as in a table."""
        line = facts.lines[here.span[0] - 1].lower()
        return '"npu"' in line or "'npu'" in line

    def _counts(self, use: Use, function: Scope) -> bool:
        """A function that is only named, as in a table, is not known to run when the line speaks of the NPU."""
        if use.call:
            return True
        line = self.symbols.modules[use.module].lines[use.span[0] - 1]
        return not self.is_npu_name(function.name) and "npu" not in line.lower()

    def _defined(self, module: str, facts: FileFacts, here: Scope) -> bool:
        scope = here
        while scope.parent >= 0:
            if not self.guards.possible(module, scope.parent, both(scope.when, scope.gate)):
                return False
            scope = facts.scopes[scope.parent]
        return True

    def _holder(self, facts: FileFacts, here: Scope) -> int:
        parent = here.parent
        while facts.scopes[parent].kind == "class":
            parent = facts.scopes[parent].parent
        return parent

    def _module_reached(self, module: str, above: frozenset[tuple[str, int]], depth: int) -> tuple[Hop, ...] | None:
        if not self._loaded:
            self._load_all()
        if module in self._loaded:
            hops: list[Hop] = []
            current: str = module
            while (step := self._loaded[current]) is not None:
                hops.append(Hop(step[0], step[1].span, f"loads {current}"))
                current = step[0]
            return tuple(reversed(hops))
        for importer, imported in self._importers.get(module, ()):
            if not self._open(importer, imported.scope, imported.when):
                continue
            chain = self._reached(importer, imported.scope, imported.when, above, depth + 1)
            if chain is not None:
                return (*chain, Hop(importer, imported.span, f"loads {module}"))
        return None

    def _load_all(self) -> None:
        """Modules loaded from entry points by imports outside functions, and all importers of each module."""
        imported_somewhere: set[str] = set()
        eager: dict[str, list[tuple[str, Import]]] = {}
        for module, facts in self.symbols.modules.items():
            for imported in facts.imports:
                for target in self.symbols.loaded_by(module, imported):
                    if target != module:
                        imported_somewhere.add(target)
                        self._importers.setdefault(target, []).append((module, imported))
                        if runs_at_load(facts, imported.scope):
                            eager.setdefault(module, []).append((target, imported))
        packages = (
            self.package,
            *(f"{self.package}.{name}" for name in (self.dialect.ops_package, self.dialect.models_package)),
        )
        entries = [package for package in packages if package in self.symbols.modules]
        entries += sorted(
            module for module in self.symbols.modules
            if not self.is_npu_name(module)
            and (module not in imported_somewhere or module.endswith(self.dialect.patch_config_suffix))
        )  # fmt: skip
        for entry in entries:
            if entry in self._loaded:
                continue
            self._loaded[entry] = None
            pending = deque([entry])
            while pending:
                module = pending.popleft()
                for target, imported in eager.get(module, ()):
                    if target not in self._loaded and self._open(module, imported.scope, imported.when):
                        self._loaded[target] = (module, imported)
                        pending.append(target)


def _mentions_parameter(atom: Condition, names: set[str]) -> bool:
    if atom[0] == "param":
        return str(atom[1]).partition(".")[0] in names
    return atom[0] == "cmp" and any(part[0] == "param" and str(part[1]).partition(".")[0] in names for part in atom[2:])
