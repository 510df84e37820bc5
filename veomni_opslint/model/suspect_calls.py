"""Calls that may not bind, told from texts and shallow facts, so that only the modules with one are walked in depth."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from veomni_opslint.conditions import TRUE
from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import Binding, Call, FileFacts, statements_of
from veomni_opslint.model.call_binding import Arguments, binding_problem
from veomni_opslint.model.call_targets import SUPER, CallSite, CallTargets
from veomni_opslint.model.call_texts import calls_in
from veomni_opslint.model.implementations import Implementation
from veomni_opslint.model.symbols import Symbols

_CALLED = ("__call__", "forward")
_ATTRIBUTE = re.compile(r"self\.(\w+)(?:: [^=\n]+)? = ([^\n]+)")
_MADE = re.compile(r"([\w.]+)\(")


class _Names(NamedTuple):
    anywhere: set[str]
    by_scope: set[str]


@dataclass(frozen=True)
class SuspectCalls:
    """Looks at every call of a name that some definition, slot or pointer of the project has."""

    targets: CallTargets
    _defined: dict[str, list[ast.arguments | None]] = field(default_factory=dict, repr=False)
    _instances: dict[str, list[ast.arguments | None]] = field(default_factory=dict, repr=False)
    _verdicts: dict[tuple[str, Arguments], bool] = field(default_factory=dict, repr=False)
    _attributes: dict[str, dict[str, list[ast.arguments | None]]] = field(default_factory=dict, repr=False)
    _reached: dict[tuple[str, int, str], list[Implementation]] = field(default_factory=dict, repr=False)

    def modules(self) -> Iterator[str]:
        """Modules with a call that does not bind, as far as shallow facts tell."""
        for module, facts in self.targets.model.symbols.modules.items():
            if facts.problem is None and any(True for _ in self._calls(module, facts)):
                yield module

    def __post_init__(self) -> None:
        modules = self.targets.model.symbols.modules
        aliases: dict[str, set[str]] = {}
        for facts in modules.values():
            for scope in facts.scopes:
                if scope.kind == "function":
                    self._defined.setdefault(scope.name, []).append(scope.arguments)
                    if scope.name in _CALLED:
                        self._instances.setdefault(facts.scopes[scope.parent].name, []).append(scope.arguments)
                    if scope.name == "__init__":
                        self._defined.setdefault(facts.scopes[scope.parent].name, []).append(scope.arguments)
                elif scope.kind == "class":
                    self._defined.setdefault(scope.name, []).append(None)
            for imported in facts.imports:
                for name in imported.names:
                    if name.bound != name.name:
                        aliases.setdefault(name.bound, set()).add(name.name)
        for slot_name in (*self.targets.slots, *self.targets.pointers):
            self._defined.setdefault(slot_name[1], []).append(None)
        for bound, names in aliases.items():
            if any(name in self._defined for name in names):
                self._defined.setdefault(bound, []).append(None)

    def _calls(self, module: str, facts: FileFacts) -> Iterator[str]:
        names = self._names(module, facts)
        attributes = self.attributes(module, facts)
        position, line = len(facts.text), 0

        def is_wanted(name: str) -> bool:
            root, last = name[: name.find(".")] if "." in name else name, name[name.rfind(".") + 1 :]
            return (root in names.anywhere or root in names.by_scope) and (last in self._defined or last in attributes)

        for name, given, offset in calls_in(facts.text, is_wanted):
            last = name[name.rfind(".") + 1 :]
            if last in attributes and name == f"self.{last}" and given is not None:
                if all(one is not None and _binds(one, given) for one in attributes[last]):
                    continue
            elif self._always_binds(last, given):
                continue
            by_scope = name.partition(".")[0] in names.by_scope
            line = line or facts.text.count("\n") + 1
            # Calls come from the last to the first.
            line -= facts.text.count("\n", offset, position)
            position = offset
            site = shallow_site(module, facts, name, line if by_scope else 0)
            failing = any(self._fails(one, given) for one in self._implementations(site))
            if failing and _is_code(facts, name, line) and not self._overridden(site, given):
                yield name

    def attributes(self, module: str, facts: FileFacts) -> dict[str, list[ast.arguments | None]]:
        """What objects of classes take that a file assigns to attributes of ``self``."""
        if module not in self._attributes:
            self._attributes[module] = self._find_attributes(module, facts)
        return self._attributes[module]

    def _find_attributes(self, module: str, facts: FileFacts) -> dict[str, list[ast.arguments | None]]:
        generated = self.targets.generated_name(module)
        modules = self.targets.model.symbols.modules
        found: dict[str, list[ast.arguments | None]] = {}
        for text in (facts.text, modules[generated].text if generated in modules else ""):
            for name, value in _ATTRIBUTE.findall(text) if "self." in text else ():
                for made in _MADE.findall(value):
                    last = made[made.rfind(".") + 1 :]
                    if last in self._instances:
                        found.setdefault(name, []).extend(self._instances[last])
                    elif last == self.targets.model.dialect.slot_kernel:
                        found.setdefault(name, []).append(None)
        return found

    def _names(self, module: str, facts: FileFacts) -> _Names:
        """First parts of dotted names that may stand for something of the project."""
        local = {one.bound for imported in facts.imports if imported.scope for one in imported.names}
        local.update(imported.bound for imported in facts.imports if imported.scope)
        local.update(scope.name for scope in facts.scopes if scope.parent > 0)
        generated = self.targets.generated_names(module)
        symbols = self.targets.model.symbols
        anywhere = {
            name
            for name, bindings in symbols.bindings(module).items()
            if any(one.kind != "import" or _may_be_of_project(symbols, facts, one) for one in bindings)
        }
        if generated:
            local |= anywhere | generated
        return _Names(anywhere | generated, {"self", "cls", SUPER.rstrip("."), *local})

    def _always_binds(self, last: str, given: Arguments | None) -> bool:
        if given is None:
            return False
        key = (last, given)
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._verdicts[key] = all(
                one is not None and _binds(one, given) for one in self._defined.get(last, ())
            )
        return verdict

    def _implementations(self, site: CallSite) -> list[Implementation]:
        key = (site.module, site.call.scope, site.call.name)
        found = self._reached.get(key)
        if found is None:
            found = self._reached[key] = self.targets.reached(site)
        return found

    def _overridden(self, site: CallSite, given: Arguments | None) -> bool:
        return given is not None and any(
            known is None or not binding_problem(known.signature, given) for known in self.targets.overrides(site)
        )

    def _fails(self, one: Implementation, given: Arguments | None) -> bool:
        if given is None:
            return any(one.possible)
        return bool(one.possible) and all(
            known is not None and binding_problem(known.signature, given) for known in one.possible
        )


def _may_be_of_project(symbols: Symbols, facts: FileFacts, binding: Binding) -> bool:
    imported = facts.imports[binding.import_index]
    return imported.level > 0 or symbols.is_project(imported.module)


def shallow_site(module: str, facts: FileFacts, name: str, line: int) -> CallSite:
    """A call at a line of a file, as far as shallow facts know where that is; at module level for line 0."""
    scope = _scope_at(facts, line)
    return CallSite(module, facts, Call(scope, name, (0, 0, 0, 0), TRUE, 0, False, (), False, 0, False, False), False)


def _is_code(facts: FileFacts, name: str, line: int) -> bool:
    """Whether a call stands in code, not in a comment or a string; the strings of a patch config may hold code."""
    if facts.embedded:
        return True
    holder = facts.scopes[_scope_at(facts, line)]
    while holder.kind == "class":
        holder = facts.scopes[holder.parent]
    statements = statements_of(facts, holder) if holder.index else facts.tree.body if facts.tree is not None else ()
    return any(
        isinstance(node, ast.Call) and node.lineno == line and (name.startswith(SUPER) or dotted(node.func) == name)
        for statement in statements
        if statement.lineno <= line <= (statement.end_lineno or line) or hasattr(statement, "decorator_list")
        for node in ast.walk(statement)
    )


def _binds(arguments: ast.arguments, given: Arguments) -> bool:
    """Whether a call binds to a function, also as a method of an object, without a doubt."""
    names = [one.arg for one in arguments.args]
    places = len(arguments.posonlyargs) + len(names)
    first = 1 if names[:1] in (["self"], ["cls"], ["ctx"]) else 0
    total = first + given.positional
    if total > places and arguments.vararg is None:
        return False
    left = names[max(total - len(arguments.posonlyargs), 0) :]
    keyword_only = [one.arg for one in arguments.kwonlyargs]
    if arguments.kwarg is None and not all(name in left or name in keyword_only for name in given.keywords):
        return False
    required = left[: len(left) - min(len(arguments.defaults), len(left))]
    required += [name for name, value in zip(keyword_only, arguments.kw_defaults, strict=True) if value is None]
    return all(name in given.keywords for name in required)


def _scope_at(facts: FileFacts, line: int) -> int:
    """The innermost function or class whose lines hold a line."""
    best, start = 0, 0
    for scope in facts.scopes:
        span = scope.span
        if span[0] <= line <= span[2] and span[0] >= start and scope.kind != "lambda":
            best, start = scope.index, span[0]
    return best
