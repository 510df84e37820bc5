"""Names that a module uses and never defines: what a patch needs and the generated file does not import."""

from __future__ import annotations

import builtins
import symtable


def undefined_names(source: str, filename: str) -> list[str]:
    """The global names, sorted, that *source* reads although nothing in it binds them."""
    module = symtable.symtable(source, filename, "exec")
    defined = {symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    defined |= {table.get_name() for table in module.get_children()} | set(dir(builtins)) | {"__name__", "__file__"}
    return sorted(_read(module) - defined)


def _read(table: symtable.SymbolTable) -> set[str]:
    at_top = table.get_type() == "module"
    names = {
        symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced() and (at_top or symbol.is_global())
    }
    return names.union(*(_read(child) for child in table.get_children()))
