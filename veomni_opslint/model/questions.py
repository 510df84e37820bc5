"""Conditions that may ask for the kernel of a slot, or for an NPU, in a way that is not understood, as by a table."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from veomni_opslint.conditions import Condition, atoms
from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import FileFacts, Scope, statements_of
from veomni_opslint.model.sites import outer_functions
from veomni_opslint.model.symbols import Symbols

_MAX_DEPTH = 4
_ROUNDS = 3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Questions:
    """Answers whether a condition may be such a question: one of *words* is in it, or in what made what is in it.

    ``decided`` says of an atom, in a scope of a module, that it is known, so that it asks for nothing else. Where it is
    given, names of a module may hold the answer.
    """

    symbols: Symbols
    deep: Callable[[str], FileFacts]
    words: tuple[str, ...]
    decided: Callable[[str, int, Condition], bool] | None = None
    _carriers: dict[tuple[str, int], frozenset[str]] = field(default_factory=dict, repr=False)

    def may_ask(self, module: str, facts: FileFacts, scope: int, condition: Condition, depth: int = 0) -> bool:
        """Whether something in the condition, said in a scope of a file or block, may ask."""
        if depth > _MAX_DEPTH:
            return False
        if facts is not self.symbols.modules[module] and any(word in facts.text for word in self.words):
            # The places in a block are those of the file around it.
            return any(part[0] == "opaque" for part in _parts(condition))
        for part in self._open_parts(module, scope, condition):
            if part[0] == "opaque":
                asks = self._asks_at(module, facts, (part[1], part[2]), str(part[3]) if len(part) > 3 else "")
            elif part[0] in ("call", "completes"):
                asks = self._asked_by_function(module, scope, str(part[1]), depth)
            elif self.decided is None:
                asks = part[0] in ("name", "param") and self._asked_by_attribute(facts, str(part[1]))
            else:
                asks = part[0] in ("name", "param", "item") and self._is_held(module, scope, str(part[1]), depth)
            if asks:
                return True
        return False

    @property
    def _held(self) -> bool:
        return self.decided is not None

    def _open_parts(self, module: str, scope: int, condition: Condition) -> Iterator[Condition]:
        if self.decided is None:
            yield from _parts(condition)
            return
        for atom in atoms(condition):
            if not self.decided(module, scope, atom):
                yield from _parts(atom)

    def _asks_at(self, module: str, facts: FileFacts, place: tuple[int, int], label: str) -> bool:
        """Whether the expression at a place mentions the answer, or a name that carries it."""
        if label.rpartition(".")[2] in self.words or ("." in label and self._asked_by_attribute(facts, label)):
            return True
        function = next(
            (one for one in outer_functions(facts) if one.span[0] <= place[0] <= one.span[2]), facts.scopes[0]
        )
        carriers = self._carriers_of(module, facts, function)
        if label and label.partition(".")[0] in carriers:
            return True
        return any(
            self._mentions(module, node.subject, carriers)
            if isinstance(node, ast.Match)
            else isinstance(node, ast.expr) and self._mentions(module, node, carriers)
            for statement in _statements(facts, function)
            for node in ast.walk(statement)
            if _is_at(node, place, label)
        )

    def _carriers_of(self, module: str, facts: FileFacts, function: Scope) -> frozenset[str]:
        """The names that a function gives to something made from the answer."""
        key = (module, function.index)
        if key not in self._carriers:
            found = self._carriers[key] = frozenset()
            if self._held and function.index:
                outer = self._carriers_of(module, self.symbols.modules[module], self.symbols.modules[module].scopes[0])
                found = outer - function.locals
            for _ in range(_ROUNDS):
                found |= {
                    name
                    for statement in _statements(facts, function)
                    for node in ast.walk(statement)
                    for name in self._carried(module, node, found)
                }
            self._carriers[key] = found
        return self._carriers[key]

    def _carried(self, module: str, node: ast.AST, carriers: frozenset[str]) -> Iterator[str]:
        targets: list[ast.expr] = []
        source: ast.AST | None = None
        if isinstance(node, ast.Assign):
            targets, source = node.targets, node.value
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            targets, source = [node.target], node.value
        elif isinstance(node, ast.For | ast.comprehension):
            targets, source = [node.target], node.iter
        elif isinstance(node, ast.If | ast.While) and self._mentions(module, node.test, carriers):
            # A flag that is set where the answer is so.
            targets = [one for part in (*node.body, *node.orelse) for one in _stored(part)]
            source = node.test
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            targets, source = [node.func.value], ast.Tuple(node.args, ast.Load())
        elif isinstance(node, ast.FunctionDef):
            if self._mentions(module, node, carriers):
                yield node.name
            return
        if source is not None and self._mentions(module, source, carriers):
            for target in targets:
                yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))

    def _mentions(self, module: str, node: ast.AST, carriers: frozenset[str]) -> bool:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Attribute):
                if inner.attr in self.words or (self._held and self._is_imported_answer(module, dotted(inner))):
                    return True
            elif isinstance(inner, ast.Constant):
                if inner.value in self.words:
                    return True
            elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
                if inner.id in carriers or (self._held and inner.id in self.words):
                    return True
                if self._held and self._is_imported_answer(module, inner.id):
                    return True
        return False

    def _is_held(self, module: str, scope: int, name: str, depth: int) -> bool:
        """Whether a name of a module, or ``self.name``, is given something made from the answer."""
        if name.startswith(("self.", "cls.")):
            given = [one for one in self.deep(module).attributes if one.name == name.partition(".")[2]]
            facts = self.symbols.modules[module]
            return any(self.may_ask(module, facts, one.scope, one.held, depth + 1) for one in given)
        for target in self.symbols.resolve(module, scope, name.partition("@")[0]):
            if target.kind != "value":
                continue
            facts = self.symbols.modules[target.module]
            known = [("and", *choice) for choice in dict(facts.choices).get(target.name, ())]
            if not known and (held := dict(facts.truths).get(target.name)) is not None:
                known.append(held)
            if any(self.may_ask(target.module, facts, 0, one, depth + 1) for one in known):
                return True
            if not known and target.name in self._carriers_of(target.module, facts, facts.scopes[0]):
                return True
        return False

    def _is_imported_answer(self, module: str, name: str) -> bool:
        for target in self.symbols.resolve(module, 0, name) if name else ():
            if target.kind == "value" and target.module != module:
                facts = self.symbols.modules[target.module]
                if target.name in self._carriers_of(target.module, facts, facts.scopes[0]):
                    return True
        return False

    def _asked_by_attribute(self, facts: FileFacts, name: str) -> bool:
        """Whether an attribute is a method or property that asks, or is given the answer."""
        last = name.rpartition(".")[2]
        for found in re.finditer(rf"\b{re.escape(last)}\b\s*(?::[^=\n]+)?=(?!=)", facts.text):
            if any(word in _written(facts.text, found.end()) for word in self.words):
                return True
        for scope in facts.scopes:
            if scope.kind == "function" and scope.name == last:
                text = "\n".join(facts.lines[scope.span[0] - 1 : scope.span[2]])
                if any(word in text for word in self.words):
                    return True
        return False

    def _asked_by_function(self, module: str, scope: int, name: str, depth: int) -> bool:
        for target in self.symbols.resolve(module, scope, name):
            if target.kind != "scope" or target.rest:
                continue
            facts = self.symbols.modules[target.module]
            function = facts.scopes[target.scope]
            if not self._held and not any(word in facts.text for word in self.words):
                continue
            if function.deferred:
                function = self.deep(target.module).scopes[target.scope]
            for asked in (function.returns, function.completes, *(("and", *choice) for choice in function.choices)):
                if self.may_ask(target.module, facts, function.index, asked, depth + 1):
                    return True
        return False


def _statements(facts: FileFacts, function: Scope) -> tuple[ast.stmt, ...]:
    if function.index == 0:
        return tuple(facts.tree.body) if facts.tree is not None else ()
    return statements_of(facts, function)


def _is_at(node: ast.AST, place: tuple[int, int], label: str) -> bool:
    """Whether a node begins at a place or, for the pattern of a case there, is the ``match`` around it."""
    if isinstance(node, ast.Match):
        return label == "case" and node.lineno < place[0] <= (node.end_lineno or place[0])
    return isinstance(node, ast.expr) and (node.lineno, node.col_offset) == place


def _stored(node: ast.AST) -> Iterator[ast.Name]:
    return (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))


def _parts(condition: Condition) -> Iterator[Condition]:
    """All that a condition is made of: connectives, atoms, and the operands and arguments of these."""
    stack: list[Any] = [condition]
    while stack:
        current = stack.pop()
        # What is free of arguments is said of another function than the condition.
        if isinstance(current, tuple) and current and current[0] not in ("const", "free"):
            if isinstance(current[0], str):
                yield current
            stack.extend(part for part in current if isinstance(part, tuple))


def _written(text: str, start: int) -> str:
    """The rest of a line, up to the line that closes what it opens."""
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if text[start:end].rstrip().endswith(("(", "[", "{")):
        closed = re.compile(r"^\s*[)\]}]", re.MULTILINE).search(text, end)
        end = closed.start() if closed is not None else end
    return text[start:end]
