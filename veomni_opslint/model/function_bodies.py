"""The bodies of project functions, with the functions that they call, for questions about what they return."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Scope
from veomni_opslint.model.return_shapes import Body
from veomni_opslint.model.symbols import Symbols

_NAMED_TUPLES = frozenset({"typing.NamedTuple", "NamedTuple"})


@dataclass(frozen=True, slots=True)
class FunctionBodies:
    """Reads function bodies on demand."""

    symbols: Symbols
    _known: dict[tuple[str, int, int], Body] = field(default_factory=dict, repr=False)

    def of(self, module: str, node: ast.FunctionDef | ast.Lambda) -> Body:
        """The body of a function of a module."""
        key = (module, node.lineno, node.col_offset)
        if key not in self._known:
            facts = self.symbols.modules[module]
            statements: tuple[ast.stmt, ...] = ()
            if isinstance(node, ast.FunctionDef):
                statements = tuple(node.body or facts.function_body(node))
            owner = self._owner(facts, node)
            self._known[key] = Body(node, statements, lambda name: self._called(module, owner, statements, name))
        return self._known[key]

    def _owner(self, facts: FileFacts, node: ast.FunctionDef | ast.Lambda) -> Scope | None:
        """The class whose method a function is."""
        for scope in facts.scopes:
            if scope.span == span_of(node) and scope.parent >= 0 and facts.scopes[scope.parent].kind == "class":
                return facts.scopes[scope.parent]
        return None

    def _called(
        self, module: str, owner: Scope | None, statements: tuple[ast.stmt, ...], name: str
    ) -> Body | int | None:
        root, _, rest = name.partition(".")
        for statement in statements:
            for node in ast.walk(statement):
                if isinstance(node, ast.FunctionDef) and node.name == name:
                    return self.of(module, node)
                if isinstance(node, ast.Name) and node.id == root and isinstance(node.ctx, ast.Store):
                    return None
        if root in ("self", "cls") and owner is not None:
            name = f"{owner.qualname}.{rest}"
        if root == "super":
            return None
        targets = self.symbols.resolve(module, 0, name)
        return self._target(targets[0].module, targets[0].scope) if _is_scope(targets) else None

    def _target(self, module: str, index: int) -> Body | int | None:
        facts = self.symbols.modules[module]
        scope = facts.scopes[index]
        for node in ast.walk(facts.tree) if facts.tree is not None else ():
            if isinstance(node, ast.FunctionDef) and span_of(node) == scope.span:
                plain = all(dotted(one) in ("staticmethod", "classmethod") for one in node.decorator_list)
                return self.of(module, node) if plain and not scope.is_generator else None
            if isinstance(node, ast.ClassDef) and span_of(node) == scope.span:
                return _length(node)
        return None


def _is_scope(targets: tuple[object, ...]) -> bool:
    return len(targets) == 1 and getattr(targets[0], "kind", "") == "scope" and not getattr(targets[0], "rest", "")


def _length(node: ast.ClassDef) -> int | None:
    """How many values an object of a class unpacks into: those of a named tuple, none for a dataclass."""
    if any(dotted(base) in _NAMED_TUPLES for base in node.bases):
        return sum(isinstance(one, ast.AnnAssign) for one in node.body)
    decorators = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    is_dataclass = any(dotted(one).rpartition(".")[2] == "dataclass" for one in decorators)
    iterable = any(isinstance(one, ast.FunctionDef) and one.name in ("__iter__", "__getitem__") for one in node.body)
    return 0 if is_dataclass and not node.bases and not iterable else None
