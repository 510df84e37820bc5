"""Which functions of the project a call runs while a module is loaded, among them constructors and methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from veomni_opslint.facts import FileFacts, Ref, Scope, text_of
from veomni_opslint.model.called_at_load import class_made, lambda_held, methods_called
from veomni_opslint.model.symbols import Symbols, Target

_CONSTRUCTORS = ("__new__", "__init__", "__post_init__")
_CLASS_MAKERS = ("__prepare__", "__new__", "__init__")
_MAX_BASES = 8


class Run(NamedTuple):
    """A function that runs: its module, the facts in which its body was walked if it may import, and its scope."""

    module: str
    facts: FileFacts
    function: Scope


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunByCall:
    """Answers for one project."""

    symbols: Symbols
    deep: Callable[[str], FileFacts]
    _importing: dict[tuple[str, int], bool] = field(default_factory=dict, repr=False)
    _held: dict[tuple[str, str], tuple[Target, ...]] = field(default_factory=dict, repr=False)

    def functions(self, target: Target) -> Iterator[Run]:
        """What a call of the target runs."""
        for one in self._run_by(target):
            yield from self._read(one)

    def methods(self, target: Target, facts: FileFacts, ref: Ref) -> Iterator[Run]:
        """The methods that the call at a place runs at once on what the target gives or holds."""
        for one in self._methods_run(target, facts, ref):
            yield from self._read(one)

    def by_definition(self, module: str, owner: Scope) -> Iterator[Run]:
        """What runs because a class is defined: ``__init_subclass__`` of a base, and what makes it in its metaclass."""
        if not (self.symbols.mentioning("__init_subclass__") or self.symbols.mentioning("metaclass=")):
            return
        here = Target("scope", module, owner.name, owner.index)
        hooks = [hook for base in self._bases(here) for hook in self._method(base, "__init_subclass__", 0)]
        for meta in self._metaclasses(here, 0):
            if self._is_class(meta):
                hooks += [hook for name in _CLASS_MAKERS for hook in self._method(meta, name, 0)]
            else:
                hooks.append(meta)
        for hook in hooks:
            yield from self._read(hook)

    def _metaclasses(self, owner: Target, depth: int) -> Iterator[Target]:
        """The metaclass that a class names, or else those of its bases, as far as they are the project's."""
        here = self.symbols.modules[owner.module].scopes[owner.scope]
        if here.metaclass:
            found = self.symbols.resolve(owner.module, here.parent, here.metaclass)
            yield from (one for one in found if one.kind == "scope" and not one.rest)
        elif depth < _MAX_BASES:
            for base in self._bases(owner):
                yield from self._metaclasses(base, depth + 1)

    def _bases(self, owner: Target) -> Iterator[Target]:
        here = self.symbols.modules[owner.module].scopes[owner.scope]
        for name in here.bases:
            for found in self.symbols.resolve(owner.module, here.parent, name) if name else ():
                if found.kind == "scope" and not found.rest and self._is_class(found):
                    yield found

    def _run_by(self, target: Target) -> Iterator[Target]:
        """What runs when a target is called: the function; of a class its constructors; of a name its lambda."""
        facts = self.symbols.modules.get(target.module)
        if facts is None or target.rest:
            return
        if target.kind == "value":
            held = lambda_held(facts, target.name)
            if held is not None:
                yield Target("scope", target.module, target.name, held.index)
        elif target.kind == "scope" and target.scope < len(facts.scopes) and facts.scopes[target.scope].kind == "class":
            for name in _CONSTRUCTORS:
                yield from self._method(target, name, 0)
        elif target.kind == "scope":
            yield target

    def _methods_run(self, target: Target, facts: FileFacts, ref: Ref) -> Iterator[Target]:
        """Methods that run at once: of an instance that is made, or of one that a module-level name holds."""
        if target.kind == "scope" and not target.rest and self._is_class(target):
            if self._imports_in_a_method(target, 0):
                for name in methods_called(facts, ref):
                    yield from self._method(target, name, 0)
        elif target.kind == "value" and "." not in target.rest:
            for owner in self._classes_held(target.module, target.name):
                yield from self._method(owner, target.rest or "__call__", 0)

    def _classes_held(self, module: str, name: str) -> tuple[Target, ...]:
        """The classes with methods that import, of which the only value of a module-level name is made."""
        known = self._held.get((module, name))
        if known is None:
            made_by = class_made(self.symbols.modules[module], name)
            targets = self.symbols.resolve(module, 0, made_by) if made_by else ()
            known = self._held[module, name] = tuple(
                one
                for one in targets
                if one.kind == "scope" and not one.rest and self._is_class(one) and self._imports_in_a_method(one, 0)
            )
        return known

    def _imports_in_a_method(self, owner: Target, depth: int) -> bool:
        """Whether a class, or a base of it in the project, has a method with an import in it."""
        key = (owner.module, owner.scope)
        if key not in self._importing:
            facts = self.symbols.modules[owner.module]
            here = facts.scopes[owner.scope]
            self._importing[key] = any(
                facts.scopes[facts.scopes[one.scope].parent] is here for one in facts.imports if one.scope
            ) or (depth < _MAX_BASES and any(self._imports_in_a_method(base, depth + 1) for base in self._bases(owner)))
        return self._importing[key]

    def _method(self, owner: Target, name: str, depth: int) -> Iterator[Target]:
        """The method of that name of a class, or of the first base in the project that has it."""
        facts = self.symbols.modules[owner.module]
        here = facts.scopes[owner.scope]
        own = next((one for one in facts.scopes if one.parent == here.index and one.name == name), None)
        if own is not None:
            yield Target("scope", owner.module, name, own.index)
        elif depth < _MAX_BASES:
            for base in self._bases(owner):
                yield from self._method(base, name, depth + 1)

    def _is_class(self, target: Target) -> bool:
        scopes = self.symbols.modules[target.module].scopes
        return target.scope < len(scopes) and scopes[target.scope].kind == "class"

    def _read(self, target: Target) -> Iterator[Run]:
        """The function that a target is, unless a call of it runs nothing at once."""
        facts = self.symbols.modules.get(target.module)
        if facts is None or target.kind != "scope" or target.rest or target.scope >= len(facts.scopes):
            return
        function = facts.scopes[target.scope]
        if function.kind == "lambda":
            yield Run(target.module, facts, function)
        elif function.kind == "function" and not function.is_generator and not function.is_async:
            if function.deferred and self._may_import(target.module, facts, function):
                facts = self.deep(target.module)
            yield Run(target.module, facts, facts.scopes[target.scope])

    def _may_import(self, module: str, facts: FileFacts, function: Scope) -> bool:
        """Whether a function that has no import itself may call one of the project that has."""
        text = text_of(facts, function.span)
        for one in facts.imports:
            owner = facts.scopes[one.scope]
            if owner.kind == "function" and owner.name in text:
                return True
            if owner.kind == "module" and self.symbols.is_project(self.symbols.absolute(module, one)):
                bound = (one.bound, *(name.bound for name in one.names))
                if any(f"{name}(" in text or f"{name}." in text for name in bound if name):
                    return True
        return False
