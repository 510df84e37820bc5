"""What code does while a module is loaded: the functions that its top level calls, and those that they call."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Scope, Span, statements_of
from veomni_opslint.model.loading import Loading
from veomni_opslint.model.symbols import Symbols, Target

_CALLED = re.compile(r"(?<![\w.@])([A-Za-z_]\w*(?:\.\w+)*)\(")
_MAX_DEPTH = 8


class RunCall(NamedTuple):
    """A call at ``span`` of ``module``: of ``name``, which is the function or class ``scope`` of ``callee``."""

    module: str
    span: Span
    name: str
    callee: str
    scope: int


Chain = tuple[RunCall, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ImportTime:
    """Follows calls from the top level of modules. Each function is entered once, by the first way that leads there."""

    symbols: Symbols
    loading: Loading
    seen: set[tuple[str, int]] = field(default_factory=set)

    def chains(self, module: str, wanted: Callable[[str, int], bool]) -> Iterator[Chain]:
        """The ways from the top level of *module* to a call of a function that is *wanted*, by module and scope.

        The call of that function is the last of each.
        """
        facts = self.symbols.modules[module]
        for ref in facts.refs:
            if ref.call and facts.scopes[ref.scope].kind in ("module", "class"):
                for target in self.symbols.resolve(module, ref.scope, ref.name):
                    if self._is_callable(target) and not self.loading.never(ref.when):
                        call = RunCall(module, ref.span, ref.name, target.module, target.scope)
                        yield from ((call, *rest) for rest in self._follow(target, wanted, 1))

    def _is_callable(self, target: Target) -> bool:
        facts = self.symbols.modules.get(target.module)
        return target.kind == "scope" and not target.rest and facts is not None and target.scope < len(facts.scopes)

    def _follow(self, target: Target, wanted: Callable[[str, int], bool], depth: int) -> Iterator[Chain]:
        """The ways on from a function that is called; none more from one that is wanted itself."""
        if wanted(target.module, target.scope):
            yield ()
            return
        if (target.module, target.scope) in self.seen or depth > _MAX_DEPTH:
            return
        self.seen.add((target.module, target.scope))
        facts = self.symbols.modules[target.module]
        scope = _body(facts, facts.scopes[target.scope])
        if scope is None:
            return
        where: dict[str, Span] = {}
        for name in dict.fromkeys(_CALLED.findall(_text(facts, scope))):
            for one in self.symbols.resolve(target.module, scope.index, name):
                for rest in self._follow(one, wanted, depth + 1) if self._is_callable(one) else ():
                    # The text may have the name in a comment or in a nested function only: that is looked up late.
                    where = where or dict(calls_in(facts, scope))
                    if name in where:
                        yield (RunCall(target.module, where[name], name, one.module, one.scope), *rest)


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


def _text(facts: FileFacts, scope: Scope) -> str:
    return "\n".join(facts.lines[scope.span[0] : scope.span[2]])


def _body(facts: FileFacts, scope: Scope) -> Scope | None:
    """The function that a call of the function or class runs."""
    if scope.kind == "function":
        return None if scope.is_generator or scope.is_async else scope
    return next((one for one in facts.scopes if one.parent == scope.index and one.name == "__init__"), None)
