"""What a module has under the name of an optional package, or of something in one, where it is not installed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from veomni_opslint.facts import FileFacts
from veomni_opslint.model.symbols import Symbols

StandIn = Literal["", "None", "other"]


def stand_in(symbols: Symbols, module: str, scope: int, name: str) -> StandIn:
    """Whether a name is given None, or anything else, beside the import that binds it."""
    found: set[StandIn] = set()
    for target in symbols.resolve(module, scope, name):
        if target.kind == "scope":
            found.add("other")
        elif target.kind == "value":
            found.update(_assigned(symbols.modules[target.module], target.name))
    return "other" if "other" in found else "None" if found else ""


def _assigned(facts: FileFacts, name: str) -> Iterator[StandIn]:
    for node in ast.walk(facts.tree) if facts.tree is not None else ():
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Name) and one.id == name for one in targets):
                yield "None" if isinstance(node.value, ast.Constant) and node.value.value is None else "other"
