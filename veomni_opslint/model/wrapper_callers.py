"""Who asks for a wrapper: the calls of ``get_op_wrapper``, with the op and the variant that each names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.model.symbols import Symbols
from veomni_opslint.parsing import parse
from veomni_opslint.places import place_of

_MAX_DEPTH = 4


class Request(NamedTuple):
    """One op, and the variant where one is given, that a call asks for; places are those of the arguments."""

    op: str
    op_place: Place
    variant: str | None
    variant_place: Place | None


class _Argument(NamedTuple):
    """A string, or a tuple of them, that an argument may be."""

    parts: tuple[str, ...]
    places: tuple[Place, ...]


def requests(
    symbols: Symbols, module: str, function: str, constant: Callable[[str, str], tuple[str, ...]]
) -> Iterator[Request]:
    """What calls of *function* of *module* ask for, in all modules; calls in ``pytest.raises`` blocks are left out.

    ``constant`` gives the string, or the strings of the tuple, that a module-level name holds; nothing for others.
    """
    parameters = _parameters(symbols.modules[module], function)
    for name in sorted(symbols.modules):
        facts = symbols.modules[name]
        if function not in facts.text or facts.problem is not None:
            continue
        called = _names(symbols, name, module, function)
        if not called:
            continue
        try:
            tree = parse(facts.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for call, holders in _calls(tree, called):
            yield from _Reader(name, facts, holders, constant).read(call, parameters)


def _parameters(facts: FileFacts, function: str) -> tuple[str, ...]:
    for scope in facts.scopes:
        if scope.name == function and scope.parent == 0:
            return tuple(one.name for one in scope.parameters if one.kind in ("positional", "normal"))
    return ()


def _names(symbols: Symbols, module: str, home: str, function: str) -> frozenset[str]:
    """The dotted names by which a module can call the function, in whatever scope it imports it."""
    facts = symbols.modules[module]
    found = {function} if module == home else set()
    for imported in facts.imports:
        source = symbols.absolute(module, imported)
        if imported.how == "import" and home.startswith(imported.module):
            bound = imported.bound if imported.bound != imported.module.partition(".")[0] else imported.module
            found.add(f"{bound}{home.removeprefix(imported.module)}.{function}")
            if _comes_from(symbols, imported.module, home, function):
                found.add(f"{bound}.{function}")
        for one in imported.names:
            if f"{source}.{one.name}" == home or _comes_from(symbols, f"{source}.{one.name}", home, function):
                found.add(f"{one.bound}.{function}")
            elif one.name == function and (source == home or _comes_from(symbols, source, home, function)):
                found.add(one.bound)
            elif one.name == "*" and source == home:
                found.add(function)
    return frozenset(found)


def _comes_from(symbols: Symbols, source: str, home: str, function: str) -> bool:
    return any(target.kind == "scope" and target.module == home for target in symbols.attribute(source, function))


def _calls(tree: ast.Module, called: frozenset[str]) -> Iterator[tuple[ast.Call, tuple[ast.AST, ...]]]:
    """Each call, with the functions around it, innermost first."""
    pending: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(tree, ())]
    while pending:
        node, holders = pending.pop()
        if isinstance(node, ast.With) and any(_expects_error(item.context_expr) for item in node.items):
            continue
        if isinstance(node, ast.Call) and dotted(node.func) in called:
            yield node, holders
        inner = (node, *holders) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else holders
        pending.extend((child, inner) for child in ast.iter_child_nodes(node))


def _expects_error(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in ("raises", "assertRaises", "suppress")


class _Reader(NamedTuple):
    """Reads the arguments of calls in one file."""

    module: str
    facts: FileFacts
    holders: tuple[ast.AST, ...]
    constant: Callable[[str, str], tuple[str, ...]]

    def read(self, call: ast.Call, parameters: tuple[str, ...]) -> Iterator[Request]:
        """What one call asks for."""
        given = dict(zip(parameters, call.args, strict=False))
        given.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None})
        if not parameters or parameters[0] not in given or any(isinstance(one, ast.Starred) for one in call.args):
            return
        variant_name = next((name for name in given if "variant" in name), "")
        variants = [_Argument((), ())]
        if variant_name:
            variants = list(self._values(given[variant_name], 0)) or variants
        for op in self._values(given[parameters[0]], 0):
            for variant in variants:
                text = variant.parts[0] if variant.parts else op.parts[1] if len(op.parts) == 2 else None
                place = variant.places[0] if variant.places else op.places[1] if len(op.parts) == 2 else None
                yield Request(op.parts[0], op.places[0], text, place)

    def _values(self, node: ast.expr, depth: int) -> Iterator[_Argument]:
        """What an expression may be; nothing where that is not known."""
        place = place_of(self.facts.path, self.facts.text, span_of(node))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield _Argument((node.value,), (place,))
        elif isinstance(node, ast.Tuple) and len(node.elts) == 2:
            for left in self._values(node.elts[0], depth):
                for right in self._values(node.elts[1], depth):
                    yield _Argument((left.parts[0], right.parts[0]), (left.places[0], right.places[0]))
        elif isinstance(node, ast.IfExp):
            yield from self._values(node.body, depth)
            yield from self._values(node.orelse, depth)
        elif isinstance(node, ast.Name) and depth < _MAX_DEPTH:
            # A name is reported where it is passed: its value may be right for its other uses.
            for value in self._named(node, depth):
                yield _Argument(value, (place,) * len(value))

    def _named(self, node: ast.Name, depth: int) -> Iterator[tuple[str, ...]]:
        for holder in self.holders:
            if _is_parameter(holder, node.id):
                return
            written = list(_written(holder, node.id))
            if written:
                for value in written:
                    yield from (one.parts for one in self._values(value, depth + 1)) if value is not None else ()
                return
        parts = self.constant(self.module, node.id)
        if parts:
            yield parts


def _is_parameter(holder: ast.AST, name: str) -> bool:
    arguments = holder.args if isinstance(holder, ast.FunctionDef | ast.AsyncFunctionDef) else None
    return arguments is not None and any(one.arg == name for one in ast.walk(arguments) if isinstance(one, ast.arg))


def _written(holder: ast.AST, name: str) -> Iterator[ast.expr | None]:
    """The expressions that a function binds a local name to; None for one that is not known."""
    for node in ast.walk(holder):
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets):
            yield node.value
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and isinstance(node.target, ast.Name):
            if node.target.id == name:
                yield node.value
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id == name:
            yield from node.iter.elts if isinstance(node.iter, ast.Tuple | ast.List) else [None]
