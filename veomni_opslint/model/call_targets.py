"""What a call by name reaches: each implementation of a slot or pointer, for a patch what its generated module has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from veomni_opslint.conditions import Condition
from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import Call, FileFacts, Scope
from veomni_opslint.model.callable_values import CallableValues, Possible, values_of
from veomni_opslint.model.callables import Callables, Known, Receiver
from veomni_opslint.model.generated_names import GeneratedNames, binds
from veomni_opslint.model.implementations import Implementation, Implementations
from veomni_opslint.model.instance_attributes import InstanceAttributes
from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.model.pointers import Pointer
from veomni_opslint.model.slots import OpSlotInfo
from veomni_opslint.model.symbols import Target

SUPER = "super()."


class CallSite(NamedTuple):
    """A call: the facts it is in (of the file, or of an embedded block) and the module whose names it sees."""

    module: str
    facts: FileFacts
    call: Call
    embedded: bool


@dataclass(frozen=True, eq=False, repr=False)
class CallTargets:
    """Answers for one model."""

    model: OpsModel
    _assigned: dict[tuple[str, str], bool] = field(default_factory=dict, repr=False)
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
    def generated(self) -> GeneratedNames:
        """What names stand for in generated modules."""
        model = self.model
        return GeneratedNames(model.symbols, frozenset(self.slots), model.patch_imports, model.dialect)

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

    def targets(self, site: CallSite, name: str) -> tuple[Target, ...]:
        """What a dotted name stands for at a call."""
        if site.embedded:
            return self.generated.targets(site.module, name)
        if self.generated.patch_around(site.module, site.facts, site.call.scope) is None:
            return self.model.symbols.resolve_deep(site.facts, site.module, site.call.scope, name)
        root = name.partition(".")[0]
        scope = site.call.scope
        while scope > 0:
            owner = site.facts.scopes[scope]
            for imported in site.facts.imports:
                if imported.scope == scope and binds(imported, root):
                    return self.generated.imported(site.module, imported, name)
            if owner.kind != "class" and root in owner.locals:
                return ()
            if any(one.parent == scope and one.name == root for one in site.facts.scopes):
                return self.model.symbols.resolve_deep(site.facts, site.module, scope, name)
            scope = owner.parent
        return self.generated.targets(site.module, name)

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
        patch = None if site.embedded else self.generated.patch_around(site.module, site.facts, site.call.scope)
        class_name, _, method = patch.target.partition(".") if patch is not None else ("", "", "")
        generated = self.generated.module(site.module) if method else ""
        if generated not in self.model.symbols.modules:
            return None
        found = self.model.symbols.attribute(generated, class_name)
        return (found[0].module, found[0].scope) if len(found) == 1 and found[0].kind == "scope" else None


@lru_cache(maxsize=1024)
def _defines(text: str, method: str) -> bool:
    return f"def {method}(" in text


def _asks(when: Condition, name: str) -> bool:
    """Whether a call runs only where the code has found out what *name* is."""
    parts = when[1:] if when[0] == "and" else (when,)
    return any(part[0] == "cmp" and any(name in side[1:2] for side in part[2:]) for part in parts)
