"""One walk over a file: every scope, import, binding and use, each with the condition on the path to it."""

from __future__ import annotations

import ast
import builtins
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.expressions import scan
from veomni_opslint.extract.flow import merge, try_statement, with_statement
from veomni_opslint.extract.imports import import_from, import_module_call, import_plain, import_skip_call, imported_package
from veomni_opslint.extract.matching import match_statement
from veomni_opslint.extract.operands import Operand, condition, dotted, operand, truth_of
from veomni_opslint.extract.scope_state import Loop, ScopeState, names_assigned, span_of
from veomni_opslint.extract.slots import mark_slots, slot_call
from veomni_opslint.facts import Binding, Import, SlotCall, Span

_NEVER_RETURNS = frozenset(
    {"sys.exit", "os._exit", "exit", "quit", "pytest.skip", "pytest.fail", "pytest.exit", "os.abort"}
)
_CHECKING_WORDS = ("require", "ensure", "assert", "check", "verify", "validate", "guard", "only", "must", "need")
_BUILTINS = frozenset(dir(builtins))
_GATING_WORDS = ("npu", "skip", "require")


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
        }
        last = tree.body[-1] if tree.body else None
        end = (last.end_lineno or 1, last.end_col_offset or 0) if last is not None else (1, 0)
        self.scope = ScopeState(0, None, "module", "", "", (1, 0, *end))
        self.scopes = [self.scope]
        self.scope.completes = self.block(tree.body, TRUE)
        if deep:
            self._walk_deferred()

    def block(self, statements: list[ast.stmt], when: Condition) -> Condition:
        """Walk statements that run under *when*; the result is the condition, given *when*, of reaching their end."""
        reached = TRUE
        current = when
        for statement in statements:
            handler = _STATEMENTS.get(statement.__class__)
            if handler is None:
                scan(self, statement, current)
                continue
            after = handler(self, statement, current)
            if after is not TRUE:
                reached = both(reached, after)
                current = both(when, reached)
        return reached

    def bind_name(self, name: str, value: Operand, node: ast.expr, when: Condition, source: ast.expr | None) -> None:
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
            self.bindings.append(
                Binding(
                    scope.index, name, "assign", span_of(node), when,
                    value_name=dotted(source) if source is not None else "", literal=literal,
                )
            )  # fmt: skip

    def bind_target(self, target: ast.expr, value: ast.expr | None, when: Condition) -> None:
        """Bind the target of an assignment, loop or ``with``; *value* is None where it is not a single expression."""
        if isinstance(target, ast.Name):
            known = operand(value, self.scope.names) if value is not None else ("opaque", 0, 0, "")
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
            scan(self, target, when)

    @contextmanager
    def enter(
        self,
        kind: Literal["class", "function", "lambda"],
        name: str,
        node: ast.stmt | ast.expr,
        when: Condition,
        arguments: ast.arguments | None = None,
    ) -> Iterator[ScopeState]:
        """Walk what is inside as a new scope, child of the current one."""
        parent = self.scope
        names = _visible_names(parent, kind)
        scope = ScopeState(
            len(self.scopes), parent, kind, name, parent.child_qualname(name), span_of(node), when,
            arguments=arguments, names=names,
        )  # fmt: skip
        if arguments is not None:
            for argument in (
                *arguments.posonlyargs,
                *arguments.args,
                arguments.vararg,
                *arguments.kwonlyargs,
                arguments.kwarg,
            ):
                if argument is not None:
                    scope.names[argument.arg] = ("param", argument.arg)
                    scope.locals.add(argument.arg)
        self.scopes.append(scope)
        self.scope = scope
        try:
            yield scope
        finally:
            self.scope = parent

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

    def _walk_deferred(self) -> None:
        # Last, so that scopes and imports have the same index in shallow and in deep facts of a file.
        module, self.wanted_lines = self.scope, None
        for node, scope in self.deferred:
            self.scope, scope.deferred = scope, False
            _body(self, node, scope)
        self.scope = module

    def _block_call(self, node: ast.Call, name: str, when: Condition) -> None:
        self.block_calls.append((node, name, dict(self.scope.names)))


