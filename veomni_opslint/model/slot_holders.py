"""Where a slot goes that is not simply assigned to a module-level name: what keeps it, if binding can never find it.

Binding walks the attributes of the modeling module, so a slot in a class, a container or a function is not found. Code
that may still make an attribute of it (``globals()``, a helper that returns the slot, a later assignment) counts as
doing so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Span
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.slots import ConfigSlotInfo, OpSlotInfo
from veomni_opslint.parsing import parse

_INDIRECT = ("globals()", "vars()", "locals()", "sys.modules", "setattr(", "__dict__")
_CONTAINERS = (
    ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred, ast.keyword, ast.comprehension,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
_TRANSPARENT = (ast.IfExp, ast.BoolOp, ast.Await)
_MAX_CALLS = 4
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def hidden_in(model: OpsModel, slot: OpSlotInfo | ConfigSlotInfo) -> str:
    """What keeps a slot that is no module attribute, as words for a message; empty when it may be found after all."""
    path = _path_to(slot)
    return _Trace(model, slot.module, slot.namespace, path).kept() if path else ""


def deletion_of(slot: OpSlotInfo | ConfigSlotInfo) -> Span | None:
    """Where the module deletes the names of a slot again, which nothing else of the module keeps."""
    facts = slot.namespace
    if slot.embedded or facts.tree is None or not any(isinstance(node, ast.Delete) for node in facts.tree.body):
        return None
    if not any(f"del {name}" in facts.text for name in slot.names):
        return None
    if any(binding.value_name in slot.names for binding in facts.bindings):
        return None
    deleted = {
        target.id: span_of(node)
        for node in facts.tree.body
        if isinstance(node, ast.Delete) and span_of(node) > slot.span
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    kept = any(one.scope == 0 and one.name in deleted and one.span > deleted[one.name] for one in facts.bindings)
    return deleted[slot.var] if set(slot.names) <= set(deleted) and not kept else None


def _path_to(slot: OpSlotInfo | ConfigSlotInfo) -> list[ast.AST]:
    """The nodes from the module down to the slot's call, in the tree of the file or block."""
    callees = {one.callee for one in slot.namespace.slots}
    number = sorted({one.span[:2] for one in slot.namespace.slots}).index(slot.span[:2])
    found: list[tuple[tuple[int, int], list[ast.AST]]] = []
    pending: list[list[ast.AST]] = [[parse(slot.namespace.text)]]
    while pending:
        path = pending.pop()
        node = path[-1]
        if isinstance(node, ast.Call) and (dotted(node.func) or getattr(node.func, "attr", "")) in callees:
            found.append(((node.lineno, node.col_offset), path))
        pending.extend([*path, child] for child in ast.iter_child_nodes(node))
    found.sort(key=lambda one: one[0])
    return found[number][1] if number < len(found) else []


