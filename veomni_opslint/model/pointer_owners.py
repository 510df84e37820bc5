"""Which function pointer a name or an attribute stands for, whatever the pointer holds now."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Scope, statements_of
from veomni_opslint.findings import Place
from veomni_opslint.model.pointers import Pointer
from veomni_opslint.model.project_modules import imports_any
from veomni_opslint.model.symbols import Symbols, Target
from veomni_opslint.places import place_of

_MAX_DEPTH = 30
_NOT_READ = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Starred, ast.For, ast.While)
_PLAIN_CALLS = ("append", "extend", "getattr", "list", "tuple", "dict", "import_module")

Resolve = Callable[[str], tuple[Target, ...]]
"""What a dotted name stands for at some place."""


class PointerList(NamedTuple):
    """The function that lists the pointers: ``place`` is the list in it, ``pointers`` are module and name of each.

    ``names`` are the attributes that it mentions at all; ``complete``: nothing else can be in the list.
    """

    module: str
    function: str
    place: Place
    pointers: tuple[tuple[str, str], ...]
    names: frozenset[str]
    complete: bool


def find_pointer_list(symbols: Symbols, dialect: Dialect, ops_package: str) -> PointerList | None:
    """The list of pointers of the ops package; None in a tree without one."""
    for module, facts in symbols.modules.items():
        if f"def {dialect.pointer_list}(" not in facts.text or not _within(module, ops_package):
            continue
        for scope in facts.scopes:
            if scope.kind == "function" and scope.parent == 0 and scope.name == dialect.pointer_list:
                return _read_list(symbols, module, facts, scope)
    return None


def owner(symbols: Symbols, known: Mapping[tuple[str, str], object], module: str, name: str) -> tuple[str, str] | None:
    """The pointer, of those *known*, that ``module.name`` is: directly or through re-exports."""
    seen: set[tuple[str, str]] = set()
    pending = [(module, name)]
    while pending and len(seen) < _MAX_DEPTH:
        one = pending.pop()
        if one in known:
            return one
        if one in seen or one[0] not in symbols.modules:
            continue
        seen.add(one)
        facts = symbols.modules[one[0]]
        bindings = symbols.bindings(one[0]).get(one[1], ())
        pending += [
            (symbols.absolute(one[0], facts.imports[binding.import_index]), binding.imported)
            for binding in bindings
            if binding.kind == "import" and facts.imports[binding.import_index].how == "from"
        ]
        if not bindings:
            for star in symbols.star_sources(one[0]):
                exports = symbols.modules[star].exports if star in symbols.modules else None
                if exports is not None and any(text == one[1] for text, _ in exports):
                    pending.append((star, one[1]))
    return None


def read_by(
    symbols: Symbols, known: Mapping[tuple[str, str], object], node: ast.expr, resolve: Resolve
) -> tuple[str, str] | None:
    """The pointer that the expression ``module.name``, or ``getattr(module, "name")``, is."""
    name: object = None
    if isinstance(node, ast.Attribute):
        base, name = node.value, node.attr
    elif isinstance(node, ast.Call) and dotted(node.func) == "getattr" and len(node.args) > 1:
        literal = node.args[1]
        base, name = node.args[0], literal.value if isinstance(literal, ast.Constant) else None
    else:
        return None
    if not isinstance(name, str) or not any(name == one for _, one in known):
        return None
    for module in modules_of(base, resolve):
        found = owner(symbols, known, module, name)
        if found is not None:
            return found
    return None


def modules_of(node: ast.expr, resolve: Resolve) -> Iterator[str]:
    """The project's modules that an expression stands for: a name, ``import_module("…")``, ``sys.modules["…"]``."""
    written: ast.expr | None = None
    if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == "import_module" and node.args:
        written = node.args[0]
    elif isinstance(node, ast.Subscript) and dotted(node.value) == "sys.modules":
        written = node.slice
    if isinstance(written, ast.Constant) and isinstance(written.value, str):
        yield written.value
    name = dotted(node)
    if name:
        yield from (target.module for target in resolve(name) if target.kind == "module" and not target.rest)


def rebindable(pointers: Iterable[Pointer], listed: PointerList | None) -> dict[tuple[str, str], Pointer | None]:
    """Every pointer by module and name; None for one that is only listed, and that others are to assign."""
    found: dict[tuple[str, str], Pointer | None] = {(one.module, one.name): one for one in pointers}
    for one in listed.pointers if listed is not None else ():
        found.setdefault(one, None)
    return found


def mentions(symbols: Symbols, dialect: Dialect, known: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """The modules that can reach a pointer by what they import, with the names of pointers that their text has."""
    names = {name for _, name in known}
    homes = {module for module, _ in known}
    words = {"import_module", "importlib", *names, *(part for module in homes for part in module.split("."))}
    found: dict[str, tuple[str, ...]] = {}
    for module, facts in symbols.modules.items() if names else ():
        # A search for every name in every text would take longer than all else that the rules about pointers do.
        if module in homes or module.endswith(dialect.patch_config_suffix) or imports_any(facts, words):
            here = tuple(name for name in names if name in facts.text)
            if here and facts.problem is None:
                found[module] = here
    return found


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def _read_list(symbols: Symbols, module: str, facts: FileFacts, scope: Scope) -> PointerList:
    nodes = [node for statement in statements_of(facts, scope) for node in ast.walk(statement)]
    names: set[str] = set()
    pointers: list[tuple[str, str]] = []
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
            base = dotted(node.value)
            pointers += [
                (target.module, node.attr)
                for target in (symbols.resolve(module, scope.index, base) if base else ())
                if target.kind == "module" and _is_assigned(symbols, target.module, node.attr)
            ]
    lists = [node for node in nodes if isinstance(node, ast.List | ast.Tuple | ast.Dict)]
    complete = bool(lists) and not any(
        isinstance(node, _NOT_READ)
        or (isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] not in _PLAIN_CALLS)
        for node in nodes
    )
    span = span_of(lists[0]) if lists else scope.span
    return PointerList(
        module, scope.name, place_of(facts.path, facts.text, span), tuple(pointers), frozenset(names), complete
    )


def _is_assigned(symbols: Symbols, module: str, name: str) -> bool:
    return module in symbols.modules and any(one.kind == "assign" for one in symbols.bindings(module).get(name, ()))
