"""What importing a module loads at once: chains of imports that no function, guard or ``try`` stands before."""

from __future__ import annotations

import re
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
_DEBUG = ("name", "__debug__")
_VERSION = ("name", "sys.version_info")
_PLATFORM = {_VERSION: "", ("name", "sys.platform"): "linux", ("name", "os.name"): "posix"}
_OLDEST = (3, 11)
_CONSTRUCTORS = ("__new__", "__init__", "__post_init__")
_MAX_CALLS = 200
_MAX_BASES = 8


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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
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
        decorators = {(one.parent, name) for one in facts.scopes for name in one.decorators if one.parent in running}
        for ref in facts.refs:
            called = ref.call or (ref.scope, ref.name) in decorators
            if called and ref.scope in running and not self.never(ref.when):
                certain = running[ref.scope] and self.certain(ref.when)
                for step in self._called(module, facts, ref, ref.import_handled, certain, seen):
                    yield replace(step, called_from=(module, ref.span))

    def _called(
        self, module: str, facts: FileFacts, ref: Ref, tried: bool, certain: bool, seen: set[tuple[str, int]]
    ) -> Iterator[Step]:
        if len(seen) > _MAX_CALLS:
            return
        for found in self.symbols.resolve_deep(facts, module, ref.scope, ref.name):
            for target in self._run_by_call(found):
                there, function = self._function(target)
                if function is not None and (target.module, function.index) not in seen:
                    seen.add((target.module, function.index))
                    yield from self._run(target.module, there, function, tried, certain, seen)
                    for inner in _decorating(facts, ref, there, function):
                        yield from self._run(target.module, there, inner, tried, certain, seen)

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

    def _run_by_call(self, target: Target) -> Iterator[Target]:
        """What runs when a target is called: the function; of a class its constructors; of a name its lambda."""
        facts = self.symbols.modules.get(target.module)
        if facts is None or target.rest:
            return
        if target.kind == "value":
            held = _lambda_held(facts, target.name)
            if held is not None:
                yield Target("scope", target.module, target.name, held.index)
        elif target.kind == "scope" and target.scope < len(facts.scopes) and facts.scopes[target.scope].kind == "class":
            for name in _CONSTRUCTORS:
                yield from self._constructor(target, name, 0)
        elif target.kind == "scope":
            yield target

    def _constructor(self, owner: Target, name: str, depth: int) -> Iterator[Target]:
        """The method of that name of a class, or of the first base in the project that has it."""
        facts = self.symbols.modules[owner.module]
        here = facts.scopes[owner.scope]
        own = next((one for one in facts.scopes if one.parent == here.index and one.name == name), None)
        if own is not None:
            yield Target("scope", owner.module, name, own.index)
        elif depth < _MAX_BASES:
            for base in here.bases:
                for found in self.symbols.resolve(owner.module, here.parent, base):
                    if found.kind == "scope" and not found.rest and self._is_class(found):
                        yield from self._constructor(found, name, depth + 1)

    def _is_class(self, target: Target) -> bool:
        scopes = self.symbols.modules[target.module].scopes
        return target.scope < len(scopes) and scopes[target.scope].kind == "class"

    def _function(self, target: Target) -> tuple[FileFacts, Scope | None]:
        facts = self.symbols.modules.get(target.module) or FileFacts("", "", None)
        if target.kind != "scope" or target.rest or target.scope >= len(facts.scopes):
            return facts, None
        function = facts.scopes[target.scope]
        if function.kind == "lambda":
            return facts, function
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
    if kind == "completes" or atom == _DEBUG:
        return True
    if atom == _MAIN:
        return False
    if kind == "cmp" and atom[2] in _PLATFORM:
        return _on_platform(atom)
    if kind in ("name", "call"):
        last = str(atom[1]).rpartition(".")[2]
        if last == "TYPE_CHECKING":
            return False
        if package and _is_availability_of(last, atom, package):
            return False
    return None


def _on_platform(atom: Condition) -> bool | None:
    """A comparison with what is the same wherever the project runs: Linux, and Python 3.11 or newer."""
    _, operator, left, right = atom
    given = right[1] if right[0] == "const" else None
    if left == _VERSION:
        if not isinstance(given, tuple) or not given[:2] or not all(isinstance(one, int) for one in given[:2]):
            return None
        return {"GtE": True, "Gt": True, "Lt": False, "LtE": False}.get(operator) if given[:2] <= _OLDEST else None
    return given == _PLATFORM[left] if operator == "Eq" and isinstance(given, str) else None


def _lambda_held(facts: FileFacts, name: str) -> Scope | None:
    """The lambda that a module-level name is assigned, and nothing else."""
    bound = [one for one in facts.bindings if one.scope == 0 and one.name == name]
    if len(bound) != 1 or bound[0].kind != "assign":
        return None
    _, _, line, column = bound[0].span
    for one in facts.scopes:
        if one.kind == "lambda" and one.parent == 0 and one.span[0] == line and one.span[1] > column:
            between = text_of(facts, (line, column, line, one.span[1])).strip()
            return one if between.endswith("=") and between.count("=") == 1 else None
    return None


def _decorating(facts: FileFacts, ref: Ref, there: FileFacts, function: Scope) -> Iterator[Scope]:
    """What the result of a call runs at once: the inner function that makes a decorator, at ``@register("a")``."""
    line, column, end_line, end_column = ref.span
    before = facts.lines[line - 1].encode()[:column].decode(errors="replace").strip()
    after = facts.lines[end_line - 1].encode()[end_column : end_column + 1]
    if before == "@" and after == b"(" and function.kind == "function":
        text = text_of(there, function.span)
        for one in there.scopes:
            if one.parent == function.index and one.kind == "function" and re.search(rf"\breturn {one.name}\b", text):
                yield one


def _is_availability_of(name: str, atom: Condition, package: str) -> bool:
    if atom[0] == "call" and atom[2] and atom[2][0] == package:
        return True
    lowered = name.lower()
    token = package.partition("_")[0] if len(package.partition("_")[0]) > 3 else package
    return token in lowered and any(word in lowered for word in _AVAILABILITY_WORDS)
