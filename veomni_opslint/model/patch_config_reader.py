"""Reads patch configs: what the module-level statements of a config file do to the objects that they configure.

Statements whose effect cannot be known make the parts that they touch unknown; nothing is guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.scope_state import names_assigned, span_of
from veomni_opslint.facts import EmbeddedBlock, FileFacts, Span
from veomni_opslint.model.patch_values import (
    UNKNOWN,
    Config,
    Definition,
    Helper,
    ListOf,
    Patch,
    PatchKind,
    Requested,
    evaluate_expression,
)
from veomni_opslint.model.symbols import Symbols

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LISTS = {
    "patches": "code",
    "helpers": "code",
    "positioned_helpers": "code",
    "additional_imports": "imports",
    "drop_imported_names": "dropped",
    "exclude": "excluded",
}
_FIELDS = ("source_module", "target_file")
_MAX_ROUNDS = 200


class _Given(NamedTuple):
    """The arguments of a call by position and by name, and its place."""

    positional: list[ast.expr]
    named: dict[str, ast.expr]
    span: Span

    def get(self, index: int, name: str) -> ast.expr | None:
        return self.named.get(name, self.positional[index] if index < len(self.positional) else None)


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
        self._blocks = {block.call: block for block in facts.embedded}
        self._names: dict[str, object] = {}
        self._lists = {**_LISTS, dialect.post_import_blocks: "blocks"}
        self._methods: dict[str, Callable[[Config, _Given], None]] = {
            dialect.override_method: lambda config, given: self._patch(config, given, "method"),
            dialect.replace_function: lambda config, given: self._patch(config, given, "function"),
            dialect.replace_class: lambda config, given: self._patch(config, given, "class"),
            dialect.add_import: self._add_import,
            dialect.add_helper: lambda config, given: self._helper(config, given, given.get(0, "func"), None),
            dialect.add_helper_after: self._helper_after,
            dialect.post_import_block: self._add_block,
            dialect.drop_import_names: lambda config, given: self._texts(config, given, "dropped"),
            dialect.exclude_from_output: lambda config, given: self._texts(config, given, "excluded"),
        }

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
                self._set_attribute(self._names.get(owner), attribute, statement.value)
            case ast.AugAssign(target=ast.Attribute(value=ast.Name(id=owner), attr=attribute), op=ast.Add()):
                config = self._names.get(owner)
                if isinstance(config, Config):
                    self._extend(config, attribute, self._value(statement.value), statement.value)
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
                self._decorate(*found, _given(decorator), definition)

    def _decorate(self, config: Config, method: str, given: _Given, definition: Definition | None) -> None:
        """Apply a method of a config, called with its other arguments, to a definition."""
        kinds: dict[str, PatchKind] = {
            self._dialect.override_method: "method",
            self._dialect.replace_function: "function",
            self._dialect.replace_class: "class",
        }
        if method in kinds:
            self._add_patch(config, kinds[method], given, definition)
        elif method not in (self._dialect.add_helper, self._dialect.add_helper_after):
            return
        elif definition is None:
            config.unknown.add("code")
        else:
            after = self._text(given.get(0, "target")) if method == self._dialect.add_helper_after else None
            config.helpers.append(Helper(definition, (self._facts.path, given.span), after))

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
                self._decorate(*found, _given(function), value if isinstance(value, Definition) else None)
            return found is not None
        if not isinstance(function, ast.Attribute) or any(isinstance(one, ast.Starred) for one in call.args):
            return False
        if any(keyword.arg is None for keyword in call.keywords):
            return False
        match function.value:
            case ast.Name(id=owner):
                config = self._names.get(owner)
                if isinstance(config, Config) and function.attr in self._methods:
                    self._methods[function.attr](config, _given(call))
                    return True
            case ast.Attribute(value=ast.Name(id=owner), attr=attribute):
                config = self._names.get(owner)
                known = attribute in self._lists and function.attr in ("append", "extend", "update", "add")
                if isinstance(config, Config) and known and len(call.args) == 1:
                    value = self._value(call.args[0])
                    self._extend(config, attribute, [value] if function.attr in ("append", "add") else value, call)
                    return True
        return False

    def _extend(self, config: Config, attribute: str, value: object, node: ast.expr) -> None:
        """Add to one of the lists of a config."""
        part = self._lists.get(attribute)
        if part is None:
            return
        if isinstance(value, ListOf):
            if value.attribute == attribute:
                _take_over(config, value, part)
                return
        elif isinstance(value, list | tuple | set | frozenset):
            if part in ("dropped", "excluded") and all(isinstance(one, str) for one in value):
                (config.dropped if part == "dropped" else config.excluded).extend(value)
                return
            if attribute == "helpers" and all(isinstance(one, Definition) for one in value):
                origin = (self._facts.path, span_of(node))
                config.helpers.extend(Helper(one, origin, None) for one in value if isinstance(one, Definition))
                return
            if attribute == "patches" and all(isinstance(one, Patch) for one in value):
                config.patches.extend(one for one in value if isinstance(one, Patch))
                return
        config.unknown.add(part)

    def _patch(self, config: Config, given: _Given, kind: PatchKind) -> None:
        replacement = given.get(1, "replacement")
        if replacement is None:
            config.unknown.add("code")
            return
        value = self._value(replacement)
        self._add_patch(config, kind, given, value if isinstance(value, Definition) else None)

    def _add_patch(self, config: Config, kind: PatchKind, given: _Given, definition: Definition | None) -> None:
        first = next((node for key, node in given.named.items() if key.startswith("target")), given.get(0, "target"))
        target = self._value(first) if first is not None else UNKNOWN
        written = given.get(2, "name_map")
        name_map = self._value(written) if written is not None else {}
        if not isinstance(target, str):
            config.unknown.add("code")
            return
        if name_map is None:
            name_map = {}
        if not isinstance(name_map, dict) or not all(isinstance(one, str) for one in name_map.values()):
            definition, name_map = None, {}
        config.patches.append(Patch(kind, target, definition, tuple(name_map.items()), (self._facts.path, given.span)))

    def _add_import(self, config: Config, given: _Given) -> None:
        module = self._text(given.get(0, "module"))
        names_node, alias_node, from_node = given.get(1, "names"), given.get(2, "alias"), given.get(3, "is_from_import")
        names = self._value(names_node) if names_node is not None else None
        alias = self._value(alias_node) if alias_node is not None else None
        is_from = self._value(from_node) if from_node is not None else True
        if not module or not isinstance(is_from, bool) or not (alias is None or isinstance(alias, str)):
            config.unknown.add("imports")
        elif not is_from:
            origin = (self._facts.path, given.span)
            config.imports.append(Requested(module, "", alias or module.partition(".")[0], origin))
        elif names is None or names == []:
            config.imports.append(Requested(module, "*", "*", (self._facts.path, given.span)))
        elif isinstance(names, list | tuple) and all(isinstance(one, str) for one in names):
            nodes = getattr(names_node, "elts", None)
            for index, name in enumerate(names):
                plain, _, bound = name.partition(" as ")
                origin = (self._facts.path, span_of(nodes[index]) if nodes else given.span)
                config.imports.append(Requested(module, plain.strip(), (bound or plain).strip(), origin))
        else:
            config.unknown.add("imports")

    def _helper_after(self, config: Config, given: _Given) -> None:
        self._helper(config, given, given.get(1, "helper"), self._text(given.get(0, "target")))

    def _helper(self, config: Config, given: _Given, node: ast.expr | None, after: str | None) -> None:
        value = self._value(node) if node is not None else UNKNOWN
        if isinstance(value, Definition):
            config.helpers.append(Helper(value, (self._facts.path, given.span), after))
        else:
            config.unknown.add("code")

    def _add_block(self, config: Config, given: _Given) -> None:
        block: EmbeddedBlock | None = self._blocks.get(given.span)
        if block is None or block.facts is None:
            config.unknown.add("blocks")
        else:
            config.blocks.append((self._facts.path, block))

    def _texts(self, config: Config, given: _Given, part: str) -> None:
        values = [self._value(node) for node in given.positional]
        known = [value for value in values if isinstance(value, str)]
        (config.dropped if part == "dropped" else config.excluded).extend(known)
        if len(known) < len(values):
            config.unknown.add(part)

    def _set_attribute(self, config: object, attribute: str, node: ast.expr) -> None:
        if not isinstance(config, Config):
            return
        if attribute in _FIELDS:
            value = self._value(node)
            setattr(config, attribute, value if isinstance(value, str) else "")
        elif attribute in self._lists:
            config.unknown.add(self._lists[attribute])

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

    def _text(self, node: ast.expr | None) -> str:
        value = self._value(node) if node is not None else UNKNOWN
        return value if isinstance(value, str) else ""

    def _value(self, node: ast.expr) -> object:
        return evaluate_expression(node, self._names, self._dialect, (self._module, self._facts.path))


def _given(node: ast.expr) -> _Given:
    """The arguments of a call; none for a decorator without brackets."""
    if not isinstance(node, ast.Call):
        return _Given([], {}, span_of(node))
    named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    return _Given(node.args, named, span_of(node))


def _take_over(config: Config, value: ListOf, part: str) -> None:
    """Extend a list of *config* by the same list of another."""
    other = value.config
    if part in other.unknown or (value.keep is not None and value.attribute != "helpers"):
        config.unknown.add(part)
    if value.attribute == "patches":
        config.patches.extend(other.patches)
    elif part == "code":
        positioned = value.attribute == "positioned_helpers"
        config.helpers.extend(
            one
            for one in other.helpers
            if (one.after is not None) is positioned
            and (value.keep is None or (one.definition.node.name in value.keep.names) is value.keep.kept)
        )
    elif part == "imports":
        config.imports.extend(other.imports)
    elif part == "blocks":
        config.blocks.extend(other.blocks)
    else:
        own, theirs = (config.dropped, other.dropped) if part == "dropped" else (config.excluded, other.excluded)
        own.extend(theirs)
