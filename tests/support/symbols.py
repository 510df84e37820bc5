"""Symbols of modules that tests write down."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from support.facts import facts_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.model.symbols import Symbols, Target


def symbols_of(files: Mapping[str, str], source_root: str = "") -> Symbols:
    """The symbols of a project with these files."""
    return Symbols.of({path: facts_of(text, path=path) for path, text in files.items()}, source_root)


def shown(symbols: Symbols, targets: tuple[Target, ...]) -> list[str]:
    """Targets in a form that is short to write: ``scope m:C.f``, ``value m:x + rest``, ``external a.b``."""
    found = []
    for one in targets:
        if one.kind == "external":
            found.append(f"external {one.name}")
            continue
        name = symbols.modules[one.module].scopes[one.scope].qualname if one.kind == "scope" else one.name
        text = f"{one.kind} {one.module}" + (f":{name}" if name else "")
        found.append(f"{text} + {one.rest}" if one.rest else text)
    return found


def deep_facts(symbols: Symbols) -> Callable[[str], FileFacts]:
    """What gives the deep facts of a module."""
    return lambda module: facts_of(symbols.modules[module].text, deep=True, path=symbols.modules[module].path)
