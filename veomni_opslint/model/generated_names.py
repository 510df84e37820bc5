"""What names stand for in the module that a patch config generates, as the config says and as the module is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Import
from veomni_opslint.model.patch_imports import PatchConfigImports
from veomni_opslint.model.symbols import Symbols, Target


class Patch(NamedTuple):
    """A definition of a patch config that takes the place of ``target`` in the generated module."""

    target: str
    scope: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GeneratedNames:
    """Answers for the patch configs of a project, by their module names.

    ``slots`` are modules and names of slots, ``requested`` the imports that each config asks for.
    """

    symbols: Symbols
    slots: frozenset[tuple[str, str]]
    requested: Mapping[str, PatchConfigImports]
    dialect: Dialect
    _patches: dict[str, tuple[Patch, ...]] = field(default_factory=dict, repr=False)

    def module(self, config: str) -> str:
        """The module that a patch config generates; empty for another module."""
        return self.requested[config].generated if config in self.requested else ""

    def of(self, config: str) -> set[str]:
        """Names that a patch config gives its generated module."""
        names = {patch.target for patch in self._patches_of(config)}
        for imported in self._imports_of(config):
            names.update(one.bound for one in imported.names)
        names.update(name for module, name in self.slots if module == config)
        generated = self.module(config)
        if generated in self.symbols.modules:
            names.update(self.symbols.bindings(generated))
        return names

    def targets(self, config: str, name: str) -> tuple[Target, ...]:
        """What a dotted name stands for."""
        root, _, rest = name.partition(".")
        for patch in self._patches_of(config):
            if patch.target == root and not rest:
                return (Target("scope", config, root, patch.scope),)
        if (config, root) in self.slots and not rest:
            return (Target("value", config, root),)
        for imported in self._imports_of(config):
            if binds(imported, root):
                return self.imported(config, imported, name)
        for module in (self.module(config), config):
            if module in self.symbols.modules:
                found = self.symbols.resolve(module, 0, name)
                if found:
                    return found
        return ()

    def imported(self, config: str, imported: Import, name: str) -> tuple[Target, ...]:
        """What a dotted name stands for whose root an import of the generated module binds."""
        root, _, rest = name.partition(".")
        source = self.symbols.absolute(self.module(config), imported)
        if imported.how != "from" or not source or not self.symbols.is_project(source):
            return ()
        attribute = next(one.name for one in imported.names if one.bound == root)
        found = self.symbols.attribute(source, attribute)
        if not rest:
            return found
        if len(found) == 1 and found[0].kind == "module":
            return self.symbols.resolve(found[0].module, 0, rest)
        return ()

    def patch_around(self, config: str, facts: FileFacts, scope: int) -> Patch | None:
        """The patch that a scope is in."""
        patches = {one.scope: one for one in self._patches_of(config)}
        while scope > 0 and patches:
            if scope in patches:
                return patches[scope]
            scope = facts.scopes[scope].parent
        return None

    def _patches_of(self, module: str) -> tuple[Patch, ...]:
        if module not in self._patches:
            is_config = module.rpartition(".")[2].endswith(self.dialect.patch_config_suffix)
            self._patches[module] = (
                tuple(_find_patches(self.symbols.modules[module], self.dialect)) if is_config else ()
            )
        return self._patches[module]

    def _imports_of(self, config: str) -> tuple[Import, ...]:
        return self.requested[config].imports if config in self.requested else ()


def binds(imported: Import, root: str) -> bool:
    """Whether an import binds a name."""
    return imported.bound == root or any(one.bound == root for one in imported.names)


def _find_patches(facts: FileFacts, dialect: Dialect) -> Iterator[Patch]:
    """The decorated definitions of a config, and those that a call gives as ``replacement=``."""
    helpers = (dialect.add_helper, dialect.add_helper_after)
    verbs = (dialect.override_method, dialect.replace_function, dialect.replace_class, *helpers)
    scopes = {one.span: one for one in facts.scopes if one.parent == 0}
    by_name = {one.name: one for one in scopes.values()}
    for node in facts.tree.body if facts.tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for decorator in node.decorator_list:
                call = decorator.func if isinstance(decorator, ast.Call) else decorator
                verb = dotted(call).rpartition(".")[2]
                if verb in verbs:
                    target = _first_text(decorator) if isinstance(decorator, ast.Call) else ""
                    is_own_name = verb in helpers or not target
                    yield Patch(node.name if is_own_name else target, scopes[span_of(node)].index)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            verb = dotted(node.value.func).rpartition(".")[2]
            given = [one.value for one in node.value.keywords if one.arg == "replacement"]
            name = given[0].id if given and isinstance(given[0], ast.Name) else ""
            if verb in verbs and name in by_name:
                yield Patch(_first_text(node.value), by_name[name].index)


def _first_text(call: ast.Call) -> str:
    first = call.args[0] if call.args else next((one.value for one in call.keywords if one.arg == "target"), None)
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