def _visible_names(parent: ScopeState, kind: str) -> dict[str, Operand]:
    if kind == "class":
        return dict(parent.names)
    outer: ScopeState | None = parent
    while outer is not None and outer.kind == "class":
        outer = outer.parent
    return {} if outer is None or outer.kind == "module" else dict(outer.names)


def _function(walker: Walker, node: ast.FunctionDef | ast.AsyncFunctionDef, when: Condition) -> Condition:
    gate = TRUE
    for decorator in node.decorator_list:
        scan(walker, decorator, when)
        gate = both(gate, _gate(decorator, walker.scope.names))
    _signature(walker, node, when)
    _define(walker, node.name, span_of(node), when)
    with walker.enter("function", node.name, node, when, node.args) as scope:
        scope.gate = gate
        scope.is_async = isinstance(node, ast.AsyncFunctionDef)
        scope.decorators = tuple(_decorator_name(decorator) for decorator in node.decorator_list)
        walker.functions.append(node)
        if not walker.wants(node):
            scope.deferred = True
            walker.deferred.append((node, scope))
            return TRUE
        _body(walker, node, scope)
    return TRUE


def _body(walker: Walker, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: ScopeState) -> None:
    scope.completes = either(walker.block(node.body, TRUE), scope.leaves)


def _signature(walker: Walker, node: ast.FunctionDef | ast.AsyncFunctionDef, when: Condition) -> None:
    arguments = node.args
    for default in (*arguments.defaults, *arguments.kw_defaults):
        if default is not None:
            scan(walker, default, when)
    annotations = [argument.annotation for argument in ast.walk(arguments) if isinstance(argument, ast.arg)] if walker.deep else []
    for annotation in (*annotations, node.returns if walker.deep else None):
        if annotation is not None:
            scan(walker, annotation, when)
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None


def _class(walker: Walker, node: ast.ClassDef, when: Condition) -> Condition:
    for decorator in node.decorator_list:
        scan(walker, decorator, when)
    for base in node.bases:
        scan(walker, base, when)
    for keyword in node.keywords:
        scan(walker, keyword.value, when)
    _define(walker, node.name, span_of(node), when)
    gate = TRUE
    for decorator in node.decorator_list:
        gate = both(gate, _gate(decorator, walker.scope.names))
    with walker.enter("class", node.name, node, when) as scope:
        scope.gate = gate
        scope.decorators = tuple(_decorator_name(decorator) for decorator in node.decorator_list)
        scope.bases = tuple(dotted(base) for base in node.bases)
        scope.completes = walker.block(node.body, TRUE)
    return scope.completes


def _define(walker: Walker, name: str, span: Span, when: Condition) -> None:
    walker.scope.names.pop(name, None)
    walker.scope.bound.add(name)
    if walker.scope.kind in ("module", "class"):
        index = len(walker.scopes)
        walker.bindings.append(Binding(walker.scope.index, name, "scope", span, when, target_scope=index))


def _decorator_name(node: ast.expr) -> str:
    return dotted(node.func if isinstance(node, ast.Call) else node)


def _gate(node: ast.expr, names: dict[str, Operand]) -> Condition:
    value = operand(node, names)
    if value[0] == "cond":
        return truth_of(value)
    last = _decorator_name(node).rpartition(".")[2].lower()
    if value[0] in ("name", "call") and any(word in last for word in _GATING_WORDS):
        return ("gate", *value[1:])
    return TRUE


