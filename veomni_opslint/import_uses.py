"""Where the names that a module-level import binds are used in its file: the ways in which it can be deferred."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from veomni_opslint.extract.embedded import bound_by
from veomni_opslint.facts import Span

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_HARMLESS = frozenset({"staticmethod", "classmethod", "property", "cache", "lru_cache", "cached_property", "wraps"})
_SPEAKS_OF_ALL = frozenset({"globals", "locals", "vars", "eval", "exec", "dir"})
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
Function = ast.FunctionDef | ast.AsyncFunctionDef


class ImportUses(NamedTuple):
    """A plain import at the top of a module. ``alias`` is set for one name of an ``import a, b``.

    ``functions`` are the outermost functions that use it, each with the names that it uses, ``lambdas`` the lambdas
    outside functions, ``outside`` are the names and attributes that are read when the module is loaded. ``quoted``: an
    annotation in quotes, outside these functions, names it.
    """

    statement: ast.Import | ast.ImportFrom
    alias: int | None
    names: tuple[str, ...]
    functions: tuple[tuple[Function, frozenset[str]], ...]
    lambdas: tuple[ast.Lambda, ...]
    outside: tuple[ast.expr, ...]
    quoted: bool

    @property
    def decorated(self) -> bool:
        """Whether a decorator may do something with the code of a function that uses it."""
        return any(_name(one) not in _HARMLESS for function, _ in self.functions for one in function.decorator_list)

    @property
    def compiled(self) -> bool:
        """Whether a function that uses it is no Python when it runs, as a Triton kernel."""
        return any("jit" in ast.unparse(one) for function, _ in self.functions for one in function.decorator_list)


def import_uses(tree: ast.Module, span: Span, bound: Iterable[str]) -> ImportUses | None:
    """The uses of the names that the import at *span* binds; None where it is not a plain one, or they are rebound."""
    names = frozenset(bound)
    statement = next((one for one in _outside_scopes(tree.body) if _holds(one, span)), None)
    if statement is None or not names:
        return None
    alias = None
    if isinstance(statement, ast.Import) and len(statement.names) > 1:
        alias = next((index for index, one in enumerate(statement.names) if _bound_by(one) in names), None)
    elif isinstance(statement, ast.ImportFrom) and any(one.name == "*" for one in statement.names):
        return None
    uses = _Uses(names, statement)
    uses.walk(tree.body, None, None)
    if uses.blocked:
        return None
    return ImportUses(
        statement,
        alias,
        tuple(sorted(names)),
        tuple((function, frozenset(used)) for function, used in uses.functions.items()),
        tuple(dict.fromkeys(uses.lambdas)),
        tuple(uses.outside),
        _is_quoted(tree, names, tuple(uses.functions)),
    )


def _outside_scopes(block: Iterable[ast.stmt]) -> Iterable[ast.Import | ast.ImportFrom]:
    """The imports that are in no function and no class."""
    for statement in block:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif not isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                yield from _outside_scopes(
                    one
                    for part in getattr(statement, name, ())
                    for one in ([part] if isinstance(part, ast.stmt) else part.body)
                )


class _Uses:
    """Walks a module and sorts the uses of some names."""

    def __init__(self, names: frozenset[str], statement: ast.stmt) -> None:
        self.names = names
        self.statement = statement
        self.functions: dict[Function, set[str]] = {}
        self.lambdas: list[ast.Lambda] = []
        self.outside: list[ast.expr] = []
        self.blocked = False

    def walk(self, nodes: Iterable[ast.AST], function: Function | None, inner: ast.Lambda | None) -> None:
        """Walk *nodes*, which are in *function* or, outside of functions, in the lambda *inner*."""
        for node in nodes:
            self._visit(node, function, inner)

    def _visit(self, node: ast.AST, function: Function | None, inner: ast.Lambda | None) -> None:
        if node is self.statement or (isinstance(node, _FUNCTIONS) and function is None and self._has_own(node)):
            return
        if any(name in self.names for name in _binds(node)) or _speaks_of(node, self.names):
            self.blocked = True
        if isinstance(node, _FUNCTIONS):
            around = (*node.decorator_list, node.args, *filter(None, (node.returns,)))
            self.walk(around, function, inner)
            self.walk(node.body, function or (node if inner is None else None), inner)
        elif isinstance(node, ast.Lambda):
            self.walk((*node.args.defaults, *filter(None, node.args.kw_defaults)), function, inner)
            self.walk((node.body,), function, inner if function or inner else node)
        elif root_of(node) in self.names and isinstance(node, ast.expr):
            if function is not None:
                self.functions.setdefault(function, set()).add(root_of(node))
            elif inner is not None:
                self.lambdas.append(inner)
            else:
                self.outside.append(node)
        else:
            self.walk(ast.iter_child_nodes(node), function, inner)

    def _has_own(self, function: Function) -> bool:
        """Whether all the names are local to a function, so that it is about other things."""
        own: set[str] = set()
        pending: list[ast.AST] = [function.args, *function.body]
        while pending:
            node = pending.pop()
            own.update(_binds(node))
            if isinstance(node, ast.Global | ast.Nonlocal) and self.names.intersection(node.names):
                return False
            if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
                pending.extend(ast.iter_child_nodes(node))
        around = (*function.decorator_list, *function.args.defaults, *filter(None, function.args.kw_defaults))
        outside = any(root_of(one) in self.names for part in around for one in ast.walk(part))
        return self.names <= own and not outside and function.name not in self.names


def _is_quoted(tree: ast.Module, names: frozenset[str], functions: tuple[Function, ...]) -> bool:
    for annotation in _annotations(tree):
        if any(one.body[0].lineno <= annotation.lineno <= (one.end_lineno or 0) for one in functions):
            continue
        quoted = (node.value for node in ast.walk(annotation) if isinstance(node, ast.Constant))
        if any(isinstance(one, str) and not names.isdisjoint(_WORD.findall(one)) for one in quoted):
            return True
    return False


def _annotations(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, _FUNCTIONS) and node.returns is not None:
            yield node.returns


def _holds(statement: ast.stmt, span: Span) -> bool:
    start = (statement.lineno, statement.col_offset)
    end = (statement.end_lineno or 0, statement.end_col_offset or 0)
    return start <= span[:2] and span[2:] <= end


def root_of(node: ast.AST) -> str:
    """The first name of ``a.b.c``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _binds(node: ast.AST) -> Iterable[str]:
    return node.names if isinstance(node, ast.Global | ast.Nonlocal) else bound_by(node)


def _bound_by(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _speaks_of(node: ast.AST, names: frozenset[str]) -> bool:
    """Whether names of the module may be read in another way than by writing them."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in _SPEAKS_OF_ALL
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets):
            return any(isinstance(one, ast.Constant) and one.value in names for one in ast.walk(node.value))
    return False


def _name(node: ast.expr) -> str:
    called = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(called).rpartition(".")[2]
