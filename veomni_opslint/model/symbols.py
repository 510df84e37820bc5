"""Names of the project: what a dotted name in some scope stands for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from veomni_opslint.facts import Binding, FileFacts, Import, Scope
from veomni_opslint.model.project_modules import ProjectModules

_MAX_DEPTH = 60


class Target(NamedTuple):
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


_Seen: TypeAlias = dict[tuple[str, str], tuple[Target, ...] | None]
"""What a query has looked up so far, None for a name that it is still looking up."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Symbols(ProjectModules):
    """The modules of the project and how their names resolve."""

    _stars: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    _attributes: dict[tuple[str, str], tuple[Target, ...]] = field(default_factory=dict, repr=False)

    def resolve(self, module: str, scope: int, dotted: str) -> tuple[Target, ...]:
        """All that *dotted* can stand for in a scope of *module*; empty when it is a local value or not known."""
        return self.resolve_deep(self.modules[module], module, scope, dotted)

    def resolve_deep(self, facts: FileFacts, module: str, scope: int, dotted: str) -> tuple[Target, ...]:
        """The same in a scope that only the deep *facts* of the module have."""
        root, _, rest = dotted.partition(".")
        current = scope
        first = True
        while current > 0:
            owner = facts.scopes[current]
            if owner.kind != "class" or first:
                if root in ("self", "cls") and rest and root in owner.locals:
                    return self._method(module, facts, owner, rest)
                inner = self._in_scope(module, facts, current, root)
                if inner:
                    return self._follow(inner, rest, {}, 0, (module, facts))
                if root in owner.locals:
                    return ()
            first = False
            current = owner.parent
        return self._follow(self.attribute(module, root), rest, {}, 0, (module, facts))

    def attribute(self, module: str, name: str) -> tuple[Target, ...]:
        """What ``module.name`` can be, followed through re-exports."""
        key = (module, name)
        if key not in self._attributes:
            self._attributes[key] = self._look_up(module, name, {}, 0)
        return self._attributes[key]

    def literal(self, target: Target) -> str | None:
        """The string that a module-level name, or an attribute or enum member of a class, always stands for."""
        if target.kind == "value" and not target.rest:
            found = self.bindings(target.module).get(target.name, ())
        elif target.kind == "scope" and target.rest:
            name = target.rest.removesuffix(".value")
            bindings = self.modules[target.module].bindings
            found = tuple(one for one in bindings if one.scope == target.scope and one.name == name)
        else:
            return None
        return found[0].literal if len(found) == 1 else None

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

    def _look_up(self, module: str, name: str, seen: _Seen, depth: int) -> tuple[Target, ...]:
        key = (module, name)
        if key in seen:
            return seen[key] or ()
        if depth > _MAX_DEPTH:
            return (Target("value", module, name),)
        seen[key] = None
        found: list[Target] = []
        for binding in self.bindings(module).get(name, ()) if module in self.modules else ():
            found.extend(self._bound(module, name, binding, seen, depth + 1))
        if not found and self.is_module(f"{module}.{name}"):
            found.append(Target("module", f"{module}.{name}"))
        if not found and module in self.modules:
            for star in self.star_sources(module):
                if star in self.modules and not (name.startswith("_") and self.modules[star].exports is None):
                    found.extend(t for t in self._look_up(star, name, seen, depth + 1) if t.kind != "missing")
        result = seen[key] = tuple(dict.fromkeys(found))
        return result

    def _bound(self, module: str, name: str, binding: Binding, seen: _Seen, depth: int) -> tuple[Target, ...]:
        if binding.kind == "import":
            imported = self.modules[module].imports[binding.import_index]
            return self._imported(module, imported, binding.imported, seen, depth)
        if binding.kind == "scope":
            return (Target("scope", module, name, binding.target_scope),)
        root, _, rest = binding.value_name.partition(".")
        inner = self._look_up(module, root, seen, depth) if root and root != name else ()
        return self._follow(inner, rest, seen, depth) or (Target("value", module, name),)

    def _imported(self, module: str, imported: Import, name: str, seen: _Seen, depth: int) -> tuple[Target, ...]:
        if imported.how == "import":
            return (Target("module", name) if self.is_module(name) else Target("external", "", name),)
        source = self.absolute(module, imported)
        if not source or not self.is_project(source):
            return (Target("external", "", f"{source}.{name}"),)
        found = self._look_up(source, name, seen, depth)
        if not found and self.is_module(f"{source}.{name}"):
            return (Target("module", f"{source}.{name}"),)
        return found or (Target("missing", source, name),)

    def _in_scope(self, module: str, facts: FileFacts, scope: int, root: str) -> tuple[Target, ...]:
        found: list[Target] = []
        if facts.scopes[scope].deferred:
            return ()
        for one in (one for one in facts.imports if one.scope == scope):
            if one.bound == root and one.how == "import":
                whole = one.bound != one.module.partition(".")[0]
                found.extend(self._imported(module, one, one.module if whole else root, {}, 0))
            for name in one.names:
                if name.bound == root:
                    found.extend(self._imported(module, one, name.name, {}, 0))
        if not found:
            found.extend(
                Target("scope", module, root, inner.index)
                for inner in facts.scopes
                if inner.parent == scope and inner.name == root and inner.kind in ("function", "class")
            )
        return tuple(found)

    def _follow(
        self, targets: tuple[Target, ...], rest: str, seen: _Seen, depth: int, own: tuple[str, FileFacts] | None = None
    ) -> tuple[Target, ...]:
        """What the attributes *rest* of the targets are; *own* are the facts of a module that are deeper than known."""
        ends: list[Target] = []
        current = targets
        while rest and current:
            head, _, tail = rest.partition(".")
            inner: list[Target] = []
            for target in current:
                facts = own[1] if own is not None and own[0] == target.module else self.modules.get(target.module)
                if target.kind == "external":
                    inner.append(Target("external", "", f"{target.name}.{head}"))
                elif target.kind == "module":
                    members = self._look_up(target.module, head, seen, depth + 1)
                    inner.extend(members)
                    if not members:
                        known = seen.get((target.module, head), ()) is not None
                        ends.append(Target("missing" if known else "value", target.module, head, rest=tail))
                elif member := _member(facts, target, head):
                    inner.append(member)
                else:
                    whole = f"{target.rest}.{rest}" if target.rest else rest
                    ends.append(Target(target.kind, target.module, target.name, target.scope, whole))
            current, rest = tuple(dict.fromkeys(inner)), tail
        return tuple(dict.fromkeys((*ends, *current)))

    def _method(self, module: str, facts: FileFacts, owner: Scope, rest: str) -> tuple[Target, ...]:
        head = rest.partition(".")[0]
        seen: set[tuple[str, int]] = set()
        pending = [(module, owner.parent)] if facts.scopes[max(owner.parent, 0)].kind == "class" else []
        while pending:
            where, index = pending.pop(0)
            if (where, index) in seen or len(seen) > _MAX_DEPTH:
                continue
            seen.add((where, index))
            here = facts if where == module else self.modules[where]
            bound = [one for one in here.bindings if one.scope == index and one.name == head]
            if bound:
                return tuple(Target("scope", where, head, one.target_scope) for one in bound if one.kind == "scope")
            for base in here.scopes[index].bases:
                found = self.resolve_deep(here, where, here.scopes[index].parent, base)
                pending.extend((one.module, one.scope) for one in found if one.kind == "scope" and not one.rest)
        return ()


def _member(facts: FileFacts | None, target: Target, name: str) -> Target | None:
    """The function or class of that name in a class."""
    if facts is None or target.kind != "scope" or target.rest or facts.scopes[target.scope].kind != "class":
        return None
    for binding in facts.bindings:
        if binding.scope == target.scope and binding.name == name and binding.kind == "scope":
            return Target("scope", target.module, name, binding.target_scope)
    return None
