"""Which NPU imports and uses can run where there is no NPU, and the chain that leads to each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import FileFacts, Span
from veomni_opslint.model.callers import Callers, Hop
from veomni_opslint.model.guards import Guards
from veomni_opslint.model.npu_modules import NpuModules
from veomni_opslint.model.stand_ins import stand_in
from veomni_opslint.model.symbols import Symbols
from veomni_opslint.model.uses import Use, Uses

_REPLACES_MODULES = re.compile(r"sys\.modules(?:\[[^\]\n]*\]\s*=[^=]|[\"']?\s*,|\.(?:setdefault|update)\()")


class Unguarded(NamedTuple):
    """An NPU import, use or backend entry that can run without an NPU.

    ``subject`` is the package, module or function of the NPU side; ``chain`` leads from an entry point to it.
    """

    kind: Literal["import", "use", "backend"]
    module: str
    span: Span
    subject: str
    chain: tuple[Hop, ...]
    at_module_level: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reach:
    """The analysis behind the NPU rules."""

    symbols: Symbols
    dialect: Dialect
    guards: Guards
    npu: NpuModules
    uses: Uses
    callers: Callers
    backends: tuple[tuple[str, Span, str], ...] = ()
    _shared: list[tuple[str, FileFacts]] = field(default_factory=list, repr=False)

    def unguarded_imports(self) -> Iterator[Unguarded]:
        """Imports of NPU packages and NPU-only modules that no guard dominates, in shared code."""
        for module, facts in self._shared_modules():
            for imported in facts.imports:
                subject = self.npu.subject(module, imported)
                if subject and not imported.handled:
                    chain = self.callers.reached(module, imported.scope, imported.when)
                    if chain is not None:
                        yield Unguarded("import", module, imported.span, subject, chain, imported.scope == 0)
            yield from self._unguarded_blocks(module, facts)
        yield from self._unguarded_calls()
        yield from self._unguarded_backends()

    def unguarded_uses(self) -> Iterator[Unguarded]:
        """Uses of ``torch_npu.…`` and ``torch.npu.…`` that no guard dominates, in shared code."""
        prefixes = self.dialect.npu_packages
        words = (*prefixes, *(f"import {package.rpartition('.')[2]}" for package in prefixes))
        for module, facts in self._shared_modules():
            roots = self.npu.names_in(facts)
            for ref in facts.refs:
                if ref.handled or not (ref.name.startswith(prefixes) or ref.name.partition(".")[0] in roots):
                    continue
                if not any(word in facts.text for word in words):
                    break
                if not self.guards.on_gpu().possible(module, ref.scope, ref.when):
                    continue
                if self.npu.is_namespace(module, ref.scope, ref.name):
                    if not ref.call and self.npu.has_fallback(module, ref.scope, ref.name):
                        continue
                    if stand_in(self.symbols, module, ref.scope, ref.name.partition(".")[0]) == "other":
                        continue
                    chain = self.callers.reached(module, ref.scope, ref.when)
                    if chain is not None:
                        yield Unguarded("use", module, ref.span, ref.name, chain, ref.scope == 0)

    def _shared_modules(self) -> list[tuple[str, FileFacts]]:
        if not self._shared:
            self._shared.extend(
                (module, facts)
                for module, facts in sorted(self.symbols.modules.items())
                if not self.npu.is_npu_name(module) and not self._brings_stand_ins(module, facts)
            )
        return self._shared

    def _brings_stand_ins(self, module: str, facts: FileFacts) -> bool:
        """Whether a file (a test, mostly) puts something of its own in the place of an NPU package."""
        if module not in self.symbols.mentioning("sys.modules") or _REPLACES_MODULES.search(facts.text) is None:
            return False
        return any(
            f'"{package}"' in facts.text or f"'{package}'" in facts.text for package in self.dialect.npu_packages
        )

    def _unguarded_blocks(self, module: str, facts: FileFacts) -> Iterator[Unguarded]:
        for block in facts.embedded:
            for imported in block.facts.imports if block.facts is not None else ():
                home = f"{module.rpartition('.')[0]}.{self.dialect.generated_folder}.generated"
                target = self.symbols.absolute(home, imported)
                npu_module = target if target in self.symbols.modules and self.npu.is_npu_only(target) else ""
                subject = next(iter(self.npu.packages_of(imported)), npu_module)
                if subject and not imported.handled and self.guards.possible(module, 0, imported.when):
                    yield Unguarded("import", module, imported.span, subject, (), imported.scope == 0)

    def _unguarded_backends(self) -> Iterator[Unguarded]:
        """Entries of registered backends in NPU files that do not require an NPU package."""
        for module, span, entry in self.backends:
            target = entry.partition(":")[0]
            if target in self.symbols.modules and self.npu.is_npu_only(target) and not self.npu.is_npu_name(module):
                yield Unguarded("backend", module, span, target, (), False)

    def _unguarded_calls(self) -> Iterator[Unguarded]:
        """Calls, from shared code, of functions of NPU files that import an NPU package when they run."""
        for module in sorted(self.symbols.modules):
            if not self.npu.is_npu_name(module) or module.endswith(self.dialect.patch_config_suffix):
                continue
            if self.npu.is_npu_only(module):
                continue
            facts = self.symbols.modules[module]
            bad = {
                imported.scope: subject
                for imported in facts.imports
                if facts.scopes[imported.scope].kind == "function" and not imported.handled
                and (subject := self.npu.subject(module, imported))
                and self.guards.possible(module, imported.scope, imported.when)
            }  # fmt: skip
            for scope, subject in bad.items():
                for use in self.uses.of(module, scope, shared_only=True):
                    yield from self._unguarded_call(use, module, scope, subject)

    def _unguarded_call(self, use: Use, module: str, scope: int, subject: str) -> Iterator[Unguarded]:
        if not use.call or use.caught or not self.guards.possible(use.module, use.scope, use.when):
            return
        if self.guards.possible(module, 0, self.symbols.modules[module].scopes[0].completes):
            chain = self.callers.reached(use.module, use.scope, use.when)
            if chain is not None:
                name = self.symbols.modules[module].scopes[scope].qualname
                yield Unguarded(
                    "import", use.module, use.span, f"{module}.{name}, which imports {subject}", chain, False
                )
