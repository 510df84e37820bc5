"""When a decorator or a context manager of the project lets run what it is put around."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from veomni_opslint.conditions import FALSE, Condition, both, either
from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.operands import Operand, dotted
from veomni_opslint.facts import FileFacts, Scope, statements_of
from veomni_opslint.model.arguments import defaults_of
from veomni_opslint.model.sites import Path, sites_in, tree_of
from veomni_opslint.model.symbols import Symbols, Target
from veomni_opslint.parameters import Parameter

_ENTERING = ("__init__", "__enter__", "__aenter__")
_NOTES = frozenset(
    {
        "wraps", "update_wrapper", "print", "log", "debug", "info", "warning", "warn", "error", "exception",
        "callable", "isinstance", "hasattr", "getattr", "signature", "iscoroutinefunction",
    }
)  # fmt: skip
"""Functions that a decorator gives the function to without running it."""
_OPERANDS = (("name",), ("param",), ("opaque",))
_Part = tuple[int, Condition | None]
_Wanted = Callable[[ast.expr, Path], bool]


class Gate(NamedTuple):
    """A condition, said in a scope of a module; None where it is not understood.

    ``given`` are the parameters in it, as the place says them that uses the decorator or the context manager.
    """

    module: str
    scope: int
    when: Condition | None
    given: Mapping[str, Operand]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Gates:
    """Reads decorators and context managers of the project."""

    symbols: Symbols
    dialect: Dialect
    deep: Callable[[str], FileFacts]
    _known: dict[tuple[str, int, bool], tuple[_Part, ...]] = field(default_factory=dict, repr=False)

    def of(self, module: str, scope: int, atom: Condition) -> tuple[tuple[Gate, ...], ...]:
        """For all that the atom (``gate``, ``completes … with``) may name, the gates that have to be open.

        Empty where one of these is not the project's.
        """
        found = []
        for target in self.resolve(module, scope, str(atom[1])):
            if target.kind != "scope" or target.rest:
                return ()
            found.append(tuple(self._gates(target, atom)))
        return tuple(found)

    def resolve(self, module: str, scope: int, name: str) -> tuple[Target, ...]:
        """What a name stands for; of ``self.name`` only deep facts know it."""
        facts = self.deep(module) if name.startswith(("self.", "cls.")) else self.symbols.modules[module]
        return self.symbols.resolve_deep(facts, module, scope, name)

    def text(self, gate: Gate) -> str:
        """The text of the definition that a gate is in."""
        here = self._scope(gate.module, gate.scope)
        return "\n".join(self.symbols.modules[gate.module].lines[here.span[0] - 1 : here.span[2]])

    def _gates(self, target: Target, atom: Condition) -> Iterator[Gate]:
        facts, here = self.symbols.modules[target.module], self._scope(target.module, target.scope)
        manages = atom[0] == "completes"
        called = manages or len(atom) > 2
        arguments = atom[-1] if called and isinstance(atom[-1], tuple) else ()
        if manages or (called and _is_manager(here)):
            parts: list[_Part] = [(one.index, one.completes) for one in self._entered(target.module, here)]
        else:
            parts = list(self._run(target, facts, here, called))
        given = _given(facts, here, arguments)
        for index, when in parts:
            yield Gate(target.module, index, when, given)

    def _entered(self, module: str, here: Scope) -> Iterator[Scope]:
        """The functions that run before the body of ``with`` does, as far as they are walked."""
        if _is_manager(here):
            yield self._scope(module, here.index, walked=True)
        elif here.kind == "class":
            for one in self.symbols.modules[module].scopes:
                if one.parent == here.index and one.name in _ENTERING:
                    yield self._scope(module, one.index, walked=True)

    def _scope(self, module: str, index: int, walked: bool = False) -> Scope:
        scopes = self.symbols.modules[module].scopes
        if index < len(scopes) and not (walked and scopes[index].deferred):
            return scopes[index]
        return self.deep(module).scopes[index]

    def _run(self, target: Target, facts: FileFacts, here: Scope, called: bool) -> tuple[_Part, ...]:
        """Scopes, and when what is decorated runs by them."""
        key = (target.module, target.scope, called)
        if key not in self._known:
            if here.kind == "function":
                self._known[key] = tuple(self._run_by_function(facts, here, called))
            else:
                self._known[key] = tuple(self._run_by_class(target.module, facts, here, called))
        return self._known[key]

    def _run_by_function(self, facts: FileFacts, here: Scope, called: bool) -> Iterator[_Part]:
        root = tree_of(facts, here)
        if root is None or isinstance(root.body[0], ast.AsyncFunctionDef):
            yield here.index, None
            return
        inner = list(_returned(root.body[0])) if called else [root.body[0]]
        named = [(one, _first_parameter(one)) for one in inner if one is not None]
        if not named or len(named) < len(inner) or not all(name for _, name in named):
            yield here.index, None
            return
        when = FALSE
        for around, name in named:
            when = either(when, self._run_where(root, _wanted(around, name)))
        yield here.index, when

    def _run_by_class(self, module: str, facts: FileFacts, here: Scope, called: bool) -> Iterator[_Part]:
        methods = {one.name: one for one in facts.scopes if one.parent == here.index and one.kind == "function"}
        call, init = methods.get("__call__"), methods.get("__init__")
        root = tree_of(facts, call) if call is not None else None
        if call is None or init is None or root is None:
            yield here.index, None
            return
        names: Collection[str]
        if called:
            yield init.index, self._scope(module, init.index, walked=True).completes
            names = (_first_parameter(root.body[0], 1),)
        else:
            names = {kept for kept, name in _kept(facts, init) if name == _behind_self(init)[0].name}
        yield call.index, self._run_where(root, lambda node, _: dotted(node) in names) if any(names) else None

    def _run_where(self, root: ast.Module, is_wanted: _Wanted) -> Condition:
        """When the decorated function, as *is_wanted* knows it, is called or given on."""
        when = FALSE
        for site in sites_in(
            root, self.dialect, lambda node, path: is_wanted(node, path) and _is_run(node, path[-1], path), True
        ):
            taker = _taker(site.node, site.path[-1])
            when = either(when, both(site.when, ("gate", taker)) if taker else site.when)
        return when


def _is_manager(here: Scope) -> bool:
    return here.kind == "function" and any("contextmanager" in one for one in here.decorators)


def _wanted(around: ast.AST, name: str) -> _Wanted:
    return lambda node, path: isinstance(node, ast.Name) and node.id == name and around in path


def _is_run(node: ast.expr, parent: ast.AST, path: Path) -> bool:
    """Whether a function that is named somewhere is not only spoken of, as in ``wraps(fn)`` and ``fn.__name__``."""
    if isinstance(getattr(node, "ctx", None), ast.Store) or isinstance(
        parent, ast.FormattedValue | ast.Compare | ast.UnaryOp
    ):
        return False
    if isinstance(parent, ast.Attribute):
        return not parent.attr.startswith("__") or parent.attr == "__call__"
    if isinstance(parent, ast.Assign):
        return not all(isinstance(one, ast.Attribute) and one.attr.startswith("__") for one in parent.targets)
    if isinstance(parent, ast.Call) and parent.func is not node:
        return dotted(parent.func).rpartition(".")[2] not in _NOTES and not any(isinstance(o, ast.Raise) for o in path)
    return True


def _taker(node: ast.expr, parent: ast.AST) -> str:
    """The function that gets the decorated one as its first argument, to run it or not."""
    if not isinstance(parent, ast.Call) or parent.func is node:
        return ""
    name = dotted(parent.func)
    if name.rpartition(".")[2] == "partial" and len(parent.args) > 1 and parent.args[1] is node:
        return dotted(parent.args[0])
    return name if parent.args and parent.args[0] is node else ""


def _returned(node: ast.AST) -> Iterator[ast.AST | None]:
    """The functions that a function defines and returns; None for anything else, and for one that names it again."""
    defined: dict[str, list[ast.AST]] = {}
    values: list[ast.expr] = []
    pending = list(ast.iter_child_nodes(node))
    while pending:
        inner = pending.pop()
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.setdefault(inner.name, []).append(inner)
            continue
        if isinstance(inner, ast.Return) and inner.value is not None:
            values.append(inner.value)
        pending += ast.iter_child_nodes(inner)
    own = getattr(node, "name", "")
    for value in values:
        found = defined.get(dotted(value), [value])
        for one in found:
            again = any(isinstance(name, ast.Name) and name.id == own for name in ast.walk(one))
            yield None if again else one


def _first_parameter(node: ast.AST | None, skip: int = 0) -> str:
    if not isinstance(node, ast.FunctionDef | ast.Lambda):
        return ""
    plain = [*node.args.posonlyargs, *node.args.args][skip:]
    return plain[0].arg if plain else ""


def _behind_self(method: Scope) -> tuple[Parameter, ...]:
    return method.parameters[1:]


def _given(facts: FileFacts, here: Scope, arguments: tuple[Any, ...]) -> dict[str, Operand]:
    """The parameters of a function, or the attributes that a class keeps them in, by the arguments of a call."""
    if here.kind == "function":
        bound_first = facts.scopes[here.parent].kind == "class" and "staticmethod" not in here.decorators
        return _bound(here, here.parameters[bound_first:], arguments)
    inits = [one for one in facts.scopes if one.parent == here.index and one.name == "__init__"]
    if not inits:
        return {}
    bound = _bound(inits[0], _behind_self(inits[0]), arguments)
    return bound | {kept: bound[name] for kept, name in _kept(facts, inits[0]) if name in bound}


def _bound(function: Scope, parameters: tuple[Parameter, ...], arguments: tuple[Any, ...]) -> dict[str, Operand]:
    given = defaults_of(function, lambda _: None)
    plain = iter([one.name for one in parameters if one.kind in ("positional", "normal")])
    for argument in arguments:
        if isinstance(argument, tuple) and argument[:1] == ("=",):
            name, value = argument[1], argument[2]
        else:
            name, value = next(plain, ""), argument
        if name:
            given[name] = _operand(value)
    return given


def _operand(argument: object) -> Operand:
    """An argument of a call in a condition: a constant, or an operand. Names of the project have no value there."""
    if not isinstance(argument, tuple) or argument[:1] not in _OPERANDS:
        return ("const", argument)
    return ("name", argument[3]) if argument[0] == "opaque" and argument[3:] and argument[3] else argument


def _kept(facts: FileFacts, init: Scope) -> Iterator[tuple[str, str]]:
    """The attributes that a constructor gives a parameter to as it is, and the parameters."""
    for statement in statements_of(facts, init):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
            yield from (
                (dotted(one), statement.value.id) for one in statement.targets if isinstance(one, ast.Attribute)
            )
