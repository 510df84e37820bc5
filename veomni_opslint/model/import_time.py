"""What code does while a module is loaded: the functions that its top level calls, and those that they call."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Scope, Span, statements_of, text_of
from veomni_opslint.model.loading import Loading
from veomni_opslint.model.symbols import Symbols, Target

_CALLED = re.compile(r"(?<![\w.@])([A-Za-z_]\w*(?:\.\w+)*)\(")
_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class RunCall:
    """A call at ``span`` of ``module``: of ``name``, which is the function or class ``scope`` of ``callee``."""

    module: str
    span: Span
    name: str
    callee: str
    scope: int


Chain = tuple[RunCall, ...]


@dataclass(frozen=True, slots=True)
class ImportTime:
    """Follows calls from the top level of modules. Each function is entered once, by the first way that leads there."""

    symbols: Symbols
    loading: Loading
    seen: set[tuple[str, int]] = field(default_factory=set)

    def chains(self, module: str, wanted: Callable[[RunCall], bool]) -> Iterator[Chain]:
        """The ways from the top level of *module* to a call that is *wanted*; that call is the last of each."""
        facts = self.symbols.modules[module]
        for ref in facts.refs:
            if ref.call and facts.scopes[ref.scope].kind in ("module", "class") and not self.loading.never(ref.when):
                for target in self.symbols.resolve(module, ref.scope, ref.name):
                    yield from self._follow((), module, ref.span, ref.name, target, wanted)

    def _follow(
        self, before: Chain, module: str, span: Span, name: str, target: Target, wanted: Callable[[RunCall], bool]
    ) -> Iterator[Chain]:
        facts = self.symbols.modules.get(target.module)
        if target.kind != "scope" or target.rest or facts is None or target.scope >= len(facts.scopes):
            return
        chain = (*before, RunCall(module, span, name, target.module, target.scope))
        if wanted(chain[-1]):
            yield chain
            return
        if (target.module, target.scope) in self.seen or len(chain) > _MAX_DEPTH:
            return
        self.seen.add((target.module, target.scope))
        scope = _body(facts, facts.scopes[target.scope])
        if scope is None:
            return
        text = text_of(facts, scope.span)
        reached: list[tuple[str, Target]] = []
        for called in dict.fromkeys(_CALLED.findall(text)):
            reached += [(called, one) for one in self.symbols.resolve(target.module, scope.index, called)]
        projects = [
            (called, one) for called, one in reached if one.kind == "scope" and one.module in self.symbols.modules
        ]
        if projects:
            where = dict(calls_in(facts, scope))
            for called, one in projects:
                if called in where:
                    yield from self._follow(chain, target.module, where[called], called, one, wanted)


def calls_in(facts: FileFacts, scope: Scope) -> Iterator[tuple[str, Span]]:
    """What a function calls by name when it runs, and where; of several calls of a name the first."""
    found: dict[str, Span] = {}
    for node in running_code(facts, scope):
        if isinstance(node, ast.Call) and dotted(node.func):
            span = span_of(node)
            found[dotted(node.func)] = min(found.get(dotted(node.func), span), span)
    yield from found.items()


def running_code(facts: FileFacts, scope: Scope) -> Iterator[ast.AST]:
    """The code of a function that runs when it is called: not that of functions defined in it."""
    pending: list[ast.AST] = list(statements_of(facts, scope))
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pending.extend(node.decorator_list)
        elif not isinstance(node, ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))


def _body(facts: FileFacts, scope: Scope) -> Scope | None:
    """The function that a call of the function or class runs."""
    if scope.kind == "function":
        return None if scope.is_generator or scope.is_async else scope
    return next((one for one in facts.scopes if one.parent == scope.index and one.name == "__init__"), None)
