"""Which global names code uses, as Python's own compiler sees it: far cheaper than walking the syntax tree."""

from __future__ import annotations

import ast
import symtable
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from veomni_opslint.facts import FileFacts

_FUTURE = "from __future__ import annotations"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class GlobalNames(NamedTuple):
    """Names of the module, or built in, that code reads when it runs, and those that it assigns, without imports."""

    used: frozenset[str]
    assigned: frozenset[str]


def global_names(facts: FileFacts) -> GlobalNames:
    """The global names of a module; generated files that share a definition share the work."""
    used: set[str] = set()
    assigned: set[str] = set()
    for code in _pieces(facts):
        names = global_names_of(code)
        used |= names.used
        assigned |= names.assigned
    return GlobalNames(frozenset(used), frozenset(assigned))


@lru_cache(maxsize=4096)
def global_names_of(code: str) -> GlobalNames:
    """The global names of some statements; none where they cannot be compiled."""
    used: set[str] = set()
    assigned: set[str] = set()
    for table in _tables(code):
        if isinstance(table, symtable.Function):
            names = table.get_globals()
            used.update(names)
            if "global " in code:
                assigned.update(name for name in names if table.lookup(name).is_assigned())
        else:
            module = table.get_type() == "module"
            for symbol in table.get_symbols():
                if symbol.is_referenced() and (module or symbol.is_global()):
                    used.add(symbol.get_name())
                if module and symbol.is_assigned() and not symbol.is_imported():
                    assigned.add(symbol.get_name())
    return GlobalNames(frozenset(used), frozenset(assigned))


def _tables(code: str) -> Iterator[symtable.SymbolTable]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pending = [symtable.symtable(code, "<code>", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    while pending:
        table = pending.pop()
        pending.extend(table.get_children())
        yield table


def _pieces(facts: FileFacts) -> Iterator[str]:
    """The code of each definition at module level, and that of all the rest."""
    future = f"{_FUTURE}\n" if _FUTURE in facts.text else ""
    lines = facts.lines
    rest: list[str] = []
    behind = 0
    for node in facts.tree.body if facts.tree is not None else ():
        if isinstance(node, _DEFINITIONS):
            start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
            rest += lines[behind:start]
            behind = node.end_lineno or node.lineno
            yield future + "\n".join(lines[start:behind])
    yield "\n".join([*rest, *lines[behind:]])
