"""What a kernel's factory, and the kernel that it makes, certainly import: packages of one kind of device."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from veomni_opslint.facts import FileFacts, Import
from veomni_opslint.findings import Place
from veomni_opslint.model.loading import Closure
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.registrations import Factory

Device: TypeAlias = Literal["gpu", "npu"]
_WORD = re.compile(r"[^\W\d]\w*")


class Need(NamedTuple):
    """An import of ``subject``, a package (or a module of the project that loads one) of one kind of device."""

    subject: str
    place: Place


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FactoryNeeds:
    """Follows factories through the functions of their module."""

    model: OpsModel
    _loaded_anyway: list[Closure] = field(default_factory=list)

    def of(self, factory: Factory, device: Device) -> Need | None:
        """An import for *device* that runs whenever the factory, or the kernel that it makes, runs."""
        if not factory.qualname or factory.place is None or factory.module not in self.model.symbols.modules:
            return None
        facts = self.model.module(factory.module)
        scope = scope_at(facts, factory)
        if scope < 0 or not any(self._needs(factory.module, facts, device, scopes_mentioned(facts, scope))):
            return None
        return self._follow(factory.module, scope, device)

    def _follow(self, module: str, scope: int, device: Device) -> Need | None:
        """The same with the conditions on the way."""
        facts = self.model.deep(module)
        seen: set[int] = set()
        pending = deque([scope])
        while pending:
            inside = _scopes_inside(facts, pending.popleft()) - seen
            seen |= inside
            for need in self._needs(module, facts, device, inside):
                return need
            for ref in facts.refs:
                if ref.scope in inside and self.model.loading.certain(ref.when):
                    pending.extend(
                        target.scope
                        for target in self.model.symbols.resolve_deep(facts, module, ref.scope, ref.name)
                        if target.kind == "scope" and target.module == module and target.scope not in seen
                    )
        return None

    def _needs(self, module: str, facts: FileFacts, device: Device, scopes: set[int]) -> Iterator[Need]:
        for imported in facts.imports:
            if imported.scope not in scopes or imported.handled or not self.model.loading.certain(imported.when):
                continue
            subject = self._npu_subject(module, imported) if device == "npu" else self._gpu_subject(module, imported)
            if subject:
                yield Need(subject, self.model.place(facts.path, imported.span))

    def _npu_subject(self, module: str, imported: Import) -> str:
        packages = self.model.npu_modules.packages_of(imported)
        loaded = (
            one for one in self.model.symbols.loaded_by(module, imported) if self.model.npu_modules.is_npu_only(one)
        )
        return packages[0] if packages else next(loaded, "")

    def _gpu_subject(self, module: str, imported: Import) -> str:
        root = imported.module.partition(".")[0] if not imported.level else ""
        if root in self.model.dialect.gpu_packages:
            return root
        return next((one for one in self.model.symbols.loaded_by(module, imported) if self._loads_gpu_package(one)), "")

    def _loads_gpu_package(self, module: str) -> bool:
        """Whether loading a module, which loading the ops package does not load, loads a package for GPUs."""
        if not self._loaded_anyway:
            self._loaded_anyway.append(self.model.loading.closure(self.model.ops_package))
        seen: set[str] = set()
        pending = deque([module])
        while pending:
            current = pending.popleft()
            if current in self._loaded_anyway[0] or current in seen:
                continue
            seen.add(current)
            for step in self.model.loading.steps(current):
                if step.tried:
                    continue
                if any(one in self.model.dialect.gpu_packages for one in self.model.loading.packages(step.imported)):
                    return True
                pending.extend(self.model.symbols.loaded_by(step.module, step.imported))
        return False


def scope_at(facts: FileFacts, factory: Factory) -> int:
    """The scope of a factory in the facts of its module; -1 when there is none."""
    line = factory.place.line if factory.place is not None else 0
    found = [one for one in facts.scopes if one.qualname == factory.qualname and one.span[0] <= line <= one.span[2]]
    return found[0].index if found else -1


def scopes_mentioned(facts: FileFacts, scope: int) -> set[int]:
    """The scopes in a function and in those of its module that it, or one of those, speaks of."""
    lines = facts.lines
    named = {one.name: one.index for one in facts.scopes if one.parent == 0 and one.kind in ("function", "class")}
    found: set[int] = set()
    pending = [scope]
    while pending:
        current = pending.pop()
        if current not in found:
            found |= _scopes_inside(facts, current)
            first, _, last, _ = facts.scopes[current].span
            words = set(_WORD.findall("\n".join(lines[first - 1 : last])))
            pending.extend(index for name, index in named.items() if name in words)
    return found


def _scopes_inside(facts: FileFacts, scope: int) -> set[int]:
    found = {scope}
    for one in facts.scopes[scope + 1 :]:
        if one.parent in found:
            found.add(one.index)
    return found
