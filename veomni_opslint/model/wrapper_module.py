"""Where the wrappers of async Ulysses are: a tree without them needs nothing of what reads them."""

from __future__ import annotations

from veomni_opslint.dialect import Dialect
from veomni_opslint.model.symbols import Symbols

OTHER = "no such name"
"""What stands for any name that a builder does not know, when it is tried."""


def wrapper_module(symbols: Symbols, dialect: Dialect, package: str) -> str | None:
    """The module of the package that declares the wrappers; None where it has none."""
    inside = [name for name in symbols.modules if name == package or name.startswith(package + ".")]
    named = [name for name in inside if name.rpartition(".")[2] == dialect.wrapper_module]
    if not named:
        definition = f"def {dialect.get_wrapper}("
        named = [name for name in inside if definition in symbols.modules[name].text]
    return min(named) if named else None