def _if(walker: Walker, node: ast.If, when: Condition) -> Condition:
    reached = FALSE
    earlier = TRUE
    outcomes: list[tuple[Condition, dict[str, Operand]]] = []
    current: ast.If | None = node
    otherwise: list[ast.stmt] = []
    while current is not None:
        scan(walker, current.test, both(when, earlier))
        test = condition(current.test, walker.scope.names)
        before = dict(walker.scope.names)
        branch = both(earlier, test)
        after = walker.block(current.body, both(when, branch))
        reached = either(reached, both(branch, after))
        if after != FALSE:
            outcomes.append((branch, walker.scope.names))
        walker.scope.names = before
        earlier = both(earlier, negate(test))
        otherwise = current.orelse
        chained = len(otherwise) == 1 and isinstance(otherwise[0], ast.If)
        current = otherwise[0] if chained else None  # type: ignore[assignment]
    after = walker.block(otherwise, both(when, earlier)) if otherwise else TRUE
    reached = either(reached, both(earlier, after))
    if after == FALSE and outcomes:
        walker.scope.names = outcomes.pop()[1]
    for branch, names in reversed(outcomes):
        walker.scope.names = merge(branch, names, walker.scope.names, node)
    return reached


def _loop(walker: Walker, node: ast.For | ast.AsyncFor | ast.While, when: Condition) -> Condition:
    scope = walker.scope
    changed = names_assigned(node.body)
    if isinstance(node, ast.While):
        first = condition(node.test, scope.names)
        _forget(scope, changed, node)
        scan(walker, node.test, when)
        test = condition(node.test, scope.names)
        at_least_once = first == TRUE
    else:
        scan(walker, node.iter, when)
        _forget(scope, changed, node)
        walker.bind_target(node.target, None, when)
        at_least_once = _has_elements(node.iter)
        test = TRUE if at_least_once else ("opaque", node.lineno, node.col_offset, "for")
    loop = Loop()
    scope.loops.append(loop)
    after = walker.block(node.body, both(when, test))
    scope.loops.pop()
    _forget(scope, changed, node)
    end = either(after, loop.continues)
    if isinstance(node, ast.While) and test == TRUE:
        exhausted = FALSE
    elif at_least_once:
        exhausted = end
    else:
        exhausted = either(negate(test), both(test, end))
    reached = exhausted
    if node.orelse:
        reached = both(exhausted, walker.block(node.orelse, both(when, exhausted)))
    return either(reached, both(test, loop.breaks))


def _has_elements(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(not isinstance(element, ast.Starred) for element in node.elts)
    if isinstance(node, ast.Call) and dotted(node.func) == "range" and len(node.args) == 1:
        return isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, int) and node.args[0].value > 0
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(node.value)


def _forget(scope: ScopeState, changed: set[str], node: ast.stmt) -> None:
    for name in changed:
        scope.names[name] = ("opaque", node.lineno, node.col_offset, name)


def _break(walker: Walker, node: ast.Break, when: Condition) -> Condition:
    if walker.scope.loops:
        walker.scope.loops[-1].breaks = either(walker.scope.loops[-1].breaks, when)
    return FALSE


def _continue(walker: Walker, node: ast.Continue, when: Condition) -> Condition:
    if walker.scope.loops:
        walker.scope.loops[-1].continues = either(walker.scope.loops[-1].continues, when)
    return FALSE


def _return(walker: Walker, node: ast.Return, when: Condition) -> Condition:
    scope = walker.scope
    if node.value is not None:
        scan(walker, node.value, when)
        scope.returns = either(scope.returns, both(when, condition(node.value, scope.names)))
    scope.leaves = either(scope.leaves, when)
    return FALSE


def _raise(walker: Walker, node: ast.Raise, when: Condition) -> Condition:
    scan_fields(walker, node, when)
    return FALSE


def scan_fields(walker: Walker, node: ast.stmt, when: Condition) -> None:
    """Record the uses in a statement that is not treated otherwise."""
    for child in ast.iter_child_nodes(node):
        scan(walker, child, when)


