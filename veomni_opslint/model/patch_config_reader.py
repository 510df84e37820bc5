"""Reads patch configs: what the module-level statements of a config file do to the objects that they configure.

Statements whose effect cannot be known make the parts that they touch unknown; nothing is guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.scope_state import names_assigned, span_of
from veomni_opslint.facts import FileFacts
from veomni_opslint.model.patch_config_calls import ConfigCalls, given_in
from veomni_opslint.model.patch_values import UNKNOWN, Config, Definition, evaluate_expression
from veomni_opslint.model.symbols import Symbols

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MAX_ROUNDS = 200


class PatchConfigReader:
    """Reads each module once; what one module takes from another is read there."""

    def __init__(self, symbols: Symbols, dialect: Dialect) -> None:
        self._symbols = symbols
        self._dialect = dialect
        self._read: dict[str, dict[str, object]] = {}

    def names(self, module: str) -> Mapping[str, object]:
        """The values of the module-level names of *module* at its end; names without a known value are UNKNOWN."""
        if module not in self._read:
            self._read[module] = {}
            facts = self._symbols.modules[module]
            if facts.tree is not None:
                self._read[module] = _ModuleReader(self, self._symbols, self._dialect, module, facts).run()
        return self._read[module]


class _ModuleReader:
    def __init__(
        self, reader: PatchConfigReader, symbols: Symbols, dialect: Dialect, module: str, facts: FileFacts
    ) -> None:
        self._reader = reader
        self._symbols = symbols
        self._dialect = dialect
        self._module = module
        self._facts = facts
        self._names: dict[str, object] = {}
        self._calls = ConfigCalls(facts, dialect, self._value)

    def run(self) -> dict[str, object]:
        for statement in self._facts.tree.body if self._facts.tree is not None else ():
            try:
                self._statement(statement)
            except RecursionError:
                # Nested too deeply to be read, and so is what it does to the configs before it.
                return {}
        return self._names

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import() | ast.ImportFrom():
                self._import(statement)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._definition(statement)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                self._names[name] = self._value(statement.value) if statement.value is not None else UNKNOWN
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=owner), attr=attribute)]):
                self._calls.set_attribute(self._names.get(owner), attribute, statement.value)
            case ast.AugAssign(target=ast.Attribute(value=ast.Name(id=owner), attr=attribute), op=ast.Add()):
                config = self._names.get(owner)
                if isinstance(config, Config):
                    self._calls.extend(config, attribute, self._value(statement.value), statement.value)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=ast.Call() as call) if self._call(call):
                pass
            case ast.For() if self._loop(statement):
                pass
            case _:
                self._not_understood(statement)

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for imported in self._facts.imports:
            if imported.scope or imported.span != span_of(statement):
                continue
            source = self._symbols.absolute(self._module, imported)
            if imported.how == "import":
                self._names[imported.bound] = UNKNOWN
            for name in imported.names:
                self._names[name.bound] = self._imported(source, name.name)

    def _imported(self, source: str, name: str) -> object:
        facts = self._symbols.modules.get(source)
        if facts is None:
            return UNKNOWN
        if source.endswith(self._dialect.patch_config_suffix):
            value = self._reader.names(source).get(name, UNKNOWN)
            return value.taken_by(self._module) if isinstance(value, Config) else value
        for target in self._symbols.attribute(source, name):
            if target.kind == "scope" and not target.rest:
                return self._definition_at(target.module, target.scope)
            if target.kind == "value":
                literal = self._symbols.literal(target)
                return literal if literal is not None else UNKNOWN
        return UNKNOWN

    def _definition_at(self, module: str, scope: int) -> object:
        facts = self._symbols.modules[module]
        span = facts.scopes[scope].span
        for node in facts.tree.body if facts.tree is not None else ():
            if isinstance(node, _DEFINITIONS) and span_of(node) == span:
                return Definition(module, facts.path, node, tuple(node.decorator_list))
        return UNKNOWN

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        calls = [(one, self._decorating(one)) for one in node.decorator_list]
        own = tuple(one for one, config in calls if config is None)
        definition = Definition(self._module, self._facts.path, node, own)
        self._names[node.name] = definition
        for decorator, found in reversed(calls):
            if found is not None:
                self._calls.decorate(*found, given_in(decorator), definition)

    def _decorating(self, node: ast.expr) -> tuple[Config, str] | None:
        function = node.func if isinstance(node, ast.Call) else node
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            config = self._names.get(function.value.id)
            if isinstance(config, Config):
                return config, function.attr
        return None

    def _call(self, call: ast.Call) -> bool:
        """Do what a statement that is a call does; False when it is not one that is known."""
        function = call.func
        if isinstance(function, ast.Call) and len(call.args) == 1 and not call.keywords:
            # What a decorator does, written as a call.
            found = self._decorating(function)
            value = self._value(call.args[0])
            if found is not None:
                self._calls.decorate(*found, given_in(function), value if isinstance(value, Definition) else None)
            return found is not None
        if not isinstance(function, ast.Attribute) or any(isinstance(one, ast.Starred) for one in call.args):
            return False
        if any(keyword.arg is None for keyword in call.keywords):
            return False
        match function.value:
            case ast.Name(id=owner):
                config = self._names.get(owner)
                return isinstance(config, Config) and self._calls.apply(config, function.attr, given_in(call))
            case ast.Attribute(value=ast.Name(id=owner), attr=attribute):
                config = self._names.get(owner)
                known = self._calls.has_list(attribute) and function.attr in ("append", "extend", "update", "add")
                if isinstance(config, Config) and known and len(call.args) == 1:
                    value = self._value(call.args[0])
                    added = [value] if function.attr in ("append", "add") else value
                    self._calls.extend(config, attribute, added, call)
                    return True
        return False

    def _loop(self, statement: ast.For) -> bool:
        """Run a loop over known values; False when it is not of that kind."""
        values = self._value(statement.iter)
        names = [one.id for one in ast.walk(statement.target) if isinstance(one, ast.Name)]
        if not isinstance(values, list | tuple) or len(values) > _MAX_ROUNDS or statement.orelse or not names:
            return False
        if any(isinstance(one, ast.Break | ast.Continue | ast.If | ast.Try) for one in ast.walk(statement)):
            return False
        for value in values:
            if isinstance(statement.target, ast.Name):
                self._names[statement.target.id] = value
            elif isinstance(value, list | tuple) and len(value) == len(names):
                self._names.update(zip(names, value, strict=True))
            else:
                return False
            for one in statement.body:
                self._statement(one)
        return True

    def _not_understood(self, statement: ast.stmt) -> None:
        for node in ast.walk(statement):
            config = self._names.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(config, Config):
                config.unknown.update(("code", "imports", "blocks", "dropped", "excluded"))
        for name in names_assigned([statement]):
            self._names[name] = UNKNOWN

    def _value(self, node: ast.expr) -> object:
        return evaluate_expression(node, self._names, self._dialect, (self._module, self._facts.path))
