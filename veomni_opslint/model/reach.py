"""Which NPU imports and uses can run where there is no NPU, and the chain that leads to each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from veomni_opslint.conditions import Condition
from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import FileFacts, Import, Span
from veomni_opslint.model.callers import Callers, Hop
from veomni_opslint.model.guards import Guards
from veomni_opslint.model.questions import Questions
from veomni_opslint.model.symbols import Symbols
from veomni_opslint.model.uses import Use, Uses

_NPU_PARTS = ("npu", "ascend", "cann")
_NPU_WORDS = frozenset({*_NPU_PARTS, "ascendc"})
_REPLACES_MODULES = re.compile(r"sys\.modules(?:\[[^\]\n]*\]\s*=[^=]|[\"']?\s*,|\.(?:setdefault|update)\()")
_WORD_BREAK = re.compile(r"[._]+")


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
    deep: Callable[[str], FileFacts]
    uses: Uses
    factories: frozenset[tuple[str, str | tuple[int, int]]]
    package: str
    backends: tuple[tuple[str, Span, str], ...] = ()
    _npu_names_known: dict[str, bool] = field(default_factory=dict, repr=False)
    _npu_only: dict[str, bool] = field(default_factory=dict, repr=False)
    _callers: list[Callers] = field(default_factory=list, repr=False)
    _shared: list[tuple[str, FileFacts]] = field(default_factory=list, repr=False)

    def is_npu_name(self, module: str) -> bool:
        """Whether a module is, by its name or its folder's, written for the NPU."""
        known = self._npu_names_known.get(module)
        if known is None:
            lowered = module.lower()
            known = any(part in lowered for part in _NPU_PARTS) and any(
                word in _NPU_WORDS for word in _WORD_BREAK.split(lowered)
            )
            self._npu_names_known[module] = known
        return known

    def is_npu_only(self, module: str) -> bool:
        """Whether a module cannot (or, if generated for the NPU, must not) be loaded without an NPU."""
        known = self._npu_only.get(module)
        if known is None:
            self._npu_only[module] = False
            known = self._npu_only[module] = self._decide_npu_only(module)
        return known

    def unguarded_imports(self) -> Iterator[Unguarded]:
        """Imports of NPU packages and NPU-only modules that no guard dominates, in shared code."""
        for module, facts in self._shared_modules():
            for imported in facts.imports:
                subject = self._npu_subject(module, imported)
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
            roots = self._npu_names(facts)
            for ref in facts.refs:
                if ref.handled or not (ref.name.startswith(prefixes) or ref.name.partition(".")[0] in roots):
                    continue
                if not any(word in facts.text for word in words):
                    break
                if not self.guards.on_gpu().possible(module, ref.scope, ref.when):
                    continue
                if self._is_namespace(module, ref.scope, ref.name):
                    if not ref.call and self._has_fallback(module, ref.scope, ref.name):
                        continue
                    chain = self.callers.reached(module, ref.scope, ref.when)
                    if chain is not None:
                        yield Unguarded("use", module, ref.span, ref.name, chain, ref.scope == 0)

    def _npu_names(self, facts: FileFacts) -> set[str]:
        """Names that a file binds to an NPU package or to something of one."""
        found: set[str] = set()
        for imported in facts.imports:
            if self.npu_packages_of(imported):
                found.update((imported.bound,) if imported.bound else (name.bound for name in imported.names))
        return found - {"torch"}

    @property
    def callers(self) -> Callers:
        """Who reaches whom."""
        if not self._callers:
            words = (*self.dialect.npu_guards, *self.dialect.npu_packages)
            self._callers.append(
                Callers(
                    self.symbols,
                    self.dialect,
                    self.guards,
                    self.deep,
                    self.uses,
                    self.factories,
                    self.package,
                    self.is_npu_name,
                    Questions(self.symbols, self.deep, words, self.guards.is_decided),
                )
            )
        return self._callers[0]

    def npu_packages_of(self, imported: Import) -> tuple[str, ...]:
        """NPU packages that an absolute import names."""
        if imported.level:
            return ()
        packages = self.dialect.npu_packages
        if not imported.module.startswith(_roots(packages)):
            return ()
        found = [
            package for package in packages if imported.module == package or imported.module.startswith(package + ".")
        ]
        found += [
            f"{imported.module}.{name.name}" for name in imported.names if f"{imported.module}.{name.name}" in packages
        ]
        return tuple(dict.fromkeys(found))

    def _shared_modules(self) -> list[tuple[str, FileFacts]]:
        if not self._shared:
            self._shared.extend(
                (module, facts)
                for module, facts in sorted(self.symbols.modules.items())
                if not self.is_npu_name(module) and not self._brings_stand_ins(module, facts)
            )
        return self._shared

    def _brings_stand_ins(self, module: str, facts: FileFacts) -> bool:
        """Whether a file (a test, mostly) puts something of its own in the place of an NPU package."""
        if module not in self.symbols.mentioning("sys.modules") or _REPLACES_MODULES.search(facts.text) is None:
            return False
        return any(
            f'"{package}"' in facts.text or f"'{package}'" in facts.text for package in self.dialect.npu_packages
        )

    def needs_npu(self, subject: str) -> bool:
        """Whether loading an NPU package or NPU-only module really fails without an NPU."""
        return subject not in self.symbols.modules or self._loads_npu(subject)

    def _decide_npu_only(self, module: str) -> bool:
        stem = module.rpartition(".")[2]
        if stem.startswith(self.dialect.generated_prefix) and self.is_npu_name(stem):
            # Generated for both, one of the two is for the host at hand, whatever they import.
            sibling = module.removesuffix("npu") + "gpu"
            if module.endswith("npu") and sibling in self.symbols.modules:
                return True
        return self.is_npu_name(module) and self._loads_npu(module)

    def _loads_npu(self, module: str) -> bool:
        facts = self.symbols.modules[module]
        for imported in facts.imports:
            if imported.handled or not self._at_load(facts, imported.scope):
                continue
            if not self.guards.possible(module, imported.scope, imported.when):
                continue
            if self.npu_packages_of(imported):
                return True
            if any(self.is_npu_only(target) for target in self.symbols.loaded_by(module, imported) if target != module):
                return True
        return any(
            ref.scope == 0 and not ref.handled and self._is_namespace(module, 0, ref.name)
            and self.guards.possible(module, 0, ref.when)
            for ref in facts.refs
        )  # fmt: skip

    def _npu_subject(self, module: str, imported: Import) -> str:
        packages = self.npu_packages_of(imported)
        if packages:
            return packages[0]
        if not imported.level and not self.symbols.is_project(imported.module):
            return ""
        written = ".".join((imported.module, *(name.name for name in imported.names)))
        if not self.is_npu_name(written) and not self.is_npu_name(module):
            return ""
        return next((one for one in self.symbols.loaded_by(module, imported) if self.is_npu_only(one)), "")

    def _unguarded_blocks(self, module: str, facts: FileFacts) -> Iterator[Unguarded]:
        for block in facts.embedded:
            for imported in block.facts.imports if block.facts is not None else ():
                home = f"{module.rpartition('.')[0]}.{self.dialect.generated_folder}.generated"
                target = self.symbols.absolute(home, imported)
                npu_module = target if target in self.symbols.modules and self.is_npu_only(target) else ""
                subject = next(iter(self.npu_packages_of(imported)), npu_module)
                if subject and not imported.handled and self.guards.possible(module, 0, imported.when):
                    yield Unguarded("import", module, imported.span, subject, (), imported.scope == 0)

    def _unguarded_backends(self) -> Iterator[Unguarded]:
        """Entries of registered backends in NPU files that do not require an NPU package."""
        for module, span, entry in self.backends:
            target = entry.partition(":")[0]
            if target in self.symbols.modules and self.is_npu_only(target) and not self.is_npu_name(module):
                yield Unguarded("backend", module, span, target, (), False)

    def _unguarded_calls(self) -> Iterator[Unguarded]:
        """Calls, from shared code, of functions of NPU files that import an NPU package when they run."""
        for module in sorted(self.symbols.modules):
            if not self.is_npu_name(module) or module.endswith(self.dialect.patch_config_suffix):
                continue
            if self.is_npu_only(module):
                continue
            facts = self.symbols.modules[module]
            bad = {
                imported.scope: subject
                for imported in facts.imports
                if facts.scopes[imported.scope].kind == "function" and not imported.handled
                and (subject := self._npu_subject(module, imported))
                and self._open(module, imported.scope, imported.when)
            }  # fmt: skip
            for scope, subject in bad.items():
                for use in self.uses.of(module, scope, shared_only=True):
                    yield from self._unguarded_call(use, module, scope, subject)

    def _unguarded_call(self, use: Use, module: str, scope: int, subject: str) -> Iterator[Unguarded]:
        if not use.call or use.caught or not self._open(use.module, use.scope, use.when):
            return
        if self.guards.possible(module, 0, self.symbols.modules[module].scopes[0].completes):
            chain = self.callers.reached(use.module, use.scope, use.when)
            if chain is not None:
                name = self.symbols.modules[module].scopes[scope].qualname
                yield Unguarded(
                    "import", use.module, use.span, f"{module}.{name}, which imports {subject}", chain, False
                )

    def _is_namespace(self, module: str, scope: int, name: str) -> bool:
        """Whether a dotted use really is the NPU package and not a variable of that name."""
        targets = self.symbols.resolve(module, scope, name)
        if targets:
            return any(
                target.kind == "external"
                and any(
                    target.name == package or target.name.startswith(package + ".")
                    for package in self.dialect.npu_packages
                )
                for target in targets
            )
        return any(name.startswith(package + ".") for package in self.dialect.npu_packages) and not self._is_local(
            module, scope, name
        )

    def _has_fallback(self, module: str, scope: int, name: str) -> bool:
        """Whether a name, which is only mentioned, has another value where the NPU package is not there."""
        if "." in name:
            return False
        targets = self.symbols.resolve(module, scope, name)
        return any(target.kind == "value" for target in targets) or self._is_local(module, scope, name)

    def _is_local(self, module: str, scope: int, name: str) -> bool:
        root = name.partition(".")[0]
        facts = self.deep(module) if scope >= len(self.symbols.modules[module].scopes) else self.symbols.modules[module]
        while scope > 0:
            if root in facts.scopes[scope].locals:
                return True
            scope = facts.scopes[scope].parent
        return False

    def _open(self, module: str, scope: int, when: Condition) -> bool:
        return self.guards.possible(module, scope, when)

    def _at_load(self, facts: FileFacts, scope: int) -> bool:
        while scope > 0:
            if facts.scopes[scope].kind != "class":
                return False
            scope = facts.scopes[scope].parent
        return True


@lru_cache(maxsize=8)
def _roots(packages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple({package.partition(".")[0] for package in packages})
