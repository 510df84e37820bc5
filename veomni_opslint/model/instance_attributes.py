"""What ``self.attribute(...)`` calls where methods of the class assign the attribute: modules, functions, kernels."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import FileFacts, Scope, statements_of
from veomni_opslint.model.callable_values import Possible
from veomni_opslint.model.callables import Known
from veomni_opslint.model.implementations import Implementation, Implementations
from veomni_opslint.model.return_shapes import own_nodes
from veomni_opslint.model.slots import OpSlotInfo
from veomni_opslint.model.symbols import Target

_CALLS = ("__call__", "forward")
_VALUE = re.compile(r"\s*(:[^=]+)?=(?!=)[ \t]*(?:(\w[\w.]*)\()?")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InstanceAttributes:
    """Reads the assignments in the methods of a class and of its bases in the project."""

    implementations: Implementations
    slots: Mapping[tuple[str, str], OpSlotInfo]
    _known: dict[tuple[str, int, str], tuple[list[Implementation], Possible]] = field(default_factory=dict, repr=False)
    _methods: dict[tuple[str, bool], dict[int, list[Scope]]] = field(default_factory=dict, repr=False)
    _lines: dict[tuple[str, bool, str], list[tuple[int, str]]] = field(default_factory=dict, repr=False)

    def of(self, module: str, owner: int, attribute: str, hasty: bool = False) -> list[Implementation]:
        """What the attribute of an object of the class holds; nothing where an assignment is not understood.

        In haste, it is not looked whether the code asks which of them it is before it calls it.
        """
        key = (module, owner, attribute)
        if key not in self._known:
            self._known[key] = self._find(module, owner, attribute)
        found, plain = self._known[key]
        if not plain or (not hasty and self._asks(module, owner, f"self.{attribute} is ")):
            return found
        return [*found, Implementation("", None, plain)]

    def _asks(self, module: str, owner: int, question: str) -> bool:
        return question in self.implementations.values.callables.facts(module, owner).text

    def _find(self, module: str, owner: int, attribute: str) -> tuple[list[Implementation], Possible]:
        found: list[Implementation] = []
        plain: Possible = []
        for where, base in self.implementations.values.callables.ancestors(module, owner):
            if base is None:
                continue
            for facts, scope, value in self._assigned(where, base, attribute):
                for kind in self._value(where, facts, scope, value):
                    if isinstance(kind, Implementation):
                        found.append(kind)
                    elif kind is None:
                        return [], []
                    else:
                        plain.append(kind)
            if found or plain:
                break
        return found, plain

    def _assigned(self, module: str, owner: Scope, attribute: str) -> Iterator[tuple[FileFacts, Scope, ast.expr]]:
        facts = self.implementations.values.callables.facts(module, owner.index)
        lines = self._lines_of(module, facts, attribute)
        for scope in self._methods_of(module, facts, owner.index) if lines else ():
            at = [(line, made) for line, made in lines if scope.span[0] <= line <= scope.span[2]]
            if at and all(self._is_foreign(module, facts, scope, made) for _, made in at):
                # Most layers are of other packages: what they take is not known, whatever else the statement says.
                yield facts, scope, ast.Constant("unknown")
                continue
            holding = [
                statement
                for statement in (statements_of(facts, scope) if at else ())
                if any(statement.lineno <= line <= (statement.end_lineno or line) for line, _ in at)
            ]
            for node in own_nodes(tuple(holding)):
                targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
                value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
                if any(target is not None and dotted(target) == f"self.{attribute}" for target in targets):
                    yield facts, scope, value if value is not None else ast.Constant("unknown")

    def _lines_of(self, module: str, facts: FileFacts, attribute: str) -> list[tuple[int, str]]:
        """The lines that seem to assign to an attribute of ``self``, each with a name that is called for the value."""
        key = (module, facts.deep, attribute)
        if key not in self._lines:
            self._lines[key] = list(_assignments(facts.text, f"self.{attribute}"))
        return self._lines[key]

    def _methods_of(self, module: str, facts: FileFacts, owner: int) -> list[Scope]:
        key = (module, facts.deep)
        if key not in self._methods:
            methods: dict[int, list[Scope]] = {}
            for scope in facts.scopes:
                if scope.kind == "function":
                    methods.setdefault(scope.parent, []).append(scope)
            self._methods[key] = methods
        return self._methods[key].get(owner, [])

    def _is_foreign(self, module: str, facts: FileFacts, scope: Scope, made: str) -> bool:
        """Whether a name that is called can only be of another package."""
        if not made or made.partition(".")[0] in ("self", "cls"):
            return False
        targets = self._targets(module, facts, scope, made)
        return bool(targets) and all(one.kind == "external" for one in targets) and not made.endswith(self._slot_kernel)

    def _value(
        self, module: str, facts: FileFacts, scope: Scope, node: ast.expr
    ) -> Iterator[Implementation | Known | None]:
        match node:
            case ast.Constant(value=None):
                return
            case ast.BoolOp(values=values):
                for value in values:
                    yield from self._value(module, facts, scope, value)
            case ast.IfExp(body=body, orelse=orelse):
                yield from self._value(module, facts, scope, body)
                yield from self._value(module, facts, scope, orelse)
            case ast.Call(func=ast.Attribute(value=slot, attr=attr)) if attr == self._slot_kernel:
                kernels = self._kernels(module, facts, scope, dotted(slot))
                yield from kernels if kernels is not None else (None,)
            case ast.Call():
                yield from self._made(module, facts, scope, node)
            case ast.Name() | ast.Attribute() if not dotted(node).startswith("self."):
                kernels = self._kernels(module, facts, scope, dotted(node))
                held = self.implementations.values
                yield from kernels if kernels is not None else held.of(module, facts, scope.index, node)
            case _:
                yield None

    def _kernels(self, module: str, facts: FileFacts, scope: Scope, name: str) -> list[Implementation] | None:
        """The kernels of the slots that a name stands for; None where it stands for anything else."""
        found: list[Implementation] = []
        targets = self._targets(module, facts, scope, name)
        for target in targets:
            known = self.slots.get((target.module, target.name)) if target.kind == "value" and not target.rest else None
            if known is None:
                return None
            found += self.implementations.of_slot(known)
        return found if targets else None

    @property
    def _slot_kernel(self) -> str:
        return self.implementations.model.dialect.slot_kernel

    def _made(self, module: str, facts: FileFacts, scope: Scope, node: ast.Call) -> Iterator[Known | None]:
        targets = self._targets(module, facts, scope, dotted(node.func))
        callables = self.implementations.values.callables
        for target in targets:
            made = callables.facts(target.module, target.scope).scopes[target.scope] if target.kind == "scope" else None
            if made is None or target.rest:
                yield None
            elif made.kind == "class":
                yield self._called(target.module, made)
            else:
                yield from self.implementations.values.of(module, facts, scope.index, node)
        if not targets:
            yield None

    def _called(self, module: str, made: Scope) -> Known | None:
        """What is called when an object of a class is."""
        callables = self.implementations.values.callables
        if any(
            not one.endswith(("hub", "kernelized_func", "experts_implementation", "docstring"))
            for one in made.decorators
        ):
            return None
        for name in _CALLS:
            found = callables.method(module, made.index, name)
            if found:
                return callables.of(found[0], "object") if len(found) == 1 else None
        return None

    def _targets(self, module: str, facts: FileFacts, scope: Scope, name: str) -> tuple[Target, ...]:
        if not name or name.partition(".")[0] in scope.locals:
            return ()
        return self.implementations.values.callables.symbols.resolve_deep(facts, module, scope.index, name)


def _assignments(text: str, target: str) -> Iterator[tuple[int, str]]:
    """Each line on which the text assigns to *target*, and the name of the call that the value begins with, if any."""
    start = text.find(target)
    while start >= 0:
        end = start + len(target)
        written = _VALUE.match(text, end) if not text[start - 1 : start].isidentifier() else None
        if written is not None:
            is_statement = not text[text.rfind("\n", 0, start) + 1 : start].strip() and "\n" not in (written[1] or "")
            yield text.count("\n", 0, start) + 1, (written[2] or "") if is_statement else ""
        start = text.find(target, end)
