"""Which modules have module-level code that may register something."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from veomni_opslint.dialect import Dialect
from veomni_opslint.facts import FileFacts

_EAGER_SIZE = 60
_FROM = re.compile(r"^[ \t]*from[ \t]+(\.*)[ \t]*([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Words:
    """Names whose use in a module may register something: those bound there, and attributes of modules."""

    bound: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()

    def union(self, other: Words) -> Words:
        """The names of both."""
        return Words(self.bound | other.bound, self.members | other.members)


@dataclass(slots=True)
class Roots:
    """The modules to run, in order of path, and for each module the names there whose use may register something."""

    names: list[str]
    words: Mapping[str, Words]


@dataclass(slots=True)
class _Module:
    name: str
    facts: FileFacts
    package: str
    words: Words = field(default_factory=Words)
    imports: list[tuple[str, str, str]] | None = None
    acts: bool = False


def find_roots(modules: Mapping[str, FileFacts], packages: frozenset[str], dialect: Dialect) -> Roots:
    """The modules whose module-level code names the registry, or something that does.

    A function whose body names the registry is such a thing too, because calling it registers; so is an alias.
    """
    states = {
        name: _Module(name, facts, name if name in packages else name.rpartition(".")[0])
        for name, facts in modules.items()
        if facts.tree is not None
    }
    methods = _registering_methods(states.values(), dialect)
    fresh = {("", name) for name in (dialect.registry, dialect.register_op, *methods)}
    known = set(fresh)
    holders: dict[str, list[_Module]] = {}
    while fresh:
        added: set[tuple[str, str]] = set()
        texts = sorted({name for _, name in fresh})
        for text in texts:
            if text not in holders:
                holders[text] = [state for state in states.values() if text in state.facts.text]
        for state in {state.name: state for text in texts for state in holders[text]}.values():
            words = state.words.union(_words_here(state, fresh))
            if words != state.words:
                state.words = words
                added |= _scan(state, dialect)
        fresh = added - known
        known |= fresh
    names = sorted((name for name, state in states.items() if state.acts), key=lambda name: modules[name].path)
    return Roots(names, {name: state.words for name, state in states.items() if state.words != Words()})


def eager_packages(roots: list[str], modules: Mapping[str, FileFacts]) -> frozenset[str]:
    """The packages whose modules run when they are imported, because the order matters there."""
    found = set()
    for root in roots:
        parts = root.split(".")
        package = ".".join(parts[:2]) if len(parts) > 2 else parts[0]
        size = sum(name.startswith(f"{package}.") for name in modules)
        found.add(package if len(parts) > 2 or size <= _EAGER_SIZE else root)
    return frozenset(found)


def names_any(nodes: Iterable[ast.AST], words: Words, dialect: Dialect) -> bool:
    """Whether the code uses one of *words* in a way that may register something.

    Of the registry's methods only those among *words* and the register method do.
    """
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if _names(node, words):
            return True
        # Reading the registry (``.resolve``, ``.list_available``) registers nothing.
        if isinstance(node, ast.Attribute) and _last(node.value) == dialect.registry:
            if node.attr == dialect.register_method:
                return True
            continue
        waiting.extend(ast.iter_child_nodes(node))
    return False


def _names(node: ast.AST, words: Words) -> bool:
    if isinstance(node, ast.Name):
        return node.id in words.bound
    if isinstance(node, ast.Attribute):
        return node.attr in words.members
    if isinstance(node, ast.Import | ast.ImportFrom):
        return any(alias.name in words.bound and alias.asname for alias in node.names)
    return False


def _registering_methods(states: Iterable[_Module], dialect: Dialect) -> set[str]:
    """The methods of the project's registry class, other than the register method, that call it."""
    calls = Words(members=frozenset((dialect.register_method,)))
    found = set()
    for state, method in _methods_of(states, dialect.registry_class):
        body = _body_of(state, method)
        if method.name != dialect.register_method and (body is None or names_any(body, calls, dialect)):
            found.add(method.name)
    return found


def _methods_of(states: Iterable[_Module], name: str) -> Iterator[tuple[_Module, ast.FunctionDef]]:
    for state in states:
        if f"class {name}" in state.facts.text and state.facts.tree is not None:
            for cls in state.facts.tree.body:
                if isinstance(cls, ast.ClassDef) and cls.name == name:
                    yield from ((state, method) for method in cls.body if isinstance(method, ast.FunctionDef))


