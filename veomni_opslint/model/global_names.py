"""Which global names code uses, as Python's own compiler sees it: far cheaper than walking the syntax tree."""

from __future__ import annotations

import _symtable  # type: ignore[import-not-found]  # `symtable` makes objects of all symbols, as slow as the compiler
import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple

from veomni_opslint.facts import FileFacts

_FUTURE = "from __future__ import annotations"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_NONE: frozenset[str] = frozenset()
_SCOPE, _MASK = _symtable.SCOPE_OFF, _symtable.SCOPE_MASK
_GLOBAL = (_symtable.GLOBAL_IMPLICIT, _symtable.GLOBAL_EXPLICIT)
_LOCAL = (_symtable.LOCAL, _symtable.CELL)
_PRIVATE = re.compile(r"__[^\W_]\w*+(?<!__)")
"""A name that means another one inside a class."""


class GlobalNames(NamedTuple):
    """Names of the module, or built in, that code reads when it runs, and those that it assigns, without imports."""

    used: frozenset[str]
    assigned: frozenset[str]


class _Names(NamedTuple):
    """The same for some statements: of their own scope, of nested ones, and what a class that comes last binds."""

    used: frozenset[str]
    assigned: frozenset[str]
    used_inside: frozenset[str]
    assigned_inside: frozenset[str]
    of_class: frozenset[str]


def global_names(facts: FileFacts) -> GlobalNames:
    """The global names of a module; generated files that share a function share the work."""
    used: set[str] = set()
    assigned: set[str] = set()
    with _in_silence():
        for code, owner in _pieces(facts):
            names = _names_of(code, owner)
            used |= names.used
            assigned |= names.assigned
    return GlobalNames(frozenset(used), frozenset(assigned))


def uses_global(facts: FileFacts, name: str) -> bool:
    """Whether a module uses a global name: only the code that mentions it is compiled."""
    mention = name[max(name.rfind("__"), 0) :]
    if mention not in facts.text:
        return False
    with _in_silence():
        return any(mention in code and name in _names_of(code, owner).used for code, owner in _pieces(facts))


def global_names_of(code: str) -> GlobalNames:
    """The global names of some statements; none where they cannot be compiled."""
    with _in_silence():
        return _names_of(code, "")


@contextmanager
def _in_silence() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@lru_cache(maxsize=4096)
def _names_of(code: str, owner: str) -> GlobalNames:
    """The names of a piece; *owner* is the code of the class, if it is a method."""
    names = _compiled(code)
    if not owner:
        return GlobalNames(names.used | names.used_inside, names.assigned | names.assigned_inside)
    # Decorators, defaults and annotations see what the class binds.
    used = names.used - _compiled(owner).of_class | names.used_inside - {"__class__"}
    return GlobalNames(used, names.assigned_inside)


@lru_cache(maxsize=4096)
def _compiled(code: str) -> _Names:
    try:
        module = _symtable.symtable(code, "<code>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _Names(_NONE, _NONE, _NONE, _NONE, _NONE)
    own = module.symbols.items()
    used = {name for name, flags in own if flags & _symtable.USE}
    used_inside: set[str] = set()
    assigned_inside: set[str] = set()
    pending = list(module.children)
    while pending:
        table = pending.pop()
        pending += table.children
        names = [name for name, flags in table.symbols.items() if flags >> _SCOPE & _MASK in _GLOBAL]
        if table.type == _symtable.TYPE_FUNCTION:
            used_inside.update(names)
            if "global " in code:
                assigned_inside.update(name for name in names if table.symbols[name] & _symtable.DEF_LOCAL)
        else:
            # Annotations and type parameters may have tables of their own.
            read = used_inside if table.type == _symtable.TYPE_CLASS else used
            read.update(name for name in names if table.symbols[name] & _symtable.USE)
    return _Names(
        frozenset(used),
        frozenset(name for name, flags in own if flags & _symtable.DEF_LOCAL and not flags & _symtable.DEF_IMPORT),
        frozenset(used_inside),
        frozenset(assigned_inside),
        _bound_by(module.children[-1]) if module.children else _NONE,
    )


def _bound_by(table: _symtable.symtable) -> frozenset[str]:
    if table.type != _symtable.TYPE_CLASS:
        return _NONE
    return frozenset(name for name, flags in table.symbols.items() if flags >> _SCOPE & _MASK in _LOCAL)


def _pieces(facts: FileFacts) -> Iterator[tuple[str, str]]:
    """The code of each function and class at module level, and that of all the rest.

    A method is a piece of its own, given with the code of its class, in which nothing is left of it but its name:
    models differ in the names of their classes more than in the methods.
    """
    future = f"{_FUTURE}\n" if _FUTURE in facts.text else ""
    private = _PRIVATE.search(facts.text) is not None
    lines = facts.lines
    rest: list[str] = []
    behind = 0
    for node in facts.tree.body if facts.tree is not None else ():
        if isinstance(node, _DEFINITIONS):
            start = _first_line(node) - 1
            rest += lines[behind:start]
            behind = node.end_lineno or node.lineno
            if isinstance(node, ast.ClassDef) and not private and not getattr(node, "type_params", ()):
                yield from _class_pieces(lines, start, behind, node, future)
            else:
                yield future + "\n".join(lines[start:behind]), ""
    yield "\n".join([*rest, *lines[behind:]]), ""


def _class_pieces(lines: list[str], start: int, end: int, node: ast.ClassDef, future: str) -> Iterator[tuple[str, str]]:
    methods = [one for one in node.body if isinstance(one, _FUNCTIONS)]
    outline: list[str] = []
    behind = start
    for method in methods:
        first = _first_line(method) - 1
        outline += [*lines[behind:first], f"{lines[first][: method.col_offset]}def {method.name}(): 0"]
        behind = method.end_lineno or method.lineno
    owner = future + "\n".join([*outline, *lines[behind:end]])
    yield owner, ""
    for method in methods:
        yield f"{future}if 1:\n" + "\n".join(lines[_first_line(method) - 1 : method.end_lineno]), owner


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return node.decorator_list[0].lineno if node.decorator_list else node.lineno
