"""Calls of a file whose names may stand for something of the project, told from its text and its shallow facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from veomni_opslint.facts import FileFacts
from veomni_opslint.model.accepted_arguments import AcceptedArguments
from veomni_opslint.model.call_binding import Signature
from veomni_opslint.model.call_targets import SUPER, CallTargets
from veomni_opslint.model.called_names import CalledName, CalledNames

_CALLED = ("__call__", "forward")
_CONSTRUCTORS = ("__init__", "__new__")
_ATTRIBUTE = re.compile(r"self\.(\w++)\s*+(?::[^=\n]+)?=(?!=)[ \t]*([^\n]+)")
_MADE = re.compile(r"([\w.]+)\(")
_CALL = re.compile(r"(\w++)[\w.]*+\(")
_SELF = frozenset({"self", "cls", SUPER.rstrip(".")})


class Attributes(NamedTuple):
    """Attributes of ``self`` to which a file assigns what is callable.

    ``classes``: objects of classes of the project, by the names of these; ``foreign``: nothing but what calls of other
    packages give, so that it is not known what a call of them takes.
    """

    classes: dict[str, set[str]]
    foreign: set[str]


class _Roots(NamedTuple):
    """Which first parts of dotted names may stand for something of the project: those found so far, and what tells.

    ``by_place`` are names that are bound elsewhere than at module level, or by patch generation. ``is_open``: any other
    name may be of the project, too, by ``import *`` or as a module beside the file.
    """

    found: dict[str, bool]
    by_place: set[str]
    all_by_place: bool
    is_open: bool


class ProjectNames:
    """Reads each file once.

    ``defined`` is what definitions of a name take, ``instances`` what objects of a class take that are called.
    """

    def __init__(self, targets: CallTargets) -> None:
        self._targets = targets
        self._symbols = targets.model.symbols
        self.defined = AcceptedArguments(self._constructor)
        self.instances = AcceptedArguments(self._constructor)
        self._made: dict[str, tuple[str, ...]] = {}
        self._calls: dict[str, list[tuple[int, CalledName]]] = {}
        self._attributes: dict[str, Attributes] = {}
        self._roots: dict[str, _Roots] = {}
        self._read_definitions()
        self._names = CalledNames(self.defined.names)

    def calls(self, module: str, facts: FileFacts) -> list[tuple[int, CalledName]]:
        """The calls in a file, in order: the offset and the name. Not to be changed."""
        if module not in self._calls:
            verdicts: dict[str, bool] = {}
            found = self._calls[module] = []
            for one in self._names.of(facts.text):
                name = one[1]
                verdict = verdicts.get(name.whole)
                if verdict is None:
                    verdict = verdicts[name.whole] = self._may_be_of_project(module, facts, name)
                if verdict:
                    found.append(one)
        return self._calls[module]

    def is_by_place(self, module: str, facts: FileFacts, root: str) -> bool:
        """Whether what a name stands for depends on where in the file it is."""
        if root in _SELF:
            return True
        roots = self._roots_of(module, facts)
        return roots.all_by_place or root in roots.by_place

    def is_root(self, module: str, facts: FileFacts, root: str) -> bool:
        """Whether the first part of a dotted name may stand for something of the project."""
        roots = self._roots_of(module, facts)
        found = roots.found.get(root)
        if found is None:
            found = roots.found[root] = (
                roots.is_open or root in roots.by_place or self._is_bound_to_project(module, facts, root)
            )
        return found

    def attributes(self, module: str, facts: FileFacts) -> Attributes:
        """What a file assigns to attributes of ``self``."""
        if module not in self._attributes:
            self._attributes[module] = self._find_attributes(module, facts)
        return self._attributes[module]

    def _read_definitions(self) -> None:
        defined, instances = self.defined, self.instances
        instances.add(self._targets.model.dialect.slot_kernel, None)
        aliases: dict[str, set[str]] = {}
        for module, facts in self._symbols.modules.items():
            made: set[int] = set()
            for scope in facts.scopes:
                if scope.kind != "function":
                    continue
                defined.add(scope.name, scope.arguments)
                if scope.name in _CALLED:
                    instances.add(facts.scopes[scope.parent].name, scope.arguments)
                elif scope.name in _CONSTRUCTORS:
                    made.add(scope.parent)
                    if scope.name == "__init__":
                        defined.add(facts.scopes[scope.parent].name, scope.arguments)
            for scope in facts.scopes:
                if scope.kind == "class" and scope.index not in made:
                    defined.add_class(scope.name, module, scope.index)
            for imported in facts.imports:
                for name in imported.names:
                    if name.bound != name.name:
                        aliases.setdefault(name.bound, set()).add(name.name)
            for binding in facts.bindings:
                if binding.value_name and binding.value_name != binding.name:
                    aliases.setdefault(binding.name, set()).add(binding.value_name.rpartition(".")[2])
        for _, slot_name in (*self._targets.slots, *self._targets.pointers):
            defined.add(slot_name, None)
        for reached_otherwise in ("apply", self._targets.model.dialect.loss_function):
            defined.add(reached_otherwise, None)
        for bound, names in aliases.items():
            if any(name in defined for name in names):
                defined.add(bound, None)

    def _constructor(self, module: str, scope: int) -> Signature | None:
        known = self._targets.callables.constructor(module, scope)
        return known.signature if known is not None else None

    def _may_be_of_project(self, module: str, facts: FileFacts, name: CalledName) -> bool:
        if name.root == "self":
            attributes = self.attributes(module, facts)
            if name.last in attributes.classes:
                return True
            return name.last in self.defined and name.last not in attributes.foreign
        return name.last in self.defined if name.root in _SELF else self.is_root(module, facts, name.root)

    def _is_bound_to_project(self, module: str, facts: FileFacts, root: str) -> bool:
        for one in self._symbols.bindings(module).get(root, ()):
            imported = facts.imports[one.import_index] if one.kind == "import" else None
            if imported is None or imported.level or self._symbols.is_project(imported.module):
                return True
        return False

    def _roots_of(self, module: str, facts: FileFacts) -> _Roots:
        if module not in self._roots:
            self._roots[module] = self._find_roots(module, facts)
        return self._roots[module]

    def _find_roots(self, module: str, facts: FileFacts) -> _Roots:
        local = {scope.name for scope in facts.scopes if scope.parent > 0}
        for imported in facts.imports:
            if imported.scope:
                local.add(imported.bound)
                local.update(one.bound for one in imported.names)
        generated = self._targets.generated.of(module)
        stars = self._symbols.star_sources(module)
        is_open = module in self._symbols.packages or any(self._symbols.is_project(one) for one in stars)
        return _Roots({}, local | generated, bool(generated), is_open)

    def _find_attributes(self, module: str, facts: FileFacts) -> Attributes:
        called = {name.last for _, name in self._names.of(facts.text) if name.root == "self"}
        if not called:
            return Attributes({}, set())
        found = self._read_attributes(module, facts, called)
        generated = self._targets.generated.module(module)
        if generated == module or generated not in self._symbols.modules:
            return found
        # The patches of a config are methods of classes of the generated file.
        inside = self._read_attributes(generated, self._symbols.modules[generated], called)
        for name, classes in inside.classes.items():
            found.classes.setdefault(name, set()).update(classes)
        return Attributes(found.classes, inside.foreign - found.classes.keys())

    def _read_attributes(self, module: str, facts: FileFacts, called: set[str]) -> Attributes:
        classes: dict[str, set[str]] = {}
        foreign: dict[str, bool] = {}
        for name, value in _ATTRIBUTE.findall(facts.text):
            if name not in called:
                continue
            made = self._made.get(value)
            if made is None:
                made = self._made[value] = tuple(self._classes_in(value))
            if made:
                classes.setdefault(name, set()).update(made)
                foreign[name] = False
            elif value != "None" and foreign.get(name, True):
                call = _CALL.match(value)
                foreign[name] = call is not None and call[1] not in _SELF and not self.is_root(module, facts, call[1])
        own = {name for name, is_foreign in foreign.items() if is_foreign}
        return Attributes(classes, own if own and self._is_closed(facts) else set())

    def _classes_in(self, value: str) -> Iterator[str]:
        for made in _MADE.findall(value):
            last = made[made.rfind(".") + 1 :]
            if last in self.instances:
                yield last

    def _is_closed(self, facts: FileFacts) -> bool:
        """Whether no class of a file is derived from a class of another file of the project."""
        elsewhere = {
            name
            for imported in facts.imports
            if imported.level or self._symbols.is_project(imported.module)
            for name in (imported.bound, *(one.bound for one in imported.names))
        }
        if "*" in elsewhere:
            return False
        bases = (base for scope in facts.scopes if scope.kind == "class" for base in scope.bases)
        return not any(base.partition(".")[0] in elsewhere for base in bases if base)
