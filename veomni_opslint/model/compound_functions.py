"""Subclasses of ``torch.autograd.Function`` that call a slot, themselves or through functions of the project."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Scope, Span
from veomni_opslint.model.linked_project import LinkedProject
from veomni_opslint.model.symbols import Symbols

_FUNCTION_CLASSES = frozenset({
    "torch.autograd.Function", "torch.autograd.function.Function", "torch.autograd.function.InplaceFunction",
})  # fmt: skip
_LEVELS = 2

SlotName = tuple[str, str]
"""Module and variable of a slot."""


class SlotCall(NamedTuple):
    """A call in a compound function that runs a slot: ``chain`` are the calls from there to that of the slot.

    Each link is a module and the span of a call in it; the first stands in the class.
    """

    module: str
    function: str
    slot: SlotName
    chain: tuple[tuple[str, Span], ...]


def slot_calls(project: LinkedProject) -> Iterator[SlotCall]:
    """Every call in a compound function that runs a slot at module level, in order of module and line."""
    declared = [slot for slot in project.slots if slot.at_module_level and slot.var]
    if not declared:
        return
    embedded = {
        module: frozenset(slot.var for slot in declared if slot.embedded and slot.module == module)
        for module in {slot.module for slot in declared if slot.embedded}
    }
    functions = CompoundFunctions(
        symbols=project.symbols,
        deep=project.deep,
        slots=frozenset((slot.module, slot.var) for slot in declared if not slot.embedded),
        embedded=embedded,
        kernel_method=project.dialect.slot_kernel,
    )
    yield from functions.slot_calls()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CompoundFunctions:
    """Finds the calls. ``embedded`` are slots that a patch config declares for the generated file, by its module."""

    symbols: Symbols
    deep: Callable[[str], FileFacts]
    slots: frozenset[SlotName]
    embedded: Mapping[str, frozenset[str]]
    kernel_method: str
    _imports: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    _bodies: dict[tuple[str, Span], list[ast.stmt]] = field(default_factory=dict, repr=False)

    def slot_calls(self) -> Iterator[SlotCall]:
        """Every call in a compound function that runs a slot, in order of module and line."""
        classes = self._classes()
        for module in sorted(name for name in classes if self._is_near_slot(name)):
            facts = self.deep(module)
            for index in classes[module]:
                found = {call.chain[0]: call for call in self._in_class(module, facts, facts.scopes[index])}
                yield from (found[link] for link in sorted(found))

    def _is_near_slot(self, module: str) -> bool:
        """Whether a slot can be reached in so few calls: the module holds one, or imports from one that does."""
        holders = {holder for holder, _ in self.slots} | set(self.embedded)
        reached = fresh = {module}
        for _ in range(_LEVELS + 1):
            if reached & holders:
                return True
            fresh = {one for source in fresh for one in self._imports_of(source)} - reached
            reached = reached | fresh
        return bool(reached & holders)

    def _imports_of(self, module: str) -> frozenset[str]:
        """The modules that any import in a module names."""
        known = self._imports.get(module)
        if known is None:
            found: set[str] = set()
            for imported in self.symbols.modules[module].imports:
                source = self.symbols.absolute(module, imported)
                if self.symbols.is_project(source):
                    found.update((source, *(f"{source}.{one.name}" for one in imported.names)))
            known = self._imports[module] = frozenset(found & self.symbols.modules.keys())
        return known

    def _classes(self) -> dict[str, list[int]]:
        """The scopes of all compound functions, by module."""
        by_base: dict[str, list[tuple[str, Scope]]] = {}
        pending: list[tuple[str, Scope]] = []
        for module, facts in self.symbols.modules.items():
            direct = "autograd" in facts.text
            for scope in facts.scopes:
                if scope.bases:
                    pending += [(module, scope)] if direct else []
                    for base in scope.bases:
                        by_base.setdefault(base.rpartition(".")[2], []).append((module, scope))
        found: dict[str, list[int]] = {}
        while pending:
            module, scope = pending.pop()
            if scope.index in found.get(module, ()):
                continue
            if any(self._is_function_class(module, scope, base, found) for base in scope.bases):
                found.setdefault(module, []).append(scope.index)
                pending += by_base.get(scope.name, ())
        return found

    def _is_function_class(self, module: str, scope: Scope, base: str, known: Mapping[str, list[int]]) -> bool:
        return any(
            target.name in _FUNCTION_CLASSES
            if target.kind == "external"
            else target.kind == "scope" and not target.rest and target.scope in known.get(target.module, ())
            for target in (self.symbols.resolve(module, scope.parent, base) if base else ())
        )

    def _in_class(self, module: str, facts: FileFacts, owner: Scope) -> Iterator[SlotCall]:
        methods = [scope for scope in facts.scopes if scope.parent == owner.index and scope.kind == "function"]
        aliases: dict[str, SlotName] = {}
        for method in methods:
            self._note_aliases(module, facts, method, aliases)
        for method in methods:
            for slot, chain in self._in_function(module, facts, method, aliases, 0):
                yield SlotCall(module, owner.qualname, slot, chain)

    def _in_function(
        self, module: str, facts: FileFacts, function: Scope, aliases: dict[str, SlotName], depth: int
    ) -> Iterator[tuple[SlotName, tuple[tuple[str, Span], ...]]]:
        for statement in self._body(module, facts, function):
            for node in _calls_without_graph(statement):
                link = (module, span_of(node))
                slot = self._called_slot(module, facts, function, node.func, aliases)
                if slot is not None:
                    yield slot, (link,)
                elif depth < _LEVELS:
                    for inner_slot, chain in self._through(module, facts, function, node, depth):
                        yield inner_slot, (link, *chain)

    def _through(
        self, module: str, facts: FileFacts, function: Scope, call: ast.Call, depth: int
    ) -> Iterator[tuple[SlotName, tuple[tuple[str, Span], ...]]]:
        name = dotted(call.func)
        scope = self._scope_at(facts, function, call)
        for target in self.symbols.resolve_deep(facts, module, scope, name) if name else ():
            if target.kind != "scope" or target.rest:
                continue
            inner = self.deep(target.module)
            callee = inner.scopes[target.scope]
            if callee.kind != "function" or callee is function or facts.scopes[callee.parent].index == function.index:
                continue
            aliases: dict[str, SlotName] = {}
            self._note_aliases(target.module, inner, callee, aliases)
            yield from self._in_function(target.module, inner, callee, aliases, depth + 1)

    def _called_slot(
        self, module: str, facts: FileFacts, function: Scope, callee: ast.expr, aliases: Mapping[str, SlotName]
    ) -> SlotName | None:
        if isinstance(callee, ast.Call):
            # ``slot.bound_kernel()(…)``
            return self._kernel_of(module, facts, function, callee, aliases)
        return aliases.get(dotted(callee)) or self._slot(module, facts, self._scope_at(facts, function, callee), callee)

    def _kernel_of(
        self, module: str, facts: FileFacts, function: Scope, node: ast.expr, aliases: Mapping[str, SlotName]
    ) -> SlotName | None:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == self.kernel_method:
            holder, scope = node.func.value, self._scope_at(facts, function, node)
            return aliases.get(dotted(holder)) or self._slot(module, facts, scope, holder)
        return None

    def _slot(self, module: str, facts: FileFacts, scope: int, node: ast.expr) -> SlotName | None:
        name = dotted(node)
        targets = self.symbols.resolve_deep(facts, module, scope, name) if name else ()
        for target in targets:
            if target.kind == "value" and not target.rest and (target.module, target.name) in self.slots:
                return target.module, target.name
        if not targets and name in self.embedded.get(module, ()):
            return module, name
        return None

    def _note_aliases(self, module: str, facts: FileFacts, function: Scope, aliases: dict[str, SlotName]) -> None:
        """Names, and attributes such as ``ctx.norm``, that a function binds to a slot or to its kernel."""
        for statement in self._body(module, facts, function):
            for node in ast.walk(statement):
                if isinstance(node, ast.Assign):
                    slot = self._slot(module, facts, function.index, node.value)
                    slot = slot or self._kernel_of(module, facts, function, node.value, aliases)
                    for target in node.targets if slot is not None else ():
                        if dotted(target) and slot is not None:
                            aliases[dotted(target)] = slot

    def _body(self, module: str, facts: FileFacts, function: Scope) -> list[ast.stmt]:
        key = (module, function.span)
        if key not in self._bodies:
            self._bodies[key] = []
            for node in ast.walk(facts.tree) if facts.tree is not None else ():
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and span_of(node) == function.span:
                    self._bodies[key] = facts.function_body(node)
        return self._bodies[key]

    def _scope_at(self, facts: FileFacts, function: Scope, node: ast.AST) -> int:
        """The innermost scope inside *function* that holds a node."""
        line, column, *_ = span_of(node)  # type: ignore[arg-type]
        best = function.index
        for scope in facts.scopes[function.index :]:
            start, end = scope.span[:2], scope.span[2:]
            if start <= (line, column) < end and scope.span[:2] >= facts.scopes[best].span[:2]:
                best = scope.index
        return best


def _calls_without_graph(statement: ast.stmt) -> Iterator[ast.Call]:
    """The calls of a statement, but for those in ``with torch.enable_grad()``, where autograd works as usual."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.With) and any(_enables_grad(item.context_expr) for item in node.items):
            continue
        if isinstance(node, ast.Call):
            yield node
        pending.extend(ast.iter_child_nodes(node))


def _enables_grad(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == "enable_grad"