def _assert(walker: Walker, node: ast.Assert, when: Condition) -> Condition:
    scan_fields(walker, node, when)
    return condition(node.test, walker.scope.names)


def _expression(walker: Walker, node: ast.Expr, when: Condition) -> Condition:
    scan(walker, node.value, when)
    return _outcome(walker, node.value, 0)


def _outcome(walker: Walker, node: ast.expr, depth: int) -> Condition:
    """The condition under which evaluating an expression does not end in an exception, as far as imports decide it."""
    if isinstance(node, ast.Call):
        return _call_outcome(walker, node)
    if isinstance(node, ast.BoolOp) and depth < 3:
        result, reached = TRUE, TRUE
        for value in node.values:
            inner = _outcome(walker, value, depth + 1)
            if inner is not TRUE:
                result = both(result, either(negate(reached), inner))
            truth = condition(value, walker.scope.names)
            reached = both(reached, truth if isinstance(node.op, ast.And) else negate(truth))
        return result
    if isinstance(node, ast.IfExp) and depth < 3:
        body, orelse = _outcome(walker, node.body, depth + 1), _outcome(walker, node.orelse, depth + 1)
        if body is TRUE and orelse is TRUE:
            return TRUE
        test = condition(node.test, walker.scope.names)
        return both(either(negate(test), body), either(test, orelse))
    return TRUE


def _call_outcome(walker: Walker, call: ast.Call) -> Condition:
    name = dotted(call.func)
    if name in _NEVER_RETURNS:
        return FALSE
    last = name.rpartition(".")[2]
    if last == "importorskip":
        return import_skip_call(call)
    if last in ("import_module", "__import__"):
        package = imported_package(walker, call)
        return ("available", package) if package else TRUE
    lowered = last.lower()
    checking = "." not in name or any(word in lowered for word in _CHECKING_WORDS)
    if name and checking and name.partition(".")[0] not in walker.scope.names and name not in _BUILTINS:
        return ("completes", name)
    return TRUE


def _assign(walker: Walker, node: ast.Assign | ast.AnnAssign, when: Condition) -> Condition:
    if node.value is None:
        return TRUE
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if isinstance(node, ast.AnnAssign):
        scan(walker, node.annotation, when)
    mark_slots(walker, targets, node.value)
    scan(walker, node.value, when)
    for target in targets:
        walker.bind_target(target, node.value, when)
    if walker.scope.kind == "module" and any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
        walker.exports = _strings(node.value)
    return _outcome(walker, node.value, 0)


def _strings(node: ast.expr) -> list[tuple[str, Span]]:
    elements = node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else []
    return [
        (element.value, span_of(element))
        for element in elements
        if isinstance(element, ast.Constant) and isinstance(element.value, str)
    ]


def _aug_assign(walker: Walker, node: ast.AugAssign, when: Condition) -> Condition:
    scan(walker, node.value, when)
    if isinstance(node.target, ast.Name):
        name = node.target.id
        if name == "__all__" and walker.scope.kind == "module":
            walker.exports = (walker.exports or []) + _strings(node.value)
        walker.bind_name(name, ("opaque", 0, 0, name), node.target, when, None)
    else:
        scan(walker, node.target, when)
    return TRUE


def _global(walker: Walker, node: ast.Global | ast.Nonlocal, when: Condition) -> Condition:
    if isinstance(node, ast.Global):
        walker.scope.globals.update(node.names)
    return TRUE


_STATEMENTS: dict[type[ast.stmt], Callable[..., Condition]] = {
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.If: _if,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.While: _loop,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _assign,
    ast.AugAssign: _aug_assign,
    ast.Global: _global,
    ast.Nonlocal: _global,
    ast.Import: import_plain,
    ast.ImportFrom: import_from,
    ast.Try: try_statement,
    ast.With: with_statement,
    ast.AsyncWith: with_statement,
    ast.Match: match_statement,
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = try_statement
