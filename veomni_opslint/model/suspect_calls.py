"""Calls that may not bind, told from texts and shallow facts, so that only the modules with one are walked in depth."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from veomni_opslint.conditions import TRUE
from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import Call, FileFacts, statements_of
from veomni_opslint.model.accepted_arguments import AcceptedArguments
from veomni_opslint.model.call_binding import Arguments, Signature, binding_problem
from veomni_opslint.model.call_targets import SUPER, CallSite, CallTargets
from veomni_opslint.model.call_texts import arguments_at
from veomni_opslint.model.called_names import CalledName, CalledNames
from veomni_opslint.model.implementations import Implementation

_CALLED = ("__call__", "forward")
_CONSTRUCTORS = ("__init__", "__new__")
_ATTRIBUTE = re.compile(r"self\.(\w++)(?:: [^=\n]+)? = ([^\n]+)")
_MADE = re.compile(r"([\w.]+)\(")
_SUPER = SUPER.rstrip(".")
_SELF = frozenset({"self", "cls", _SUPER})


class _Roots(NamedTuple):
    """Which first parts of dotted names may stand for something of the project: those found so far, and what tells.

    ``by_place`` are names that are bound elsewhere than at module level, or by patch generation. ``is_open``: any other
    name may be of the project, too, by ``import *`` or as a module beside the file.
    """

    found: dict[str, bool]
    by_place: set[str]
    all_by_place: bool
    is_open: bool


class SuspectCalls:
    """Looks at every call of a name that some definition, slot or pointer of the project has."""

    def __init__(self, targets: CallTargets) -> None:
        self.targets = targets
        self._defined = AcceptedArguments(self._constructor)
        self._instances = AcceptedArguments(self._constructor)
        self._names = CalledNames(self._defined.__contains__)
        self._made: dict[str, tuple[str, ...]] = {}
        self._attributes: dict[str, dict[str, set[str]]] = {}
        self._roots: dict[str, _Roots] = {}
        self._scopes: dict[str, list[tuple[int, int, int]]] = {}
        self._reached: dict[tuple[str, int, str], list[Implementation]] = {}
        self._read_definitions()

    def modules(self) -> Iterator[str]:
        """Modules with a call that does not bind, as far as shallow facts tell."""
        for module, facts in self.targets.model.symbols.modules.items():
            if facts.problem is None and self._is_suspect(module, facts):
                yield module

    def of_project(self, module: str, facts: FileFacts) -> Iterator[tuple[int, CalledName]]:
        """The calls in a file of names that may stand for something of the project: the offset and the name."""
        verdicts: dict[str, bool] = {}
        for offset, name in self._names.of(facts.text):
            verdict = verdicts.get(name.whole)
            if verdict is None:
                verdict = verdicts[name.whole] = self._may_be_of_project(module, facts, name)
            if verdict:
                yield offset, name

    def is_by_place(self, module: str, facts: FileFacts, root: str) -> bool:
        """Whether what a name stands for depends on where in the file it is."""
        if root in _SELF:
            return True
        roots = self._roots_of(module, facts)
        return roots.all_by_place or root in roots.by_place

    def reached(self, module: str, facts: FileFacts, name: str, line: int) -> list[Implementation]:
        """What a call on a line may reach, as far as shallow facts tell; at module level for line 0."""
        scope = self._scope_at(module, facts, line) if line else 0
        key = (module, scope, name)
        found = self._reached.get(key)
        if found is None:
            found = self._reached[key] = self.targets.reached(_site(module, facts, scope, name))
        return found

    def _read_definitions(self) -> None:
        defined, instances = self._defined, self._instances
        instances.add(self.targets.model.dialect.slot_kernel, None)
        aliases: dict[str, set[str]] = {}
        for module, facts in self.targets.model.symbols.modules.items():
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
        for _, slot_name in (*self.targets.slots, *self.targets.pointers):
            defined.add(slot_name, None)
        for reached_otherwise in ("apply", self.targets.model.dialect.loss_function):
            defined.add(reached_otherwise, None)
        for bound, names in aliases.items():
            if any(name in defined for name in names):
                defined.add(bound, None)

    def _constructor(self, module: str, scope: int) -> Signature | None:
        known = self.targets.callables.constructor(module, scope)
        return known.signature if known is not None else None

    def _may_be_of_project(self, module: str, facts: FileFacts, name: CalledName) -> bool:
        if name.root in _SELF:
            return name.last in self._defined or (
                name.root == "self" and name.last in self._attributes_of(module, facts)
            )
        return self._is_root_of_project(module, facts, name.root)

    def _is_root_of_project(self, module: str, facts: FileFacts, root: str) -> bool:
        roots = self._roots_of(module, facts)
        found = roots.found.get(root)
        if found is None:
            found = roots.found[root] = (
                roots.is_open or root in roots.by_place or self._is_bound_to_project(module, facts, root)
            )
        return found

    def _is_bound_to_project(self, module: str, facts: FileFacts, root: str) -> bool:
        symbols = self.targets.model.symbols
        for one in symbols.bindings(module).get(root, ()):
            imported = facts.imports[one.import_index] if one.kind == "import" else None
            if imported is None or imported.level or symbols.is_project(imported.module):
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
        generated = self.targets.generated_names(module)
        symbols = self.targets.model.symbols
        is_open = module in symbols.packages or any(symbols.is_project(one) for one in symbols.star_sources(module))
        return _Roots({}, local | generated, bool(generated), is_open)

    def _attributes_of(self, module: str, facts: FileFacts) -> Mapping[str, set[str]]:
        """The attributes of ``self`` to which a file assigns objects of classes, with the names of these classes."""
        if module not in self._attributes:
            self._attributes[module] = self._find_attributes(module, facts)
        return self._attributes[module]

    def _find_attributes(self, module: str, facts: FileFacts) -> dict[str, set[str]]:
        generated = self.targets.generated_name(module)
        modules = self.targets.model.symbols.modules
        found: dict[str, set[str]] = {}
        for text in (facts.text, modules[generated].text if generated in modules else ""):
            for name, value in _ATTRIBUTE.findall(text) if "self." in text else ():
                made = self._made.get(value)
                if made is None:
                    made = self._made[value] = tuple(self._classes_in(value))
                if made:
                    found.setdefault(name, set()).update(made)
        return found

    def _classes_in(self, value: str) -> Iterator[str]:
        for made in _MADE.findall(value):
            last = made[made.rfind(".") + 1 :]
            if last in self._instances:
                yield last

    def _is_suspect(self, module: str, facts: FileFacts) -> bool:
        text = facts.text
        position, line = 0, 1
        for offset, name, given in self._doubts(module, facts):
            line += text.count("\n", position, offset)
            position = offset
            if name.root == _SUPER and not self._has_known_base(module, facts, line):
                continue
            at = line if self.is_by_place(module, facts, name.root) else 0
            reached = self.reached(module, facts, name.whole, at)
            if not reached:
                continue
            if given is None:
                given = arguments_at(text, offset + len(name.whole))  # noqa: PLW2901 - not needed until here
            if (
                any(_fails(one, given) for one in reached)
                and self._is_code(module, facts, name.whole, line)
                and not self._is_overridden(_site(module, facts, self._scope_at(module, facts, at), name.whole), given)
            ):
                return True
        return False

    def _has_known_base(self, module: str, facts: FileFacts, line: int) -> bool:
        """Whether ``super()`` on a line may be a class of the project."""
        scope = facts.scopes[self._scope_at(module, facts, line)]
        owner = facts.scopes[scope.parent]
        if scope.kind != "function" or owner.kind != "class":
            return True
        root = owner.bases[0].partition(".")[0] if owner.bases else ""
        return bool(root) and self._is_root_of_project(module, facts, root)

    def _doubts(self, module: str, facts: FileFacts) -> Iterator[tuple[int, CalledName, Arguments | None]]:
        """The calls whose arguments some definition of the name does not take, or may not."""
        text = facts.text
        for offset, name in self.of_project(module, facts):
            if name.root == _SUPER:
                yield offset, name, None
                continue
            given = arguments_at(text, offset + len(name.whole))
            if given is not None:
                classes = self._attributes_of(module, facts).get(name.last) if name.root == "self" else None
                if classes:
                    if all(self._instances.certainly_fit(one, given) for one in classes):
                        continue
                elif self._defined.certainly_fit(name.last, given):
                    continue
            yield offset, name, given

    def _scope_at(self, module: str, facts: FileFacts, line: int) -> int:
        """The innermost function or class whose lines hold a line; 0 for none."""
        starts = self._scopes.get(module)
        if starts is None:
            starts = self._scopes[module] = sorted(
                (one.span[0], one.index, one.span[2]) for one in facts.scopes if one.index and one.kind != "lambda"
            )
        at = bisect_right(starts, (line, len(facts.scopes), 0))
        while at and starts[at - 1][2] < line:
            at -= 1
        return starts[at - 1][1] if at else 0

    def _is_overridden(self, site: CallSite, given: Arguments | None) -> bool:
        return given is not None and any(
            known is None or not binding_problem(known.signature, given) for known in self.targets.overrides(site)
        )

    def _is_code(self, module: str, facts: FileFacts, name: str, line: int) -> bool:
        """Whether a call stands in code, not in a comment or a string; the strings of a patch config may hold code."""
        if facts.embedded:
            return True
        holder = facts.scopes[self._scope_at(module, facts, line)]
        while holder.kind == "class":
            holder = facts.scopes[holder.parent]
        statements = statements_of(facts, holder) if holder.index else facts.tree.body if facts.tree is not None else ()
        return any(
            isinstance(node, ast.Call) and node.lineno == line and (name.startswith(SUPER) or dotted(node.func) == name)
            for statement in statements
            if statement.lineno <= line <= (statement.end_lineno or line) or hasattr(statement, "decorator_list")
            for node in ast.walk(statement)
        )


def _site(module: str, facts: FileFacts, scope: int, name: str) -> CallSite:
    return CallSite(module, facts, Call(scope, name, (0, 0, 0, 0), TRUE, 0, False, (), False, 0, False, False), False)


def _fails(one: Implementation, given: Arguments | None) -> bool:
    if given is None:
        return any(one.possible)
    return bool(one.possible) and all(
        known is not None and binding_problem(known.signature, given) for known in one.possible
    )
