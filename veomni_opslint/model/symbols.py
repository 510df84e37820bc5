"""Names of the project: which module a file is, and what a dotted name in some scope stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from veomni_opslint.facts import Binding, FileFacts, Import, Scope

_MAX_STEPS = 40


@dataclass(frozen=True, slots=True)
class Target:
    """What a name stands for.

    ``module``: a module of the project; ``scope``: a class or function of the project, by index in ``module``;
    ``value``: a module-level variable ``name`` of ``module``; ``external``: ``name`` is a dotted name outside the
    project; ``missing``: ``module`` is a module of the project that does not have ``name``. ``rest`` is the part of
    the dotted name that follows what was found.
    """

    kind: Literal["module", "scope", "value", "external", "missing"]
    module: str
    name: str = ""
    scope: int = -1
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Symbols:
    """The modules of the project and how their names resolve."""

    modules: Mapping[str, FileFacts]
    packages: frozenset[str]
    _bindings: dict[str, dict[str, tuple[Binding, ...]]] = field(default_factory=dict, repr=False)
    _stars: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

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

    def loaded_by(self, module: str, imported: Import) -> Iterator[str]:
        """Modules of the project that an import loads, outermost package first."""
        name = self.absolute(module, imported)
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

    def resolve(self, module: str, scope: int, dotted: str) -> tuple[Target, ...]:
        """All that *dotted* can stand for in a scope of *module*; empty when it is a local value or not known."""
        return self.resolve_deep(self.modules[module], module, scope, dotted)

    def resolve_deep(self, facts: FileFacts, module: str, scope: int, dotted: str) -> tuple[Target, ...]:
        """The same in a scope that only the deep *facts* of the module have."""
        root, _, rest = dotted.partition(".")
        found: list[Target] = []
        current = scope
        first = True
        while current > 0:
            owner = facts.scopes[current]
            if owner.kind != "class" or first:
                if root in ("self", "cls") and rest and root in owner.locals:
                    return self._method(module, facts, owner, rest)
                inner = self._in_scope(module, facts, current, root)
                if inner:
                    return tuple(target for one in inner for target in self._follow(one, rest))
                if root in owner.locals:
                    return ()
            first = False
            current = owner.parent
        for target in self.attribute(module, root):
            found.extend(self._follow(target, rest))
        return tuple(dict.fromkeys(found))

    def attribute(self, module: str, name: str, steps: int = 0) -> tuple[Target, ...]:
        """What ``module.name`` can be, followed through re-exports."""
        if steps > _MAX_STEPS or module not in self.modules:
            return ()
        found: list[Target] = []
        facts = self.modules[module]
        for binding in self.bindings(module).get(name, ()):
            if binding.kind == "import":
                found.extend(self._imported(module, facts.imports[binding.import_index], binding.imported, steps))
            elif binding.kind == "scope":
                found.append(Target("scope", module, name, binding.target_scope))
            elif binding.value_name and binding.value_name.partition(".")[0] != name:
                root, _, rest = binding.value_name.partition(".")
                inner = [
                    t for one in self.attribute(module, root, steps + 1) for t in self._follow(one, rest, steps + 1)
                ]
                found.extend(inner or [Target("value", module, name)])
            else:
                found.append(Target("value", module, name))
        if not found and f"{module}.{name}" in self.modules:
            found.append(Target("module", f"{module}.{name}"))
        if not found:
            for star in self.star_sources(module):
                found.extend(t for t in self.attribute(star, name, steps + 1) if t.kind != "missing")
        return tuple(dict.fromkeys(found))

    def star_sources(self, module: str) -> tuple[str, ...]:
        """Modules, of the project or not, of which a module imports everything."""
        known = self._stars.get(module)
        if known is None:
            facts = self.modules[module]
            known = self._stars[module] = tuple(
                self.absolute(module, one)
                for one in facts.imports
                if one.scope == 0 and any(name.name == "*" for name in one.names)
            )
        return known

    def has_open_names(self, module: str) -> bool:
        """Whether the module may have names that are not seen: a star import from outside, ``__getattr__``, exec."""
        bindings = self.bindings(module)
        if "__getattr__" in bindings or self.modules[module].problem is not None:
            return True
        return any(
            star not in self.modules or self.has_open_names(star)
            for star in self.star_sources(module)
            if star != module
        )

    def _in_scope(self, module: str, facts: FileFacts, scope: int, root: str) -> list[Target]:
        found: list[Target] = []
        if facts.scopes[scope].kind == "class":
            found.extend(
                Target("scope", module, root, binding.target_scope)
                for binding in facts.bindings
                if binding.scope == scope and binding.name == root and binding.kind == "scope"
            )
        for one in (one for one in facts.imports if one.scope == scope):
            if one.bound == root and one.how == "import":
                found.extend(
                    self._imported(module, one, one.module if one.bound != one.module.partition(".")[0] else root, 0)
                )
            for name in one.names:
                if name.bound == root:
                    found.extend(self._imported(module, one, name.name, 0))
        if not found:
            found.extend(
                Target("scope", module, root, inner.index)
                for inner in facts.scopes
                if inner.parent == scope and inner.name == root and inner.kind in ("function", "class")
            )
        return found

    def _imported(self, module: str, imported: Import, name: str, steps: int) -> list[Target]:
        source = self.absolute(module, imported)
        if imported.how == "import":
            return [Target("module", name)] if name in self.modules else [Target("external", "", name)]
        if not source or not self.is_project(source):
            return [Target("external", "", f"{source}.{name}")]
        if source in self.modules:
            found = list(self.attribute(source, name, steps + 1))
            return found or [Target("missing", source, name)]
        if f"{source}.{name}" in self.modules:
            return [Target("module", f"{source}.{name}")]
        return [Target("missing", source, name)]

    def _follow(self, target: Target, rest: str, steps: int = 0) -> list[Target]:
        if not rest or steps > _MAX_STEPS:
            return [target]
        if target.kind == "external":
            return [Target("external", "", f"{target.name}.{rest}")]
        if target.kind == "module":
            head, _, tail = rest.partition(".")
            inner = self.attribute(target.module, head, steps + 1) if target.module in self.modules else ()
            if not inner:
                return [Target("missing", target.module, head, rest=tail)]
            return [found for one in inner for found in self._follow(one, tail, steps + 1)]
        if target.kind == "scope":
            facts = self.modules[target.module]
            if facts.scopes[target.scope].kind == "class":
                head, _, tail = rest.partition(".")
                for binding in facts.bindings:
                    if binding.scope == target.scope and binding.name == head and binding.kind == "scope":
                        return self._follow(Target("scope", target.module, head, binding.target_scope), tail, steps + 1)
        return [Target(target.kind, target.module, target.name, target.scope, rest)]

    def _method(self, module: str, facts: FileFacts, owner: Scope, rest: str) -> tuple[Target, ...]:
        head = rest.partition(".")[0]
        holder = facts.scopes[owner.parent] if owner.parent >= 0 else None
        seen: set[tuple[str, int]] = set()
        pending = [(module, holder.index)] if holder is not None and holder.kind == "class" else []
        while pending:
            where, index = pending.pop(0)
            if (where, index) in seen or len(seen) > _MAX_STEPS:
                continue
            seen.add((where, index))
            here = self.modules[where]
            for binding in here.bindings:
                if binding.scope == index and binding.name == head and binding.kind == "scope":
                    return (Target("scope", where, head, binding.target_scope),)
            for base in here.scopes[index].bases:
                pending.extend(
                    (target.module, target.scope)
                    for target in self.resolve(where, 0, base)
                    if target.kind == "scope" and not target.rest
                )
        return ()


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
