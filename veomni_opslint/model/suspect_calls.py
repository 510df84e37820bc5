"""Calls that may not bind, told from texts and shallow facts, so that only the modules with one are walked in depth."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from veomni_opslint.conditions import TRUE
from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import Call, FileFacts, statements_of
from veomni_opslint.model.call_binding import Arguments, binding_problem
from veomni_opslint.model.call_targets import SUPER, CallSite, CallTargets
from veomni_opslint.model.call_texts import arguments_at
from veomni_opslint.model.called_names import CalledName
from veomni_opslint.model.implementations import Implementation
from veomni_opslint.model.indirect_calls import indirect_calls
from veomni_opslint.model.project_names import ProjectNames

_SUPER = SUPER.rstrip(".")


class SuspectCalls:
    """Looks at every call of a name that some definition, slot or pointer of the project has."""

    def __init__(self, targets: CallTargets) -> None:
        self.targets = targets
        self.names = ProjectNames(targets)
        self._scopes: dict[str, list[tuple[int, int, int]]] = {}
        self._reached: dict[tuple[str, int, str], list[Implementation]] = {}

    @cached_property
    def indirect(self) -> tuple[CallSite, ...]:
        """Calls of slots that the text of the call does not show."""
        return tuple(indirect_calls(self.targets.model))

    def modules(self) -> Iterator[str]:
        """Modules with a call that does not bind, as far as shallow facts tell."""
        for module, facts in self.targets.model.symbols.modules.items():
            if facts.problem is None and self._is_suspect(module, facts):
                yield module

    def reached(self, module: str, facts: FileFacts, name: str, line: int) -> list[Implementation]:
        """What a call on a line may reach, as shallow facts tell in haste; at module level for line 0."""
        scope = self._scope_at(module, facts, line) if line else 0
        key = (module, scope, name)
        found = self._reached.get(key)
        if found is None:
            found = self._reached[key] = self.targets.reached(_site(module, facts, scope, name), hasty=True)
        return found

    def site(self, module: str, facts: FileFacts, name: str, line: int) -> CallSite:
        """A call on a line, as far as shallow facts know where that is; at module level for line 0."""
        return _site(module, facts, self._scope_at(module, facts, line) if line else 0, name)

    def _is_suspect(self, module: str, facts: FileFacts) -> bool:
        text = facts.text
        position, line = 0, 1
        for offset, name, given in self._doubts(module, facts):
            line += text.count("\n", position, offset)
            position = offset
            if name.root == _SUPER and not self._has_known_base(module, facts, line):
                continue
            at = line if self.names.is_by_place(module, facts, name.root) else 0
            reached = self.reached(module, facts, name.whole, at)
            if not reached:
                continue
            if given is None:
                given = arguments_at(text, offset + len(name.whole))  # noqa: PLW2901 - not needed until here
            if any(_fails(one, given) for one in reached) and self._is_code(module, facts, name.whole, line):
                site = self.site(module, facts, name.whole, at)
                surely = any(_fails(one, given) for one in self.targets.reached(site))
                if surely and not self._is_overridden(site, given):
                    return True
        return False

    def _has_known_base(self, module: str, facts: FileFacts, line: int) -> bool:
        """Whether ``super()`` on a line may be a class of the project."""
        scope = facts.scopes[self._scope_at(module, facts, line)]
        owner = facts.scopes[scope.parent]
        if scope.kind != "function" or owner.kind != "class":
            return True
        root = owner.bases[0].partition(".")[0] if owner.bases else ""
        return bool(root) and self.names.is_root(module, facts, root)

    def _doubts(self, module: str, facts: FileFacts) -> Iterator[tuple[int, CalledName, Arguments | None]]:
        """The calls whose arguments some definition of the name does not take, or may not."""
        text = facts.text
        for offset, name in self.names.calls(module, facts):
            if name.root == _SUPER:
                yield offset, name, None
                continue
            given = arguments_at(text, offset + len(name.whole))
            if given is not None:
                classes = self.names.attributes(module, facts).classes.get(name.last) if name.root == "self" else None
                if classes:
                    if all(self.names.instances.certainly_fit(one, given) for one in classes):
                        continue
                elif self.names.defined.certainly_fit(name.last, given):
                    continue
            yield offset, name, given

    def _scope_at(self, module: str, facts: FileFacts, line: int) -> int:
        """The innermost function or class whose lines hold a line; 0 for none."""
        starts = self._scopes.get(module)
        if starts is None:
            starts = self._scopes[module] = sorted(
                (one.span[0], one.index, one.span[2]) for one in facts.scopes if one.index and one.kind != "lambda"
            )
        at = bisect_right(starts, (line, len(facts.scopes), 0))
        while at and starts[at - 1][2] < line:
            at -= 1
        return starts[at - 1][1] if at else 0

    def _is_overridden(self, site: CallSite, given: Arguments | None) -> bool:
        return given is not None and any(
            known is None or not binding_problem(known.signature, given) for known in self.targets.overrides(site)
        )

    def _is_code(self, module: str, facts: FileFacts, name: str, line: int) -> bool:
        """Whether a call stands in code, not in a comment or a string; the strings of a patch config may hold code."""
        if facts.embedded:
            return True
        holder = facts.scopes[self._scope_at(module, facts, line)]
        while holder.kind == "class":
            holder = facts.scopes[holder.parent]
        statements = statements_of(facts, holder) if holder.index else facts.tree.body if facts.tree is not None else ()
        return any(
            name.startswith(SUPER) or dotted(node.func) == name
            for statement in statements
            for node in _calls_on(statement, line)
        )


def _site(module: str, facts: FileFacts, scope: int, name: str) -> CallSite:
    return CallSite(module, facts, Call(scope, name, (0, 0, 0, 0), TRUE, 0, False, (), False, 0, False, False), False)


def _calls_on(statement: ast.stmt, line: int) -> Iterator[ast.Call]:
    """The calls that begin on a line."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        first, last = getattr(node, "lineno", line), getattr(node, "end_lineno", None) or line
        if last < line or min([first, *(one.lineno for one in getattr(node, "decorator_list", ()))]) > line:
            continue
        if isinstance(node, ast.Call) and first == line:
            yield node
        pending.extend(ast.iter_child_nodes(node))


def _fails(one: Implementation, given: Arguments | None) -> bool:
    if given is None:
        return any(one.possible)
    return bool(one.possible) and all(
        known is not None and binding_problem(known.signature, given) for known in one.possible
    )
