"""Which module each file of the project is, what the modules bind, and which of them an import loads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from veomni_opslint.facts import Binding, FileFacts, Import


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProjectModules:
    """The modules of the project by dotted name; ``packages`` are those that have modules in them."""

    modules: Mapping[str, FileFacts]
    packages: frozenset[str]
    _bindings: dict[str, dict[str, tuple[Binding, ...]]] = field(default_factory=dict, repr=False)
    _mentions: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, files: Mapping[str, FileFacts], source_root: str) -> Self:
        """The modules of the files by path; a package counts before a module of the same name."""
        modules: dict[str, FileFacts] = {}
        packages: set[str] = set()
        for path in sorted(files):
            name, is_package = module_name(path, source_root)
            if is_package or name not in modules:
                modules[name] = files[path]
            if is_package:
                packages.add(name)
        for name in modules:
            # A folder without ``__init__`` is a package, too.
            parent = name.rpartition(".")[0]
            while parent and parent not in modules:
                packages.add(parent)
                parent = parent.rpartition(".")[0]
        return cls(modules, frozenset(packages))

    def absolute(self, module: str, imported: Import) -> str:
        """The dotted name of the module that an import in *module* names; empty when it leaves the top package."""
        if not imported.level:
            return imported.module
        parts = module.split(".")
        drop = imported.level - (1 if module in self.packages else 0)
        if drop >= len(parts):
            return ""
        base = parts[: len(parts) - drop] if drop else parts
        return ".".join([*base, imported.module] if imported.module else base)

    def is_project(self, dotted: str) -> bool:
        """Whether a dotted name belongs to a top-level package or module of the project."""
        root = dotted.partition(".")[0]
        return root in self.modules or root in self.packages

    def is_module(self, name: str) -> bool:
        """Whether a dotted name is a module or package of the project."""
        return name in self.modules or name in self.packages

    def bindings(self, module: str) -> dict[str, tuple[Binding, ...]]:
        """Module-level bindings of a module by name."""
        known = self._bindings.get(module)
        if known is None:
            collected: dict[str, list[Binding]] = {}
            for binding in self.modules[module].bindings:
                if binding.scope == 0:
                    collected.setdefault(binding.name, []).append(binding)
            known = self._bindings[module] = {name: tuple(all_) for name, all_ in collected.items()}
        return known

    def mentioning(self, word: str) -> frozenset[str]:
        """The modules with *word* anywhere in their text; each word is searched for once."""
        known = self._mentions.get(word)
        if known is None:
            found = (module for module, facts in self.modules.items() if word in facts.text)
            known = self._mentions[word] = frozenset(found)
        return known

    def loaded_by(self, module: str, imported: Import) -> Iterator[str]:
        """Modules of the project that an import loads, outermost package first."""
        name = self.absolute(module, imported) if imported.level else imported.module
        if not name or not self.is_project(name):
            return
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            prefix = ".".join(parts[:end])
            if prefix in self.modules:
                yield prefix
        for one in imported.names:
            inner = f"{name}.{one.name}"
            if inner in self.modules and not self._hides_submodule(name, one.name):
                yield inner

    def _hides_submodule(self, package: str, name: str) -> bool:
        """Whether a package binds *name* to something else than its submodule of that name, and never to that."""
        if package not in self.modules:
            return False
        facts = self.modules[package]
        bindings = self.bindings(package).get(name, ())
        imports = [facts.imports[one.import_index] for one in bindings if one.kind == "import" and one.imported == name]
        return bool(bindings) and not any(
            imported.how == "from" and self.absolute(package, imported) == package for imported in imports
        )


def module_name(path: str, source_root: str) -> tuple[str, bool]:
    """The dotted module name of a file, and whether it is a package's ``__init__``.

    *source_root* is the folder (relative to the root, empty for the root) that holds the package under check; files
    outside it are named from the project root.
    """
    relative = path[len(source_root) + 1 :] if source_root and path.startswith(source_root + "/") else path
    parts = relative.removesuffix(".py").split("/")
    if parts[-1] == "__init__" and len(parts) > 1:
        return ".".join(parts[:-1]), True
    return ".".join(parts), False


def imports_any(facts: FileFacts, names: Collection[str]) -> bool:
    """Whether a file imports something by one of these names, or from a module whose own name is one."""
    for imported in facts.imports:
        if imported.module.rpartition(".")[2] in names:
            return True
        for one in imported.names:
            if one.name in names:
                return True
    return False


def runs_at_load(facts: FileFacts, scope: int) -> bool:
    """Whether the code of a scope runs when the module is loaded: at its top, or in the body of a class there."""
    while scope > 0:
        if facts.scopes[scope].kind != "class":
            return False
        scope = facts.scopes[scope].parent
    return True
