"""One walk over a file: every scope, import, binding and use, each with the condition on the path to it."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Literal

from veomni_opslint.conditions import FALSE, TRUE, Condition, both
from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.choices import choices_of
from veomni_opslint.extract.definitions import function_body
from veomni_opslint.extract.expressions import scan
from veomni_opslint.extract.imports import MAP_CONSUMERS, import_module_call, imports_by_map
from veomni_opslint.extract.operands import Operand, dotted, marks, operand, truth_of
from veomni_opslint.extract.scope_state import ScopeState, span_of
from veomni_opslint.extract.slots import slot_call
from veomni_opslint.extract.statements import STATEMENTS
from veomni_opslint.extract.unpacking import mark_unpacked_later
from veomni_opslint.facts import AttributeTruth, Binding, Call, Import, Scope, SlotCall, Span

_TEST_MARKS = "pytestmark"
_NO_NAMES: frozenset[str] = frozenset()


class Walker:
    """Collects the facts of one parsed file (or of one embedded block)."""

    def __init__(
        self, tree: ast.Module, dialect: Dialect, wanted_lines: list[int] | None = None, deep: bool = True
    ) -> None:
        self.dialect = dialect
        self.wanted_lines = wanted_lines
        self.deep = deep
        self.deferred: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, ScopeState]] = []
        self.imports: list[Import] = []
        self.bindings: list[Binding] = []
        self.calls: list[Call] = []
        self.attributes: list[AttributeTruth] = []
        self.unpacked: dict[int, tuple[int, bool]] = {}
        self.unpacked_later: dict[int, Span] = {}
        self.slots: list[SlotCall] = []
        self.slot_targets: dict[int, Sequence[ast.expr]] = {}
        self.slot_aliases = {dialect.op_slot: "op", dialect.config_slot: "config"}
        self.entry_strings: list[tuple[str, Span, Condition]] = []
        self.block_calls: list[tuple[ast.Call, str, dict[str, Operand]]] = []
        self.exports: list[tuple[str, Span]] | None = None
        self.global_assigned: set[str] = set()
        self.functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
        self.device_prefixes = tuple(dialect.npu_packages)
        self.device_roots: set[str] = set()
        self.optional = frozenset(dialect.optional_packages) | frozenset(dialect.npu_packages)
        self.call_hooks: dict[str, Callable[[ast.Call, str, Condition], None]] = {
            dialect.op_slot: lambda node, name, when: slot_call(self, node, name, when, "op"),
            dialect.config_slot: lambda node, name, when: slot_call(self, node, name, when, "config"),
            dialect.post_import_block: self._block_call,
            "import_module": lambda node, name, when: import_module_call(self, node, name, when),
            "__import__": lambda node, name, when: import_module_call(self, node, name, when),
            "map": lambda node, _, when: self._mapped(node, when),
        }
        self.importers = {"import_module", "__import__"}
        for name in MAP_CONSUMERS:
            self.call_hooks[name] = lambda node, _, when: imports_by_map(
                self, node.args[0] if node.args else None, when
            )
        last = tree.body[-1] if tree.body else None
        end = (last.end_lineno or 1, last.end_col_offset or 0) if last is not None else (1, 0)
        self.module = self.scope = ScopeState(0, None, "module", "", "", (1, 0, *end))
        self.scopes: list[ScopeState | Scope] = [self.scope]
        self.scope.completes = self.block(tree.body, TRUE)
        if deep:
            self._walk_deferred()

    def block(self, statements: list[ast.stmt], when: Condition) -> Condition:
        """Walk statements that run under *when*; the result is the condition, given *when*, of reaching their end."""
        reached = TRUE
        current = when
        if self.deep:
            mark_unpacked_later(self, statements)
        for statement in statements:
            handler = STATEMENTS.get(statement.__class__)
            if handler is None:
                scan(self, statement, current)
                continue
            after = handler(self, statement, current)
            if after is not TRUE:
                reached = both(reached, after)
                current = both(when, reached)
        return reached

    def bind_name(
        self, name: str, value: Operand, node: ast.expr | ast.pattern, when: Condition, source: ast.expr | None
    ) -> None:
        """Bind a plain name of the current scope to a value."""
        scope = self.scope
        if name in scope.globals:
            self.global_assigned.add(name)
            return
        if value[0] == "opaque":
            value = ("opaque", node.lineno, node.col_offset, name)
        scope.names[name] = value
        scope.locals.add(name)
        if scope.kind in ("module", "class"):
            literal = value[1] if value[0] == "const" and isinstance(value[1], str) else None
            value_name = dotted(source) if source is not None else ""
            if value_name:
                kind = self.slot_aliases.get(value_name.rpartition(".")[2])
                if kind is not None:
                    self.alias_slot(name, kind)
                elif value_name == "import_module" or value_name.endswith(".import_module"):
                    self.alias_import(name)
            self.bindings.append(
                Binding(scope.index, name, "assign", span_of(node), when, value_name=value_name, literal=literal)
            )

    def bind_target(self, target: ast.expr, value: ast.expr | None, when: Condition) -> None:
        """Bind the target of an assignment, loop or ``with``; *value* is None where it is not a single expression."""
        if isinstance(target, ast.Name):
            known = operand(value, self.scope.names) if value is not None else ("opaque", 0, 0, "")
            if target.id == _TEST_MARKS and value is not None:
                known = ("cond", marks(value, self.scope.names))
            self.bind_name(target.id, known, target, when, value)
        elif isinstance(target, ast.Tuple | ast.List):
            values: list[ast.expr | None] = [None] * len(target.elts)
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                values = list(value.elts)
            for element, one in zip(target.elts, values, strict=True):
                self.bind_target(element, one, when)
        elif isinstance(target, ast.Starred):
            self.bind_target(target.value, None, when)
        else:
            self._bind_attribute(target, value)
            scan(self, target, when)

    def enter(
        self,
        kind: Literal["class", "function", "lambda"],
        name: str,
        node: ast.stmt | ast.expr,
        when: Condition,
        arguments: ast.arguments | None = None,
    ) -> ScopeState:
        """Go into a new scope, child of the current one, until ``leave``."""
        parent = self.scope
        scope = ScopeState(
            len(self.scopes), parent, kind, name, parent.child_qualname(name), span_of(node), when,
            arguments=arguments, names=_visible_names(parent, kind),
        )  # fmt: skip
        self.scopes.append(scope)
        self.scope = scope
        return scope

    def pass_over(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        when: Condition,
        gate: Condition,
        decorators: tuple[str, ...],
    ) -> None:
        """Record a function whose body is not walked."""
        parent = self.scope
        self.scopes.append(
            Scope(
                len(self.scopes), parent.index, "function", node.name, parent.child_qualname(node.name), span_of(node),
                node.args, decorators, (), when, gate, FALSE, TRUE, _NO_NAMES,
                is_async=isinstance(node, ast.AsyncFunctionDef), deferred=True,
            )
        )  # fmt: skip

    def walked(self) -> list[ScopeState]:
        """The scopes that were not passed over."""
        return [scope for scope in self.scopes if isinstance(scope, ScopeState)]

    def leave(self) -> None:
        """Go back to the scope around the current one."""
        if self.scope.parent is not None:
            self.scope = self.scope.parent

    def wants(self, node: ast.stmt) -> bool:
        """Whether the body of a function is worth a walk: a shallow walk passes over those without a wanted line."""
        if self.wanted_lines is None:
            return True
        position = bisect_left(self.wanted_lines, node.lineno)
        return position < len(self.wanted_lines) and self.wanted_lines[position] <= (node.end_lineno or node.lineno)

    def scan(self, node: ast.AST, when: Condition) -> None:
        """Record the uses of names in an expression."""
        scan(self, node, when)

    def optional_package(self, module: str) -> str:
        """The optional package of the dialect that *module* belongs to, or an empty string."""
        root, _, rest = module.partition(".")
        if root in self.optional:
            return root
        two = f"{root}.{rest.partition('.')[0]}"
        return two if rest and two in self.optional else ""

    def alias_slot(self, name: str, kind: str) -> None:
        """From here on, calls of *name* create slots."""
        slot_kind: Literal["op", "config"] = "op" if kind == "op" else "config"
        self.call_hooks[name] = lambda node, callee, when: slot_call(self, node, callee, when, slot_kind)

    def alias_import(self, name: str) -> None:
        """From here on, calls of *name* are dynamic imports."""
        self.importers.add(name)
        self.call_hooks[name] = lambda node, _, when: import_module_call(self, node, "import_module", when)

    def _bind_attribute(self, target: ast.expr, value: ast.expr | None) -> None:
        owner = self.scope.parent
        if owner is None or owner.kind != "class" or not isinstance(target, ast.Attribute):
            return
        if isinstance(target.value, ast.Name) and target.value.id in ("self", "cls"):
            known = operand(value, self.scope.names) if value is not None else ("opaque", 0, 0, "")
            held, among = truth_of(known), choices_of(known)
            self.attributes.append(AttributeTruth(owner.index, target.attr, self.scope.index, held, among))

    def _walk_deferred(self) -> None:
        # Last, so that scopes and imports have the same index in shallow and in deep facts of a file.
        self.wanted_lines = None
        for node, scope in self.deferred:
            self.scope = scope
            function_body(self, node, scope)
        self.scope = self.module

    def _mapped(self, node: ast.Call, when: Condition) -> None:
        # Assigned to several names, a map is gone through at once.
        if any(isinstance(target, ast.Tuple | ast.List) for target in self.slot_targets.get(id(node), ())):
            imports_by_map(self, node, when)

    def _block_call(self, node: ast.Call, name: str, when: Condition) -> None:
        self.block_calls.append((node, name, dict(self.scope.names)))


def _visible_names(parent: ScopeState, kind: str) -> dict[str, Operand]:
    if kind == "class":
        return dict(parent.names)
    outer: ScopeState | None = parent
    while outer is not None and outer.kind == "class":
        outer = outer.parent
    return {} if outer is None or outer.kind == "module" else dict(outer.names)
