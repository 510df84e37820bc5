"""What a function returns on each of its paths, as far as it is certain that it is no callable."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from veomni_opslint.conditions import FALSE
from veomni_opslint.extract.operands import dotted
from veomni_opslint.model.factories import Definition, FunctionNode
from veomni_opslint.model.ops_model import OpsModel

_NEVER_RETURN = frozenset({"sys.exit", "os._exit", "exit", "quit", "os.abort", "pytest.skip", "pytest.fail"})
_GIVING_UP = ("raise", "fail", "abort", "error", "unsupported", "unreachable", "exit", "assert_never")
_VALUES = (
    ast.Tuple, ast.List, ast.Dict, ast.Set, ast.JoinedStr, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp,
    ast.Compare,
)  # fmt: skip

Kind = Literal["None", "value", "module", "other"]
Names: TypeAlias = dict[str, frozenset[Kind]]
_NONE: Kind = "None"
_VALUE: Kind = "value"
_MODULE: Kind = "module"
_OTHER: Kind = "other"


class BadReturn(NamedTuple):
    """A path that returns no callable: at ``node``, or (None) past the end of the function.

    ``kind``: ``None``; ``value``, one that cannot be called; ``module``.
    """

    node: ast.Return | ast.expr | None
    kind: Kind


class Surroundings(NamedTuple):
    """What the names that a function does not bind stand for."""

    model: OpsModel
    found: Definition

    def is_module(self, name: str) -> bool:
        """Whether a name of the module is a module of the project or bound by a plain import."""
        symbols, module = self.model.symbols, self.found.module
        bindings = symbols.bindings(module).get(name, ())
        imports = [self.found.facts.imports[one.import_index] for one in bindings if one.kind == "import"]
        if bindings and len(imports) == len(bindings) and all(one.how == "import" for one in imports):
            return True
        targets = symbols.attribute(module, name)
        return bool(targets) and all(one.kind == "module" and not one.rest for one in targets)

    def imports_module(self, node: ast.ImportFrom, name: str) -> bool:
        """Whether a ``from`` import binds *name* to a module of the project."""
        symbols = self.model.symbols
        for imported in self.found.facts.imports:
            if imported.span[:2] == (node.lineno, node.col_offset) and imported.how == "from":
                targets = symbols.attribute(symbols.absolute(self.found.module, imported), name)
                return bool(targets) and all(one.kind == "module" for one in targets)
        return False

    def never_returns(self, name: str) -> bool:
        """Whether a call of *name* always raises or ends the process."""
        last = name.rpartition(".")[2].lower()
        if name in _NEVER_RETURN or any(word in last for word in _GIVING_UP):
            return True
        for target in self.model.symbols.resolve(self.found.module, 0, name) if name else ():
            if target.kind == "scope" and not target.rest:
                scope = self.model.deep(target.module).scopes[target.scope]
                return scope.kind == "function" and scope.completes == FALSE
        return False


def bad_returns(node: FunctionNode, around: Surroundings) -> Iterator[BadReturn]:
    """Paths of *node* that return no callable, in order."""
    walk = _Walk(around)
    if isinstance(node, ast.Lambda):
        walk.returned(node.body, node.body, {})
    elif walk.block(node.body, {}) is not None:
        walk.found.append(BadReturn(None, "None"))
    yield from walk.found


@dataclass(slots=True)
class _Walk:
    """Follows the statements of one function. Blocks give what is known of names at their end, None if never there."""

    around: Surroundings
    found: list[BadReturn] = field(default_factory=list)
    loops: list[list[Names]] = field(default_factory=list)

    def block(self, statements: list[ast.stmt], names: Names) -> Names | None:
        """Walk statements in order."""
        current: Names | None = dict(names)
        for statement in statements:
            if current is None:
                return None
            current = self.statement(statement, current)
        return current

    def statement(self, node: ast.stmt, names: Names) -> Names | None:
        """Walk one statement."""
        match node:
            case ast.Return():
                self.returned(node.value, node, names)
                return None
            case ast.Raise():
                return None
            case ast.Break():
                if self.loops:
                    self.loops[-1].append(names)
                return None
            case ast.Continue():
                return None
            case ast.If():
                return self._if(node, names)
            case ast.While() | ast.For() | ast.AsyncFor():
                return self._loop(node, names)
            case ast.Try():
                return self._try(node, names)
            case ast.With() | ast.AsyncWith():
                inner = self.block(node.body, names)
                return _joined([inner, names]) if _suppresses(node) else inner
            case ast.Match():
                return self._match(node, names)
            case ast.Assert():
                return _narrowed(node.test, names, holds=True)
            case ast.Expr():
                value = node.value
                return None if isinstance(value, ast.Call) and self.around.never_returns(dotted(value.func)) else names
        return self._bound(node, names)

    def returned(self, value: ast.expr | None, node: ast.Return | ast.expr, names: Names) -> None:
        """Note what is wrong with a value that is returned."""
        kinds: set[Kind] = self._kinds(value, names) if value is not None else {"None"}
        self.found.extend(BadReturn(node, kind) for kind in sorted(kinds) if kind != "other")

    def _if(self, node: ast.If, names: Names) -> Names | None:
        constant = node.test.value if isinstance(node.test, ast.Constant) else None
        taken = None if constant is False else self.block(node.body, _narrowed(node.test, names, holds=True))
        if constant is True:
            return taken
        return _joined([taken, self.block(node.orelse, _narrowed(node.test, names, holds=False))])

    def _loop(self, node: ast.While | ast.For | ast.AsyncFor, names: Names) -> Names | None:
        start = _forgotten(node, names)
        self.loops.append([])
        end = self.block(node.body, start)
        breaks: list[Names | None] = [*self.loops.pop()]
        endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        exhausted = None if endless else self.block(node.orelse, _joined([end, start]) or start)
        return _joined([exhausted, *breaks])

    def _try(self, node: ast.Try, names: Names) -> Names | None:
        body = self.block(node.body, names)
        if body is not None and node.orelse:
            body = self.block(node.orelse, body)
        interrupted = _joined([body, names, _forgotten(node, names)]) or names
        ends = [body, *(self.block(handler.body, interrupted) for handler in node.handlers)]
        joined = _joined(ends)
        if node.finalbody:
            final = self.block(node.finalbody, joined or names)
            return None if joined is None else final
        return joined

    def _match(self, node: ast.Match, names: Names) -> Names | None:
        ends = [self.block(case.body, _forgotten(case, names)) for case in node.cases]
        last = node.cases[-1]
        exhaustive = last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        return _joined(ends if exhaustive else [*ends, names])

    def _bound(self, node: ast.stmt, names: Names) -> Names:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            return {**names, node.targets[0].id: frozenset(self._kinds(node.value, names))}
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            return {**names, node.target.id: frozenset(self._kinds(node.value, names))}
        if isinstance(node, ast.Import):
            modules = (one.asname or one.name.partition(".")[0] for one in node.names)
            return {**names, **dict.fromkeys(modules, frozenset({_MODULE}))}
        if isinstance(node, ast.ImportFrom):
            given = {
                one.asname or one.name: frozenset({_MODULE if self.around.imports_module(node, one.name) else _OTHER})
                for one in node.names
            }
            return {**names, **given}
        return _forgotten(node, names)

    def _kinds(self, node: ast.expr, names: Names) -> set[Kind]:
        match node:
            case ast.Constant(value=None):
                return {_NONE}
            case ast.Constant(value=value):
                return {_OTHER if value is ... else _VALUE}
            case ast.IfExp():
                return self._kinds(node.body, names) | self._kinds(node.orelse, names)
            case ast.BoolOp(op=ast.Or()):
                return self._kinds(node.values[-1], names)
            case ast.NamedExpr():
                return self._kinds(node.value, names)
            case ast.Name() if node.id in names:
                return set(names[node.id])
            case ast.Name():
                return {_MODULE if self.around.is_module(node.id) else _OTHER}
        return {_VALUE if isinstance(node, _VALUES) else _OTHER}


def _narrowed(test: ast.expr, names: Names, *, holds: bool) -> Names:
    """What is known of names where *test* holds, or does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _narrowed(test.operand, names, holds=not holds)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == holds:
        for value in test.values:
            names = _narrowed(value, names, holds=holds)
        return names
    name, there = "", holds
    if isinstance(test, ast.Name):
        name = test.id
    elif isinstance(test, ast.Call) and dotted(test.func) == "callable" and len(test.args) == 1:
        name = dotted(test.args[0])
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
        right = test.comparators[0]
        if isinstance(right, ast.Constant) and right.value is None:
            name = test.left.id
            there = holds == isinstance(test.ops[0], ast.IsNot | ast.NotEq)
    if name not in names or not there:
        return names
    return {**names, name: names[name] - {_NONE} or frozenset({_OTHER})}


def _forgotten(node: ast.AST, names: Names) -> Names:
    """Names that anything in *node* binds may be anything."""
    found = dict(names)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store | ast.Del):
            found[inner.id] = found.get(inner.id, frozenset()) | {_OTHER}
        elif isinstance(inner, ast.alias):
            bound = inner.asname or inner.name.partition(".")[0]
            found[bound] = found.get(bound, frozenset()) | {_OTHER}
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[inner.name] = frozenset({_OTHER})
    return found


def _joined(ends: list[Names | None]) -> Names | None:
    reached = [end for end in ends if end is not None]
    if not reached:
        return None
    joined: Names = {}
    for end in reached:
        for name, kinds in end.items():
            joined[name] = joined.get(name, frozenset()) | kinds
    return joined


def _suppresses(node: ast.With | ast.AsyncWith) -> bool:
    return any(
        isinstance(item.context_expr, ast.Call) and dotted(item.context_expr.func).rpartition(".")[2] == "suppress"
        for item in node.items
    )