def _body_of(state: _Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt] | None:
    try:
        return node.body or state.facts.function_body(node)
    except (SyntaxError, ValueError, RecursionError, MemoryError, IndexError):
        return None


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _words_here(state: _Module, fresh: set[tuple[str, str]]) -> Words:
    """The names in this module that stand for one of *fresh*."""
    seeds = {name for owner, name in fresh if not owner}
    bound = {name for owner, name in fresh if owner in {"", state.name} and name in state.facts.text}
    members = set(seeds)
    owners = {owner for owner, _ in fresh}
    for source, name, local in _imports_of(state):
        module = f"{source}.{name}" if name and source else source or name
        if (source, name) in fresh or name in seeds:
            bound.add(local)
        elif name == "*" and source in owners:
            bound.update(other for owner, other in fresh if owner == source)
        elif module in owners:
            members.update(other for owner, other in fresh if owner == module)
    return Words(frozenset(bound), frozenset(members))


def _imports_of(state: _Module) -> list[tuple[str, str, str]]:
    """Each import in the text, in any scope: source, name in it (empty for a plain import), name bound."""
    if state.imports is None:
        state.imports = list(_read_imports(state))
    return state.imports


def _read_imports(state: _Module) -> Iterator[tuple[str, str, str]]:
    for match in _FROM.finditer(state.facts.text):
        source = match[2]
        if match[1]:
            parts = state.package.split(".")
            base = parts[: len(parts) - len(match[1]) + 1]
            source = ".".join([*base, source] if source else base)
        names = re.sub(r"#[^\n]*", "", match[3]).strip("()")
        for item in names.split(","):
            words = item.split()
            if words:
                yield source, words[0], words[2] if len(words) > 2 else words[0]
    for match in _IMPORT.finditer(state.facts.text):
        for item in match[1].partition("#")[0].split(","):
            words = item.split()
            if words:
                yield words[0], "", words[-1]


def _scan(state: _Module, dialect: Dialect) -> set[tuple[str, str]]:
    while True:
        scan = _Scan(state, _lines_of(state.facts.text, state.words.bound | state.words.members), dialect)
        scan.statements(state.facts.tree.body if state.facts.tree is not None else [])
        state.acts = state.acts or scan.acts
        if scan.names <= state.words.bound:
            return {(state.name, name) for name in scan.names}
        state.words = state.words.union(Words(frozenset(scan.names)))


class _Scan:
    """One pass over the module-level statements of a module in which some names are of interest."""

    def __init__(self, state: _Module, lines: list[int], dialect: Dialect) -> None:
        self._state = state
        self._dialect = dialect
        self._lines = lines
        self.names: set[str] = set()
        self.acts = False

    def statements(self, body: list[ast.stmt]) -> None:
        """Find out what the statements do with the names, and which new names stand for them."""
        for statement in body:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self._import(statement)
            elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self._definition(statement)
            elif isinstance(statement, ast.ClassDef):
                self._class(statement)
            elif isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
                self._compound(statement)
            elif self._uses(statement):
                self.acts = True
                self.names.update(_targets(statement))

    def _uses(self, node: ast.AST) -> bool:
        start, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
        return self._near(start, end) and names_any([node], self._state.words, self._dialect)

    def _near(self, start: int, end: int) -> bool:
        index = bisect_left(self._lines, start)
        return index < len(self._lines) and self._lines[index] <= end

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        bound = {alias.asname or alias.name for alias in node.names}
        self.names.update(bound & self._state.words.bound)
        if any(alias.name == "*" for alias in node.names):
            self.names.update(self._state.words.bound)

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if any(map(self._uses, (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)))):
            self.acts = True
            self.names.add(node.name)
        if self._near(node.lineno, node.end_lineno or 0):
            body = _body_of(self._state, node)
            if body is None or names_any(body, self._state.words, self._dialect):
                self.names.add(node.name)

    def _class(self, node: ast.ClassDef) -> None:
        if any(map(self._uses, (*node.decorator_list, *node.bases, *node.keywords))):
            self.acts = True
            self.names.add(node.name)
        inner = _Scan(self._state, self._lines, self._dialect)
        inner.statements(node.body)
        self.acts = self.acts or inner.acts
        if inner.names or inner.acts:
            self.names.add(node.name)

    def _compound(self, node: ast.If | ast.For | ast.While | ast.With | ast.Try) -> None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.stmt | ast.excepthandler) and self._uses(child):
                self.acts = True
                self.names.update(_targets(node))
        for name in ("body", "orelse", "finalbody"):
            self.statements(getattr(node, name, []))
        for handler in getattr(node, "handlers", ()):
            self.statements(handler.body)


def _lines_of(text: str, words: frozenset[str]) -> list[int]:
    """The numbers of the lines that contain one of the words, in order."""
    offsets = []
    for word in words:
        found = text.find(word)
        while found >= 0:
            offsets.append(found)
            found = text.find(word, found + len(word))
    lines, position, line = [], 0, 1
    for offset in sorted(offsets):
        line += text.count("\n", position, offset)
        position = offset
        lines.append(line)
    return lines


def _targets(statement: ast.AST) -> Iterator[str]:
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    for target in targets:
        for node in ast.walk(target) if target is not None else ():
            if isinstance(node, ast.Name):
                yield node.id
