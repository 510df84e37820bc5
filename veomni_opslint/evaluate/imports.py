"""Import statements, and the modules of the project, each of which runs once."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from veomni_opslint.evaluate.cells import UNBOUND, Cell, Value, unknown
from veomni_opslint.evaluate.frames import Frame, Module
from veomni_opslint.evaluate.handlers import Handlers
from veomni_opslint.evaluate.limits import MAX_STEPS, GivenUp
from veomni_opslint.evaluate.statements import RUNNERS
from veomni_opslint.evaluate.values import Lazy, ModuleRef


class Imports(Handlers):
    """Importing names and running modules.

    Modules of the packages in ``eager`` run when they are imported, as in Python; others when a name of theirs is
    used, because most of a project has nothing to do with what is registered.
    """

    eager: frozenset[str] = frozenset()

    def plain_import(self, node: ast.Import, frame: Frame) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            self._check_import(alias.name, frame.module.text(node))
            self.import_module(alias.name)
            name = alias.name if alias.asname else top
            value: Value = ModuleRef(name) if name in self.prefixes else self.outside(name)
            self.assign_name(alias.asname or top, value, frame)

    def from_import(self, node: ast.ImportFrom, frame: Frame) -> None:
        source = self._source_of(node, frame.module)
        if source == "__future__":
            return
        self._check_import(source, frame.module.text(node))
        inside = source in self.prefixes
        if inside:
            self.import_module(source)
        for alias in node.names:
            if alias.name == "*":
                self._star(source, frame)
                continue
            value: Value = self._imported(source, alias.name) if inside else self.outside(f"{source}.{alias.name}")
            self.assign_name(alias.asname or alias.name, value, frame)

    @staticmethod
    def _source_of(node: ast.ImportFrom, module: Module) -> str:
        if not node.level:
            return node.module or ""
        parts = module.package.split(".")
        base = parts[: len(parts) - node.level + 1]
        return ".".join([*base, node.module] if node.module else base)

    def _imported(self, source: str, name: str) -> Value:
        module = self.module(source)
        if f"{source}.{name}" in self.prefixes:
            self.import_module(f"{source}.{name}")
        if module is not None and module.state != "new":
            value = module.frame.names.attrs.get(name, UNBOUND)
            if value is not UNBOUND:
                return value
            if f"{source}.{name}" in self.prefixes:
                return ModuleRef(f"{source}.{name}")
        return Lazy(source, name)

    def _star(self, source: str, frame: Frame) -> None:
        module = self.load(source)
        if module is None:
            frame.module.external_stars.append(source)
            return
        frame.module.external_stars.extend(module.external_stars)
        public = module.frame.names.attrs.get("__all__", UNBOUND)
        names = [name for name in module.frame.names.attrs if not name.startswith("_")]
        if public is not UNBOUND:
            options = self.settled(public)
            names = [str(self.plain(name)) for name in self.certain(options[0][1])] if len(options) == 1 else names
        for name in names:
            self.assign_name(name, self._imported(source, name), frame)

    def _check_import(self, name: str, text: str) -> None:
        if self.catching and self.can_fail(name, set()):
            self.may_raise("ModuleNotFoundError", text, ("import", text))

    def can_fail(self, name: str, seen: set[str]) -> bool:
        """Whether importing the module may raise ImportError: it is, or imports, something outside the project."""
        if name.partition(".")[0] in sys.stdlib_module_names:
            return False
        if name not in self.prefixes:
            return True
        module = self.module(name)
        if module is None or name in seen:
            return False
        seen.add(name)
        tree = module.facts.tree
        return tree is not None and any(
            self.can_fail(source, seen)
            for node in _unguarded_imports(tree.body)
            for source in self._sources(node, module)
        )

    def _sources(self, node: ast.Import | ast.ImportFrom, module: Module) -> list[str]:
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        source = self._source_of(node, module)
        return [
            source,
            *(f"{source}.{alias.name}" for alias in node.names if f"{source}.{alias.name}" in self.prefixes),
        ]

    def import_named(self, name: str, text: str) -> Value:
        self._check_import(name, text)
        if name in self.prefixes:
            self.import_module(name)
            return ModuleRef(name)
        return self.outside(name)

    def import_module(self, name: str) -> None:
        """Run the module and its packages where importing has to run them at once."""
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            prefix = ".".join(parts[:end])
            if self._is_eager(prefix):
                self.load(prefix)

    def _is_eager(self, name: str) -> bool:
        return name in self.eager or any(
            name.startswith(package) and name[len(package) : len(package) + 1] == "." for package in self.eager
        )

    def load(self, name: str) -> Module | None:
        """The module, run if it has not been; None when the project has no such file, or it cannot be parsed."""
        module = self.module(name)
        if module is None or module.state != "new":
            return module
        module.state = "running"
        context = (self.path, self.pending, self.base, self.catching, self.dry, self.steps, self.nesting, self.calls)
        here, levels, watched = self.here, len(self.levels), self.watched
        self.watched = 0
        conditional, outer = self.conditional_load, self.running[-1] if self.running else None
        self.conditional_load = conditional or bool(self.path) or bool(self.dry)
        module.born = (Cell.mark(), 0)
        self.path, self.pending, self.base, self.catching, self.dry, self.steps = [], [], 0, [], 0, MAX_STEPS
        self.running.append(module)
        tree = module.facts.tree or ast.Module([], [])
        self.statements.append(tree)
        try:
            module.frame.names.attrs["__name__"] = name
            module.frame.names.attrs["__package__"] = module.package
            for exit_ in self.block(tree.body, module.frame):
                if exit_.kind == "raise" and exit_.origin is not None and name in self.words:
                    self.report_unresolved(
                        exit_.origin, module.frame, f"this code raises {exit_.value or 'an exception'}"
                    )
        except GivenUp as problem:
            module.lost = problem.reason
            if name in self.words:
                self.report_unresolved(self.statements[-1], module.frame, problem.reason)
        finally:
            del self.levels[levels:]
            self.statements.pop()
            self.running.pop()
            (self.path, self.pending, self.base, self.catching, self.dry, self.steps, self.nesting, self.calls) = (
                context
            )
            self.here, self.watched = here, watched
            module.state = "done"
            module.born = (module.born[0], Cell.mark())
            if outer is not None:
                outer.inner.append(module.born)
            self.conditional_load = conditional
            if not conditional and self.foreign:
                changes, self.foreign = self.foreign, []
                self.abandon(changes, f"changes when {name} is imported, which depends on a condition")
        return module

    def note_foreign(self, cell: Cell, key: str) -> None:
        if not self.running[-1].owns(cell):
            self.foreign.append((cell, key, None))

    def resolve(self, value: Value) -> Value:
        return self.module_attribute(value.module, value.name) if isinstance(value, Lazy) else value

    def module_attribute(self, module: str, name: str) -> Value:
        found = self.load(module)
        inner = f"{module}.{name}"
        if found is None:
            return ModuleRef(inner) if inner in self.prefixes else self.outside(inner)
        value = found.frame.names.attrs.get(name, UNBOUND)
        if isinstance(value, Lazy):
            if value in self.resolving:
                return unknown(f"is imported in a circle through {module}")
            self.resolving.append(value)
            try:
                value = found.frame.names.attrs[name] = self.resolve(value)
            finally:
                self.resolving.pop()
        if value is not UNBOUND:
            return self.prune(value)
        if inner in self.prefixes:
            return ModuleRef(inner)
        if found.external_stars:
            return self.outside(f"{found.external_stars[-1]}.{name}")
        if found.lost:
            return unknown(found.lost)
        if found.state == "running" and found is not self.running[-1]:
            return unknown(f"comes from {module}, which is still being imported")
        return unknown(f"comes from {module}, which has no {name}")


def _unguarded_imports(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If):
            yield from _unguarded_imports(statement.body)
            yield from _unguarded_imports(statement.orelse)
        elif isinstance(statement, ast.With):
            yield from _unguarded_imports(statement.body)


RUNNERS[ast.Import] = Imports.plain_import
RUNNERS[ast.ImportFrom] = Imports.from_import
