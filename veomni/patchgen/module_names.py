"""The names that a module binds, and those that it uses and never binds: what a patch needs and nobody imports."""

from __future__ import annotations

import ast
import builtins
import symtable


def bound_names(source: str, filename: str) -> set[str]:
    """The global names that *source* assigns, imports or defines."""
    module = symtable.symtable(source, filename, "exec")
    names = {symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    return names | {table.get_name() for table in module.get_children()} | _assigned_inside(module)


def undefined_names(source: str, filename: str) -> list[str]:
    """The global names, sorted, that *source* reads although nothing in it binds them; none after ``import *``."""
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.parse(source).body):
        return []
    read = _read(symtable.symtable(source, filename, "exec"))
    return sorted(read - bound_names(source, filename) - set(dir(builtins)) - {"__name__", "__file__"})


def _assigned_inside(table: symtable.SymbolTable) -> set[str]:
    """What functions declare ``global`` and assign."""
    names = {
        symbol.get_name() for symbol in table.get_symbols() if symbol.is_declared_global() and symbol.is_assigned()
    }
    return names.union(*(_assigned_inside(child) for child in table.get_children()))


def _read(table: symtable.SymbolTable) -> set[str]:
    at_top = table.get_type() == "module"
    names = {
        symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced() and (at_top or symbol.is_global())
    }
    return names.union(*(_read(child) for child in table.get_children()))
