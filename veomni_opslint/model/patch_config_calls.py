"""What the methods and the lists of a patch config do to it, with arguments as far as they can be known."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import EmbeddedBlock, FileFacts, Span
from veomni_opslint.model.patch_values import UNKNOWN, Config, Definition, Helper, ListOf, Patch, PatchKind, Requested

_LISTS = {
    "patches": "code",
    "helpers": "code",
    "positioned_helpers": "code",
    "additional_imports": "imports",
    "drop_imported_names": "dropped",
    "exclude": "excluded",
}
_FIELDS = ("source_module", "target_file")


class Given(NamedTuple):
    """The arguments of a call by position and by name, and its place."""

    positional: list[ast.expr]
    named: dict[str, ast.expr]
    span: Span

    def get(self, index: int, name: str) -> ast.expr | None:
        return self.named.get(name, self.positional[index] if index < len(self.positional) else None)


def given_in(node: ast.expr) -> Given:
    """The arguments of a call; none for a decorator without brackets."""
    if not isinstance(node, ast.Call):
        return Given([], {}, span_of(node))
    named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    return Given(node.args, named, span_of(node))


class ConfigCalls:
    """Applies to configs what one file does to them; *value* evaluates an expression of that file."""

    def __init__(self, facts: FileFacts, dialect: Dialect, value: Callable[[ast.expr], object]) -> None:
        self._path = facts.path
        self._dialect = dialect
        self._value = value
        self._blocks = {block.call: block for block in facts.embedded}
        self._lists = {**_LISTS, dialect.post_import_blocks: "blocks"}
        self._methods: dict[str, Callable[[Config, Given], None]] = {
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

    def apply(self, config: Config, method: str, given: Given) -> bool:
        """Call a method of *config*; False when it is not one that is known."""
        if method not in self._methods:
            return False
        self._methods[method](config, given)
        return True

    def has_list(self, attribute: str) -> bool:
        """Whether configs have a list of that name."""
        return attribute in self._lists

    def decorate(self, config: Config, method: str, given: Given, definition: Definition | None) -> None:
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
            config.helpers.append(Helper(definition, (self._path, given.span), after))

    def extend(self, config: Config, attribute: str, value: object, node: ast.expr) -> None:
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
                origin = (self._path, span_of(node))
                config.helpers.extend(Helper(one, origin, None) for one in value if isinstance(one, Definition))
                return
            if attribute == "patches" and all(isinstance(one, Patch) for one in value):
                config.patches.extend(one for one in value if isinstance(one, Patch))
                return
        config.unknown.add(part)

    def _patch(self, config: Config, given: Given, kind: PatchKind) -> None:
        replacement = given.get(1, "replacement")
        if replacement is None:
            config.unknown.add("code")
            return
        value = self._value(replacement)
        self._add_patch(config, kind, given, value if isinstance(value, Definition) else None)

    def _add_patch(self, config: Config, kind: PatchKind, given: Given, definition: Definition | None) -> None:
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
        config.patches.append(Patch(kind, target, definition, tuple(name_map.items()), (self._path, given.span)))

    def _add_import(self, config: Config, given: Given) -> None:
        module = self._text(given.get(0, "module"))
        names_node, alias_node, from_node = given.get(1, "names"), given.get(2, "alias"), given.get(3, "is_from_import")
        names = self._value(names_node) if names_node is not None else None
        alias = self._value(alias_node) if alias_node is not None else None
        is_from = self._value(from_node) if from_node is not None else True
        if not module or not isinstance(is_from, bool) or not (alias is None or isinstance(alias, str)):
            config.unknown.add("imports")
        elif not is_from:
            origin = (self._path, given.span)
            config.imports.append(Requested(module, "", alias or module.partition(".")[0], origin))
        elif names is None or names == []:
            config.imports.append(Requested(module, "*", "*", (self._path, given.span)))
        elif isinstance(names, list | tuple) and all(isinstance(one, str) for one in names):
            nodes = getattr(names_node, "elts", None)
            for index, name in enumerate(names):
                plain, _, bound = name.partition(" as ")
                origin = (self._path, span_of(nodes[index]) if nodes else given.span)
                config.imports.append(Requested(module, plain.strip(), (bound or plain).strip(), origin))
        else:
            config.unknown.add("imports")

    def _helper_after(self, config: Config, given: Given) -> None:
        self._helper(config, given, given.get(1, "helper"), self._text(given.get(0, "target")))

    def _helper(self, config: Config, given: Given, node: ast.expr | None, after: str | None) -> None:
        value = self._value(node) if node is not None else UNKNOWN
        if isinstance(value, Definition):
            config.helpers.append(Helper(value, (self._path, given.span), after))
        else:
            config.unknown.add("code")

    def _add_block(self, config: Config, given: Given) -> None:
        block: EmbeddedBlock | None = self._blocks.get(given.span)
        if block is None or block.facts is None:
            config.unknown.add("blocks")
        else:
            config.blocks.append((self._path, block))

    def _texts(self, config: Config, given: Given, part: str) -> None:
        values = [self._value(node) for node in given.positional]
        known = [value for value in values if isinstance(value, str)]
        (config.dropped if part == "dropped" else config.excluded).extend(known)
        if len(known) < len(values):
            config.unknown.add(part)

    def set_attribute(self, config: object, attribute: str, node: ast.expr) -> None:
        if not isinstance(config, Config):
            return
        if attribute in _FIELDS:
            value = self._value(node)
            setattr(config, attribute, value if isinstance(value, str) else "")
        elif attribute in self._lists:
            config.unknown.add(self._lists[attribute])

    def _text(self, node: ast.expr | None) -> str:
        value = self._value(node) if node is not None else UNKNOWN
        return value if isinstance(value, str) else ""


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