class _Trace(NamedTuple):
    """Follows a slot outwards from its call."""

    model: OpsModel
    module: str
    namespace: FileFacts
    path: list[ast.AST]

    def kept(self) -> str:
        if any(word in self._around() for word in _INDIRECT):
            return ""
        container = ""
        for depth in range(len(self.path) - 2, -1, -1):
            node, inner = self.path[depth], self.path[depth + 1]
            if isinstance(node, _CONTAINERS):
                container = container or "a container"
            elif isinstance(node, _TRANSPARENT):
                continue
            elif isinstance(node, ast.NamedExpr):
                return self._assigned([node.target], container, self._owner(depth))
            elif isinstance(node, ast.Call):
                outcome = self._argument(node, inner, depth)
                if outcome is not None:
                    return outcome
                container = container or "an argument"
            elif isinstance(node, ast.Lambda):
                return self._returned_by_lambda(depth)
            elif isinstance(node, ast.stmt | ast.arguments):
                return self._statement(node, container, depth)
            else:
                return "an expression that uses it at once"
        return ""

    def _argument(self, call: ast.Call, inner: ast.AST, depth: int) -> str | None:
        """What becomes of a slot given to a call; None when the result of the call may be the slot."""
        if inner is call.func:
            return "an expression that uses it at once"
        targets = self.model.symbols.resolve(self.module, 0, dotted(call.func)) if dotted(call.func) else ()
        if any(target.kind in ("scope", "missing") for target in targets):
            return ""
        statement = next((node for node in reversed(self.path[:depth]) if isinstance(node, ast.stmt)), None)
        if isinstance(statement, ast.Expr):
            name = dotted(call.func)
            owner = name.rpartition(".")[0]
            return self._in_container(owner) if owner and "." not in owner else f"a call of `{name}`"
        return None

    def _owner(self, depth: int) -> ast.AST | None:
        """The function or class around a node of the path."""
        return next((one for one in reversed(self.path[:depth]) if isinstance(one, _Function | ast.ClassDef)), None)

    def _statement(self, node: ast.AST, container: str, depth: int) -> str:
        owner = self._owner(depth)
        if isinstance(node, ast.arguments):
            return f"a default argument of `{getattr(self.path[depth - 1], 'name', 'a lambda')}`"
        if isinstance(node, _Function | ast.ClassDef):
            return f"a decorator or base of `{node.name}`"
        if isinstance(node, ast.Return) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield)):
            return self._returned(owner)
        if isinstance(node, ast.Expr):
            return "no name at all"
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
            return self._assigned(targets, container, owner)
        return ""

    def _assigned(self, targets: list[ast.expr], container: str, owner: ast.AST | None) -> str:
        if isinstance(owner, _Function):
            return self._in_function(targets, owner)
        for target in targets:
            if isinstance(target, ast.Tuple | ast.List):
                return ""
            if isinstance(owner, ast.ClassDef):
                return self._in_class(owner, dotted(target))
            base = target.value if isinstance(target, ast.Subscript | ast.Attribute) else None
            if base is None:
                return self._in_container(dotted(target)) if container == "a container" else ""
            if isinstance(target, ast.Subscript):
                return self._in_container(dotted(base))
            resolved = self.model.symbols.resolve(self.module, 0, dotted(base)) if dotted(base) else ()
            known = any(one.kind == "scope" and not one.rest for one in resolved)
            return f"an attribute of `{dotted(base)}`" if known else ""
        return ""

    def _in_function(self, targets: list[ast.expr], function: _Function) -> str:
        names = {dotted(target).partition(".")[0] for target in targets}
        plain = {target.id for target in targets if isinstance(target, ast.Name)}
        for node in ast.walk(function):
            if isinstance(node, ast.Return | ast.Yield) and node.value is not None and plain & _names_in(node.value):
                return self._returned(function)
            if isinstance(node, ast.Call) and any(plain & _names_in(argument) for argument in node.args):
                return ""
        owner = "self" if "self" in names and not plain else ""
        return f"an attribute of `{owner}`" if owner else f"a local name of the function `{function.name}`"

    def _returned(self, function: ast.AST | None) -> str:
        """A helper that returns a slot is fine as long as some module-level code calls it, or passes it on."""
        if not isinstance(function, _Function):
            return ""
        for scope in self.namespace.scopes:
            if scope.kind == "function" and scope.name == function.name and self._used_at_module_level(scope.index):
                return ""
        return f"what the function `{function.name}` returns"

    def _used_at_module_level(self, scope: int) -> bool:
        if self.namespace is not self.model.module(self.module):
            name = self.namespace.scopes[scope].name
            return any(ref.scope == 0 and ref.name == name for ref in self.namespace.refs)
        return self._reaches_module_level(self.module, scope, 0)

    def _reaches_module_level(self, module: str, scope: int, depth: int) -> bool:
        return any(
            use.scope == 0 or (depth < _MAX_CALLS and self._reaches_module_level(use.module, use.scope, depth + 1))
            for use in self.model.uses.of(module, scope)
        )

    def _returned_by_lambda(self, depth: int) -> str:
        statement = next((node for node in reversed(self.path[:depth]) if isinstance(node, ast.stmt)), None)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        called = any(ref.name in names and ref.scope == 0 for ref in self.namespace.refs)
        return "" if called else "what a lambda returns"

    def _in_class(self, owner: ast.ClassDef, attribute: str) -> str:
        written = f"{owner.name}.{attribute}"
        if any(word in self._elsewhere() for word in (written, f"{owner.name}(")):
            return ""
        return f"an attribute of the class `{owner.name}`"

    def _in_container(self, name: str) -> str:
        if not name or any(name in names for names in self._names_given_on()):
            return ""
        exported = any(
            one.name == name and self.model.symbols.absolute(module, imported) == self.module
            for module, facts in self.model.symbols.modules.items()
            if name in facts.text
            for imported in facts.imports
            for one in imported.names
        )
        return "" if exported else f"the container `{name}`"

    def _names_given_on(self) -> Iterator[set[str]]:
        """The names in the values that module-level statements assign or iterate over."""
        tree = self.path[0]
        for node in ast.iter_child_nodes(tree):
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.For) and self.path[1] is not node:
                value = node.iter if isinstance(node, ast.For) else node.value
                if value is not None:
                    yield _names_in(value)

    def _around(self) -> str:
        """The function or class that holds the slot, and the module-level code of the file."""
        return "\n".join((ast.unparse(self.path[1]), self._elsewhere()))

    def _elsewhere(self) -> str:
        statements = [
            node for node in ast.iter_child_nodes(self.path[0]) if not isinstance(node, _Function | ast.ClassDef)
        ]
        return "\n".join(ast.unparse(node) for node in statements if node is not self.path[1])


def _names_in(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
