"""Calls of slots that can run while the op is eager, when a slot holds no kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from veomni_opslint.conditions import TRUE, Condition, atoms, both
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import catches, span_of
from veomni_opslint.facts import FileFacts, Scope, Span
from veomni_opslint.model.arguments import arguments_at, substitute
from veomni_opslint.model.local_slots import LocalSlots
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.sites import Site, sites_in, tree_of
from veomni_opslint.model.slot_names import Names, mentions
from veomni_opslint.model.slot_tables import is_checked_in_loop, is_chosen_from_table
from veomni_opslint.model.slots import OpSlotInfo
from veomni_opslint.model.uses import Use
from veomni_opslint.model.while_eager import WhileEager

_MAX_DEPTH = 8
_CATCHING = frozenset({"RuntimeError", "TypeError", "Exception", "BaseException"})
_UNKNOWN_USERS = ("forward", "__call__")


class UnguardedCall(NamedTuple):
    """A call of a slot that nothing keeps from running while the op is eager; ``caller`` leads to it unguarded."""

    module: str
    span: Span
    slot: OpSlotInfo
    of_kernel: bool
    caller: tuple[str, Span] | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SlotGuards:
    """Finds the calls."""

    model: OpsModel
    eager: WhileEager

    def unguarded_calls(self) -> Iterator[UnguardedCall]:
        """All of them, in order of module and function."""
        for module, names in self.eager.names.items():
            facts = self.model.module(module)
            for found in mentions(module, facts, names, self.model.dialect):
                if found.calls:
                    yield from self._in_function(module, facts, found.function, names)
            for block in facts.embedded:
                if block.facts is not None:
                    yield from self._in_block(module, block.facts, names)

    def _in_function(
        self, module: str, facts: FileFacts, function: Scope | None, names: Names
    ) -> Iterator[UnguardedCall]:
        root = tree_of(facts, function) if function is not None else facts.tree
        if root is None:
            return
        calls = LocalSlots(names, self.model.dialect.slot_kernel, root)
        index = function.index if function is not None else 0
        for site in sites_in(root, self.model.dialect, calls.is_call, function is not None):
            slot, of_kernel = calls.slot_of(site.node)
            if slot is None or _is_prepared(site, slot, root) or self._is_chosen(site):
                continue
            if not self.eager.possible(module, index, slot, site.when):
                continue
            call = site.path[-1]
            span = span_of(call) if isinstance(call, ast.expr) else span_of(site.node)
            if function is None:
                yield UnguardedCall(module, span, slot, of_kernel)
                continue
            reached, caller = self._reached(module, facts, function, slot, site.when, frozenset(), 0)
            if reached:
                yield UnguardedCall(module, span, slot, of_kernel, caller)

    def _is_chosen(self, site: Site) -> bool:
        """Whether the call stands in a lambda of a statement that asks a slot, as ``{True: lambda: …}[…]``."""
        statement = next((node for node in reversed(site.path) if isinstance(node, ast.stmt)), None)
        return (
            statement is not None
            and any(isinstance(node, ast.Lambda) for node in site.path)
            and any(getattr(node, "attr", "") == self.model.dialect.slot_guard for node in ast.walk(statement))
        )

    def _in_block(self, module: str, block: FileFacts, names: Names) -> Iterator[UnguardedCall]:
        for call in block.calls:
            slot = names.get(call.name)
            if slot is None:
                continue
            scope, when = block.scopes[call.scope], [call.when]
            while scope.index > 0:
                when.append(scope.when)
                scope = block.scopes[scope.parent]
            if self.eager.possible(module, 0, slot, ("and", *when), block):
                yield UnguardedCall(module, call.span, slot, of_kernel=False)

    def _reached(
        self, module: str, facts: FileFacts, function: Scope, slot: OpSlotInfo, when: Condition,
        above: frozenset[tuple[str, int]], depth: int,
    ) -> tuple[bool, tuple[str, Span] | None]:  # fmt: skip
        """Whether a function gets to *when* while the op is eager, and where it is called then, as far as is known."""
        if (module, function.index) in above or depth > _MAX_DEPTH:
            return False, None
        above = above | {(module, function.index)}
        if not self.eager.possible(module, function.parent, slot, both(function.when, function.gate)):
            return False, None
        if function.decorators and module.endswith(self.model.dialect.patch_config_suffix):
            return True, None
        owner = facts.scopes[function.parent]
        uses: list[Use] = []
        if owner.kind != "class" or function.name not in _UNKNOWN_USERS:
            uses = list(self.model.uses.of(module, function.index))
        if not uses and owner.kind == "class":
            if self._refused_by_init(module, facts, owner, slot):
                return False, None
            when = TRUE
            known = self.model.uses.of(module, owner.index)
            uses = [use for use in known if not (use.module == module and _inside(use.span, owner.span))]
        for use in uses:
            if self._use_reached(use, slot, self._asked(use, function, when), above, depth):
                return True, (use.module, use.span)
        return not uses, None

    def _asked(self, use: Use, function: Scope, when: Condition) -> Condition:
        """What the condition of a path says of the parameters, said of the arguments at one call."""
        if not use.call or not any(part[0] in ("param", "cmp") for part in atoms(when)):
            return use.when
        given = arguments_at(self.model.deep(use.module), use.scope, use.span, function, {})
        return both(use.when, substitute(when, given, lambda _: None))

    def _use_reached(
        self, use: Use, slot: OpSlotInfo, when: Condition, above: frozenset[tuple[str, int]], depth: int
    ) -> bool:
        if not self.eager.possible(use.module, use.scope, slot, when):
            return False
        facts = self.model.deep(use.module)
        guard = f".{self.model.dialect.slot_guard}"
        scope = facts.scopes[use.scope]
        if (not use.call and use.when == TRUE) and (
            guard in facts.lines[use.span[0] - 1] or is_chosen_from_table(facts, scope, use.span, guard[1:])
        ):
            # The answer of a slot chooses between this function and another one.
            return False
        while scope.index > 0 and (scope.parent > 0 or scope.kind != "function"):
            if scope.kind == "function" and facts.scopes[scope.parent].kind == "class":
                break
            if not self.eager.possible(use.module, scope.parent, slot, both(scope.when, scope.gate)):
                return False
            scope = facts.scopes[scope.parent]
        if scope.kind != "function":
            return True
        return self._reached(use.module, facts, scope, slot, when, above, depth + 1)[0]

    def _refused_by_init(self, module: str, facts: FileFacts, owner: Scope, slot: OpSlotInfo) -> bool:
        """Whether no object of the class can be made while the op is eager."""
        for scope in facts.scopes:
            if scope.parent == owner.index and scope.name == "__init__":
                deep = self.model.deep(module).scopes[scope.index] if scope.deferred else scope
                return not self.eager.possible(module, scope.index, slot, deep.completes)
        return False


def _is_prepared(site: Site, slot: OpSlotInfo, root: ast.Module) -> bool:
    """Whether a slot is bound or handed to a checking function before, or the error of an unbound slot is caught."""
    for node, inner in zip(site.path, (*site.path[1:], site.node), strict=True):
        if isinstance(node, ast.Try) and inner in node.body and any(catches(one, _CATCHING) for one in node.handlers):
            return True
        if isinstance(node, ast.With) and inner in node.body and not _CATCHING.isdisjoint(_suppressed(node)):
            return True
    line = site.node.lineno
    if is_checked_in_loop(root, line, slot.names):
        return True
    for node in ast.walk(root):
        if not isinstance(node, ast.Call) or node.lineno >= line:
            continue
        name = dotted(node.func)
        if name in {f"{one}.bind" for one in slot.names}:
            return True
        given = {one.id for one in node.args if isinstance(one, ast.Name)}
        if given & set(slot.names) and _is_statement(node, root):
            return True
    return False


def _suppressed(node: ast.With) -> Iterator[str]:
    """The exceptions that ``contextlib.suppress(…)`` of a statement names."""
    for item in node.items:
        if isinstance(call := item.context_expr, ast.Call) and dotted(call.func).rpartition(".")[2] == "suppress":
            yield from map(dotted, call.args)


def _is_statement(call: ast.Call, root: ast.Module) -> bool:
    return any(isinstance(node, ast.Expr) and node.value is call for node in ast.walk(root))


def _inside(span: Span, outer: Span) -> bool:
    return outer[:2] <= span[:2] <= outer[2:]
