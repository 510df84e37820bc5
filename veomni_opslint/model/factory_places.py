"""Where the value of ``factory=`` is written when a loop over a table or a helper function hands it on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.findings import Place
from veomni_opslint.model.factories import Definition, definition, parsed
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.places import place_of
from veomni_opslint.registrations import Factory, KernelSpec

_MAX_STEPS = 6
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Origin(NamedTuple):
    """An expression and the file that it is in."""

    facts: FileFacts
    node: ast.expr


def given_at(model: OpsModel, spec: KernelSpec, factory: Factory) -> Place:
    """The element of the table or the argument of the call that *factory* comes from; else ``factory=`` itself."""
    files = {facts.path: (module, facts) for module, facts in model.symbols.modules.items()}
    known = files.get(factory.written.path)
    tree = parsed(known[1].text) if known is not None and factory.text.isidentifier() else None
    if known is None or tree is None:
        return factory.written
    origin = next((_Origin(known[1], node) for node in _at(tree, known[1], factory.written)), None)
    if origin is None:
        return factory.written
    for _ in range(_MAX_STEPS):
        following = _before(model, files, spec, factory, origin)
        if following is None:
            break
        origin = following
    return place_of(origin.facts.path, origin.facts.text, span_of(origin.node))


def _at(tree: ast.Module, facts: FileFacts, place: Place) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Name)
            and node.lineno == place.line
            and place_of(facts.path, facts.text, span_of(node)) == place
        ):
            yield node


def _before(
    model: OpsModel,
    files: dict[str, tuple[str, FileFacts]],
    spec: KernelSpec,
    factory: Factory,
    origin: _Origin,
) -> _Origin | None:
    """Where the name that *origin* is gets its value, if it is a loop variable or a parameter."""
    tree = parsed(origin.facts.text)
    if not isinstance(origin.node, ast.Name) or tree is None:
        return None
    name, line = origin.node.id, origin.node.lineno
    around = [node for node in ast.walk(tree) if _spans(node, line)]
    for node in reversed(around):
        if isinstance(node, ast.For):
            elements = list(_elements(tree, node, name))
            chosen = _chosen(model, files[origin.facts.path][0], origin.facts, spec, factory, elements)
            if chosen is not None:
                return _Origin(origin.facts, chosen)
        elif isinstance(node, _Function) and name in _plain_parameters(node):
            caller = files.get(spec.caller.path)
            return _argument(caller[1], spec.caller, node, name) if caller is not None else None
    return None


def _spans(node: ast.AST, line: int) -> bool:
    return isinstance(node, ast.For | _Function) and node.lineno <= line <= (node.end_lineno or node.lineno)


def _elements(tree: ast.Module, loop: ast.For, name: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    """For each element of the table that *loop* goes over, the element and what *name* is in it."""
    table: ast.expr = loop.iter
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Attribute) and table.func.attr == "items":
        table = table.func.value
    if isinstance(table, ast.Name):
        table = next((one for one in _values(tree, table.id)), table)
    targets = loop.target.elts if isinstance(loop.target, ast.Tuple | ast.List) else [loop.target]
    index = next((at for at, one in enumerate(targets) if isinstance(one, ast.Name) and one.id == name), -1)
    if isinstance(table, ast.Dict) and index >= 0:
        for key, value in zip(table.keys, table.values, strict=True):
            if key is not None:
                yield ast.Tuple([key, value]), (key, value)[min(index, 1)]
    for element in table.elts if isinstance(table, ast.Tuple | ast.List | ast.Set) and index >= 0 else ():
        if isinstance(element, ast.Tuple | ast.List) and isinstance(loop.target, ast.Tuple | ast.List):
            if index < len(element.elts):
                yield element, element.elts[index]
        elif len(targets) == 1:
            yield element, element


def _values(tree: ast.Module, name: str) -> Iterator[ast.expr]:
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        if any(isinstance(one, ast.Name) and one.id == name for one in targets):
            value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
            if value is not None:
                yield value


def _chosen(
    model: OpsModel,
    module: str,
    facts: FileFacts,
    spec: KernelSpec,
    factory: Factory,
    elements: list[tuple[ast.expr, ast.expr]],
) -> ast.expr | None:
    """The element that this spec was made from: by what it stands for, and by the words that are in its row."""
    found = definition(model, factory) if factory.kind != "partial" else None
    alike = [
        (row, value)
        for row, value in elements
        if place_of(facts.path, facts.text, span_of(value)) == factory.place
        or (found is not None and dotted(value) and _stands_for(model, module, dotted(value), found))
    ]
    candidates = alike or elements
    if len(candidates) == 1:
        return candidates[0][1]
    words = {spec.variant, spec.name, spec.op_name}
    fitting = [
        value
        for row, value in candidates
        if any(isinstance(one, ast.Constant) and one.value in words for one in ast.walk(row))
    ]
    return fitting[0] if len(fitting) == 1 else None


def _stands_for(model: OpsModel, module: str, name: str, found: Definition) -> bool:
    return any(
        (target.module, target.scope) == (found.module, found.scope.index)
        for target in model.symbols.resolve(module, 0, name)
    )


def _plain_parameters(node: _Function) -> list[str]:
    return [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def _argument(facts: FileFacts, caller: Place, function: _Function, name: str) -> _Origin | None:
    tree = parsed(facts.text)
    calls = [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.Call)
        and caller.line <= node.lineno <= max(caller.end_line, caller.line)
        and dotted(node.func).rpartition(".")[2] == function.name
    ]
    if len(calls) != 1:
        return None
    call = calls[0]
    for keyword in call.keywords:
        if keyword.arg == name:
            return _Origin(facts, keyword.value)
    positional = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    index = positional.index(name) if name in positional else len(call.args)
    if index < len(call.args) and not any(isinstance(one, ast.Starred) for one in call.args):
        return _Origin(facts, call.args[index])
    return None
