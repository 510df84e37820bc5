"""Where the project uses its functions and classes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from veomni_opslint.conditions import Condition
from veomni_opslint.facts import FileFacts, Span
from veomni_opslint.model.symbols import Symbols


class Use(NamedTuple):
    """A use of a function: where, under what condition, whether it is called, and whether an ImportError is caught."""

    module: str
    scope: int
    span: Span
    when: Condition
    call: bool
    caught: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Uses:
    """Finds them, for each function or class once."""

    symbols: Symbols
    deep: Callable[[str], FileFacts]
    is_npu_name: Callable[[str], bool]
    _known: dict[tuple[str, int, bool], tuple[Use, ...]] = field(default_factory=dict, repr=False)

    def of(self, module: str, scope: int, shared_only: bool = False) -> tuple[Use, ...]:
        """All uses that are known, in any module, or in those only that are not for the NPU."""
        key = (module, scope, shared_only)
        if key not in self._known:
            self._known[key] = tuple(self._find(module, scope, shared_only))
        return self._known[key]

    def _find(self, module: str, scope: int, shared_only: bool) -> Iterator[Use]:
        facts = self.symbols.modules[module]
        here = (facts if scope < len(facts.scopes) else self.deep(module)).scopes[scope]
        parent = (facts if scope < len(facts.scopes) else self.deep(module)).scopes[here.parent]
        word = re.compile(rf"\b{re.escape(here.name)}\b")
        for other, candidate in self.symbols.modules.items():
            if shared_only and self.is_npu_name(other):
                continue
            if here.name not in candidate.text or len(word.findall(candidate.text)) <= (other == module):
                continue
            if parent.kind == "class" and other != module and parent.name not in candidate.text:
                continue
            names = _names_in(candidate, here.name)
            for ref in self.deep(other).refs:
                name = _up_to(ref.name, names, here.kind == "class")
                if not name or (other == module and ref.scope == scope):
                    continue
                for target in self.symbols.resolve_deep(self.deep(other), other, ref.scope, name):
                    if target.kind == "scope" and not target.rest and (target.module, target.scope) == (module, scope):
                        yield Use(other, ref.scope, ref.span, ref.when, ref.call, ref.import_handled)
                        break


def _up_to(name: str, wanted: set[str], anywhere: bool) -> str:
    """A dotted name, up to the wanted part of it: its last one, or, for a class, any."""
    if name.rpartition(".")[2] in wanted:
        return name
    if anywhere:
        parts = name.split(".")
        for index, part in enumerate(parts):
            if part in wanted:
                return ".".join(parts[: index + 1])
    return ""


def _names_in(facts: FileFacts, name: str) -> set[str]:
    """The names under which a file may use a function: its own, and those it is imported as."""
    names = {name}
    if f"{name} as " in facts.text:
        names |= {one.bound for imported in facts.imports for one in imported.names if one.name == name and one.bound}
    return names
