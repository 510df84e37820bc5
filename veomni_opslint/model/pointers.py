"""Global function pointers: module-level names that an apply function, or the config of an op, rebinds to a kernel."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Scope
from veomni_opslint.findings import Place
from veomni_opslint.model.symbols import Symbols
from veomni_opslint.places import place_of
from veomni_opslint.registrations import OpSpec, Unknown

_GLOBAL = "global "


class NamedPlace(NamedTuple):
    """A function of the pointer's module, by its qualified name."""

    name: str
    place: Place


class Pointer(NamedTuple):
    """One pointer: ``place`` is its module-level binding, ``apply`` what rebinds it, ``public`` what calls it.

    ``op`` is the OpSpec that names it as its ``global_slot``, empty where there is none.
    """

    module: str
    name: str
    place: Place
    apply: tuple[NamedPlace, ...]
    public: tuple[NamedPlace, ...]
    op: str = ""


def find_pointers(symbols: Symbols, dialect: Dialect, package: str, op_specs: Iterable[OpSpec]) -> tuple[Pointer, ...]:
    """The pointers of the package under check, in order of module and line."""
    named: dict[tuple[str, str], str] = {}
    for spec in op_specs:
        if spec.global_slot is not None and not isinstance(spec.global_slot, Unknown):
            module, _, name = spec.global_slot.partition(":")
            named[module, name] = spec.name
    found: list[Pointer] = []
    for module, facts in symbols.modules.items():
        if module != package and not module.startswith(package + "."):
            continue
        names = dict.fromkeys(name for slot_module, name in named if slot_module == module)
        rebound = list(_rebound(facts, dialect))
        names |= dict.fromkeys(name for name, _ in rebound)
        for name in names:
            apply = tuple(_named_place(facts, scope) for other, scope in rebound if other == name)
            found += _pointer(symbols, module, facts, name, apply, named.get((module, name), ""))
    return tuple(sorted(found, key=lambda pointer: pointer.place))


def _rebound(facts: FileFacts, dialect: Dialect) -> Iterator[tuple[str, Scope]]:
    """Names that functions whose name says so declare global and assign."""
    for line, names in _global_statements(facts.text):
        holders = [one for one in facts.scopes if one.kind == "function" and one.span[0] <= line <= one.span[2]]
        if holders and holders[-1].name.startswith(dialect.pointer_setters):
            body = "\n".join(facts.lines[holders[-1].span[0] : holders[-1].span[2]])
            for name in names:
                if re.search(rf"^[ \t]+{name}\s*(?::[^=\n]+)?=[^=]|\bas\s+{name}\b", body, re.MULTILINE):
                    yield name, holders[-1]


def _global_statements(text: str) -> Iterator[tuple[int, list[str]]]:
    """Line and names of each ``global`` statement."""
    # A search for the plain word is many times faster than one regular expression over every file.
    position = text.find(_GLOBAL)
    while position >= 0:
        start = text.rfind("\n", 0, position) + 1
        end = text.find("\n", position)
        if not text[start:position].strip():
            names = text[position + len(_GLOBAL) : end if end >= 0 else len(text)]
            yield text.count("\n", 0, position) + 1, re.findall(r"\w+", names.partition("#")[0])
        position = text.find(_GLOBAL, position + 1)


def _pointer(
    symbols: Symbols, module: str, facts: FileFacts, name: str, apply: tuple[NamedPlace, ...], op: str
) -> Iterator[Pointer]:
    bindings = symbols.bindings(module).get(name, ())
    binding = next((one for one in bindings if one.kind in ("assign", "scope", "import")), None)
    public = tuple(_callers(facts, name))
    if binding is not None and (public or op):
        yield Pointer(module, name, place_of(facts.path, facts.text, binding.span), apply, public, op)


def local_names(function: ast.AST, pointer: str) -> frozenset[str]:
    """The names that a function gives the pointer and nothing else; its own name included."""
    stored: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored.setdefault(node.id, []).append(None)
        elif isinstance(node, ast.arg):
            stored.setdefault(node.arg, []).append(None)
        elif isinstance(node, ast.alias):
            stored.setdefault(node.asname or node.name.partition(".")[0], []).append(None)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs) and node.name:
            stored.setdefault(node.name, []).append(None)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            stored[node.targets[0].id][0] = node.value
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and isinstance(node.target, ast.Name):
            stored[node.target.id][0] = node.value
    return frozenset(
        {
            pointer,
            *(
                name
                for name, values in stored.items()
                if len(values) == 1 and isinstance(values[0], ast.Name) and values[0].id == pointer
            ),
        }
    )


def _callers(facts: FileFacts, name: str) -> Iterator[NamedPlace]:
    """Functions at module level, and names for a lambda there, that call the pointer."""
    mention = re.compile(rf"(?<![\w.]){re.escape(name)}\(|=\s*{re.escape(name)}\s*(?:#.*|\))?$", re.MULTILINE)
    lines = facts.lines
    for scope in facts.scopes:
        text = "\n".join(lines[scope.span[0] - 1 : scope.span[2]]) if scope.parent == 0 else ""
        if scope.kind == "function" and mention.search(text):
            node = _definition(facts, scope)
            body = ast.Module(facts.function_body(node), []) if node is not None else None
            if body is not None and _calls(body, local_names(body, name)):
                yield _named_place(facts, scope)
    for statement in facts.tree.body if "lambda" in facts.text and facts.tree is not None else ():
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
            target = dotted(statement.targets[0])
            if target and _calls(statement.value, frozenset({name})):
                yield NamedPlace(target, place_of(facts.path, facts.text, span_of(statement)))


def _calls(node: ast.AST, names: frozenset[str]) -> bool:
    return any(
        isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in names
        for inner in ast.walk(node)
    )


def _definition(facts: FileFacts, scope: Scope) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    for node in ast.walk(facts.tree) if facts.tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and span_of(node) == scope.span:
            return node
    return None


def _named_place(facts: FileFacts, scope: Scope) -> NamedPlace:
    return NamedPlace(scope.qualname, place_of(facts.path, facts.text, scope.span))
