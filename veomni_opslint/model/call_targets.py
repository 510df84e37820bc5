"""What a call by name reaches: each implementation of a slot or pointer, for a patch what its generated module has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from veomni_opslint.conditions import Condition
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import Call, FileFacts, Import, Scope
from veomni_opslint.model.callable_values import CallableValues, Possible, values_of
from veomni_opslint.model.callables import Callables, Known, Receiver
from veomni_opslint.model.implementations import Implementation, Implementations
from veomni_opslint.model.instance_attributes import InstanceAttributes
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.pointers import Pointer
from veomni_opslint.model.slots import OpSlotInfo
from veomni_opslint.model.symbols import Target

SUPER = "super()."
_PATCHES = ("override_method", "replace_function", "replace_class", "add_helper", "add_helper_after")


class CallSite(NamedTuple):
    """A call: the facts it is in (of the file, or of an embedded block) and the module whose names it sees."""

    module: str
    facts: FileFacts
    call: Call
    embedded: bool


class Patch(NamedTuple):
    """A definition of a patch config that takes the place of ``target`` in the generated module."""

    target: str
    scope: int


@dataclass(frozen=True, eq=False, repr=False)
class CallTargets:
    """Answers for one model."""

    model: OpsModel
    _assigned: dict[tuple[str, str], bool] = field(default_factory=dict, repr=False)
    _patches: dict[str, tuple[Patch, ...]] = field(default_factory=dict, repr=False)
    _of_classes: dict[tuple[str, int, str, bool], list[Implementation]] = field(default_factory=dict, repr=False)

    @cached_property
    def callables(self) -> Callables:
        """Signatures of the definitions of the project."""
        return Callables(self.model.symbols, self.model.deep)

    @cached_property
    def implementations(self) -> Implementations:
        """What slots and pointers are bound to."""
        return Implementations(self.model, CallableValues(self.callables))

    @cached_property
    def slots(self) -> dict[tuple[str, str], OpSlotInfo]:
        """Slots by module and name."""
        return {(slot.module, name): slot for slot in self.model.slots if slot.at_module_level for name in slot.names}

    @cached_property
    def slot_names(self) -> frozenset[str]:
        """The names of all slots."""
        return frozenset(name for _, name in self.slots)

    @cached_property
    def pointers(self) -> dict[tuple[str, str], Pointer]:
        """Pointers by module and name."""
        return {(one.module, one.name): one for one in self.model.pointers}

    @cached_property
    def attributes(self) -> InstanceAttributes:
        """What attributes of objects hold."""
        return InstanceAttributes(self.implementations, self.slots)

    @cached_property
    def _losses(self) -> list[Implementation]:
        return list(self.implementations.of_loss_function())

    def reached(self, site: CallSite, hasty: bool = False) -> list[Implementation]:
        """All that the call may reach; each must bind on its own, and one of its ``possible`` is enough for that.

        In haste, a method is taken for what is called even where something may be assigned to its name.
        """
        name = site.call.name
        if name.partition(".")[0] in ("self", "cls") or name.startswith(SUPER):
            return self._methods(site, name, hasty)
        found: list[Implementation] = []
        plain: Possible = []
        for target in self.targets(site, name):
            key = (target.module, target.name)
            if target.kind == "value" and not target.rest and key in self.slots:
                found += self.implementations.of_slot(self.slots[key])
            elif target.kind == "value" and not target.rest and key in self.pointers:
                found += self.implementations.of_pointer(self.pointers[key])
            elif target.kind == "value" and not target.rest:
                plain += self.implementations.values.variable(target.module, target.name)
            elif target.kind == "value":
                plain += self._of_object(target)
            else:
                plain.append(self.callables.of(target))
        if plain:
            found.append(Implementation("", None, plain))
        return found

    def _of_object(self, target: Target) -> Possible:
        """The method of an object that a module-level name holds, such as that of a registry."""
        facts = self.model.module(target.module)
        values = list(values_of(facts.tree.body, target.name)) if facts.tree is not None else []
        made = dotted(values[0].func) if len(values) == 1 and isinstance(values[0], ast.Call) else ""
        classes = self.model.symbols.resolve(target.module, 0, made) if made and "." not in target.rest else ()
        if len(classes) != 1 or classes[0].kind != "scope" or classes[0].rest:
            return [None]
        if self.callables.facts(classes[0].module, classes[0].scope).scopes[classes[0].scope].kind != "class":
            return [None]
        found = self.callables.method(classes[0].module, classes[0].scope, target.rest) or ()
        return [self.callables.of(one, "object") for one in found] or [None]

    def generated_names(self, config: str) -> set[str]:
        """Names that a patch config gives its generated module."""
        names = {patch.target for patch in self._patches_of(config)}
        requested = self.model.patch_imports.get(config)
        for imported in requested.imports if requested is not None else ():
            names.update(one.bound for one in imported.names)
        names.update(name for module, name in self.slots if module == config)
        generated = self.generated_name(config)
        if generated in self.model.symbols.modules:
            names.update(self.model.symbols.bindings(generated))
        return names

    def targets(self, site: CallSite, name: str) -> tuple[Target, ...]:
        """What a dotted name stands for at a call."""
        if site.embedded:
            return self._generated(site.module, name)
        if self._patch_around(site) is None:
            return self.model.symbols.resolve_deep(site.facts, site.module, site.call.scope, name)
        root = name.partition(".")[0]
        scope = site.call.scope
        while scope > 0:
            owner = site.facts.scopes[scope]
            for imported in site.facts.imports:
                if imported.scope == scope and _binds(imported, root):
                    return self._imported(self.generated_name(site.module), imported, name)
            if owner.kind != "class" and root in owner.locals:
                return ()
            if any(one.parent == scope and one.name == root for one in site.facts.scopes):
                return self.model.symbols.resolve_deep(site.facts, site.module, scope, name)
            scope = owner.parent
        return self._generated(site.module, name)

    def _generated(self, config: str, name: str) -> tuple[Target, ...]:
        """What a name stands for in the module that a patch config generates, as the config says and as it is."""
        root, _, rest = name.partition(".")
        for patch in self._patches_of(config):
            if patch.target == root and not rest:
                return (Target("scope", config, root, patch.scope),)
        if (config, root) in self.slots and not rest:
            return (Target("value", config, root),)
        generated = self.generated_name(config)
        requested = self.model.patch_imports.get(config)
        for imported in requested.imports if requested is not None else ():
            if _binds(imported, root):
                return self._imported(generated, imported, name)
        for module in (generated, config):
            if module in self.model.symbols.modules:
                found = self.model.symbols.resolve(module, 0, name)
                if found:
                    return found
        return ()

    def _imported(self, module: str, imported: Import, name: str) -> tuple[Target, ...]:
        """What a name imported into the generated module stands for."""
        symbols = self.model.symbols
        root, _, rest = name.partition(".")
        source = symbols.absolute(module, imported)
        if imported.how != "from" or not source or not symbols.is_project(source):
            return ()
        attribute = next(one.name for one in imported.names if one.bound == root)
        found = symbols.attribute(source, attribute)
        if not rest:
            return found
        if len(found) == 1 and found[0].kind == "module":
            return symbols.resolve(found[0].module, 0, rest)
        return ()

    def _methods(self, site: CallSite, name: str, hasty: bool) -> list[Implementation]:
        """The method of the own class, or of a class derived from it, that ``self.method`` or ``super().method`` is."""
        method = name.removeprefix(SUPER) if name.startswith(SUPER) else name.partition(".")[2]
        if name == f"self.{self.model.dialect.loss_function}" and not _defines(site.facts.text, method):
            return self._losses
        owner = self._class_around(site) if "." not in method else None
        if owner is None:
            return []
        if _asks(site.call.when, name) and self._is_assigned(owner[0], method):
            return []
        key = (*owner, name, hasty)
        if key not in self._of_classes:
            self._of_classes[key] = self._of_class(*owner, name, method, hasty)
        return self._of_classes[key]

    def _of_class(self, module: str, index: int, name: str, method: str, hasty: bool) -> list[Implementation]:
        through_super = name.startswith(SUPER)
        where: tuple[str, Scope | None] | None = (module, self.callables.facts(module, index).scopes[index])
        if through_super:
            where = next(iter(self.callables.bases(module, index)), None)
        if where is None or where[1] is None:
            return []
        methods = self.callables.method(where[0], where[1].index, method)
        if not methods and (through_super or name.startswith("cls.")):
            return []
        if not (hasty and methods) and self._is_assigned(module, method):
            return [] if methods else self.attributes.of(module, index, method, hasty)
        receiver: Receiver = "class" if name.startswith("cls.") else "object"
        possible = [self.callables.of(target, receiver) for target in methods or ()]
        return [Implementation("", None, possible)] if possible else []

    def _is_assigned(self, module: str, attribute: str) -> bool:
        key = (module, attribute)
        if key not in self._assigned:
            text = self.model.module(module).text
            self._assigned[key] = f".{attribute} = " in text or f".{attribute}: " in text
        return self._assigned[key]

    def overrides(self, site: CallSite) -> Iterator[Known | None]:
        """What a call ``self.method`` reaches in classes derived from the own one."""
        owner = self._class_around(site)
        prefix, _, method = site.call.name.partition(".")
        if prefix not in ("self", "cls") or owner is None:
            return
        receiver: Receiver = "class" if prefix == "cls" else "object"
        name = self.callables.facts(*owner).scopes[owner[1]].name
        for other, facts in self.model.symbols.modules.items():
            if name not in facts.text or (f"def {method}(" not in facts.text and f".{method} = " not in facts.text):
                continue
            for scope in facts.scopes:
                if scope.kind == "class" and scope.bases and (other, scope.index) != owner:
                    above = list(self.callables.ancestors(other, scope.index))
                    if any(base is not None and (where, base.index) == owner for where, base in above):
                        lines = facts.lines[scope.span[0] - 1 : scope.span[2]]
                        if any(f"self.{method} = " in line for line in lines):
                            yield None
                        own = [one for one in facts.bindings if one.scope == scope.index and one.name == method]
                        for one in own:
                            yield self.callables.of(Target("scope", other, method, one.target_scope), receiver)

    def _class_around(self, site: CallSite) -> tuple[str, int] | None:
        """The class whose method holds a call: by where it is written, or by which class it is patched into."""
        scope = site.call.scope
        while scope > 0:
            owner = site.facts.scopes[scope]
            parent = site.facts.scopes[owner.parent]
            if owner.kind == "function" and parent.kind == "class":
                return None if "staticmethod" in owner.decorators else (site.module, parent.index)
            if owner.kind == "class":
                return None
            scope = owner.parent
        patch = None if site.embedded else self._patch_around(site)
        class_name, _, method = patch.target.partition(".") if patch is not None else ("", "", "")
        generated = self.generated_name(site.module) if method else ""
        if generated not in self.model.symbols.modules:
            return None
        found = self.model.symbols.attribute(generated, class_name)
        return (found[0].module, found[0].scope) if len(found) == 1 and found[0].kind == "scope" else None

    def _patch_around(self, site: CallSite) -> Patch | None:
        """The patch of a patch config that a scope is in."""
        scope = site.call.scope
        patches = {one.scope: one for one in self._patches_of(site.module)}
        while scope > 0 and patches:
            if scope in patches:
                return patches[scope]
            scope = site.facts.scopes[scope].parent
        return None

    def _patches_of(self, module: str) -> tuple[Patch, ...]:
        if module not in self._patches:
            is_config = module.rpartition(".")[2].endswith(self.model.dialect.patch_config_suffix)
            self._patches[module] = tuple(_find_patches(self.model.module(module))) if is_config else ()
        return self._patches[module]

    def generated_name(self, config: str) -> str:
        """The module that a patch config generates; empty for another module."""
        requested = self.model.patch_imports.get(config)
        return requested.generated if requested is not None else ""


@lru_cache(maxsize=1024)
def _defines(text: str, method: str) -> bool:
    return f"def {method}(" in text


def _asks(when: Condition, name: str) -> bool:
    """Whether a call runs only where the code has found out what *name* is."""
    parts = when[1:] if when[0] == "and" else (when,)
    return any(part[0] == "cmp" and any(name in side[1:2] for side in part[2:]) for part in parts)


def _binds(imported: Import, root: str) -> bool:
    return imported.bound == root or any(one.bound == root for one in imported.names)


def _find_patches(facts: FileFacts) -> Iterator[Patch]:
    """The decorated definitions of a config, and those that a call gives as ``replacement=``."""
    scopes = {one.span: one for one in facts.scopes if one.parent == 0}
    by_name = {one.name: one for one in scopes.values()}
    for node in facts.tree.body if facts.tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for decorator in node.decorator_list:
                call = decorator.func if isinstance(decorator, ast.Call) else decorator
                verb = dotted(call).rpartition(".")[2]
                if verb in _PATCHES:
                    target = _first_text(decorator) if isinstance(decorator, ast.Call) else ""
                    helper = verb.startswith("add_") or not target
                    yield Patch(node.name if helper else target, scopes[span_of(node)].index)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            verb = dotted(node.value.func).rpartition(".")[2]
            given = [one.value for one in node.value.keywords if one.arg == "replacement"]
            name = given[0].id if given and isinstance(given[0], ast.Name) else ""
            if verb in _PATCHES and name in by_name:
                yield Patch(_first_text(node.value), by_name[name].index)


def _first_text(call: ast.Call) -> str:
    first = call.args[0] if call.args else next((one.value for one in call.keywords if one.arg == "target"), None)
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
