"""The values that a patch config computes with: configs, their lists, definitions, and plain constants."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from veomni_opslint.dialect import Dialect
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import EmbeddedBlock, Span

_OriginPair = tuple[str, Span]
PatchKind = Literal["method", "function", "class"]
_Here = tuple[str, str]
_EXTERNAL = "from_external"
UNKNOWN: Final = object()
"""A value that is not known."""


class Definition(NamedTuple):
    """A function or class of the project; ``decorators`` are those that stay when it is put into a generated file."""

    module: str
    path: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    decorators: tuple[ast.expr, ...]


class Patch(NamedTuple):
    """One patch of a config."""

    kind: PatchKind
    target: str
    definition: Definition | None
    name_map: tuple[tuple[str, str], ...]
    origin: _OriginPair
    external: str = ""


class Helper(NamedTuple):
    """A definition that is put in as it is: behind the imports, or after the definition ``after``."""

    definition: Definition
    origin: _OriginPair
    after: str | None


class Requested(NamedTuple):
    """One name that is imported."""

    module: str
    name: str
    bound: str
    origin: _OriginPair


@dataclass(slots=True)
class Config:
    """What has been said about one patch config so far.

    ``unknown`` names the parts that are not known any more.

    ``taken``: it was created by another module.
    """

    module: str
    source_module: str
    target_file: str
    created: Span
    patches: list[Patch] = field(default_factory=list)
    helpers: list[Helper] = field(default_factory=list)
    imports: list[Requested] = field(default_factory=list)
    blocks: list[tuple[str, EmbeddedBlock]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    taken: bool = False

    def taken_by(self, module: str) -> Config:
        """A copy for a module that imports the config and may go on with it."""
        return Config(
            module, self.source_module, self.target_file, self.created, list(self.patches), list(self.helpers),
            list(self.imports), list(self.blocks), list(self.dropped), list(self.excluded), set(self.unknown),
            True,
        )  # fmt: skip


class Filtered(NamedTuple):
    """A condition on the ``__name__`` of helpers: one of the names, or none of them."""

    names: frozenset[str]
    kept: bool


class ListOf(NamedTuple):
    """One of the lists of a config, whole or with a condition on its members."""

    config: Config
    attribute: str
    keep: Filtered | None = None


def evaluate_expression(node: ast.expr, names: Mapping[str, object], dialect: Dialect, here: _Here) -> object:
    """The value of an expression in the module and file *here*; UNKNOWN where it is not known."""

    def value(inner: ast.expr) -> object:
        return evaluate_expression(inner, names, dialect, here)

    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return names.get(node.id, UNKNOWN)
        case ast.Attribute(value=ast.Name(id=owner)) if isinstance(config := names.get(owner), Config):
            if node.attr in ("source_module", "target_file"):
                return getattr(config, node.attr)
            return ListOf(config, node.attr)
        case ast.List() | ast.Tuple() | ast.Set():
            values = [value(one) for one in node.elts]
            return UNKNOWN if UNKNOWN in values else values
        case ast.Dict():
            keys = [value(key) if key is not None else UNKNOWN for key in node.keys]
            values = [value(one) for one in node.values]
            if UNKNOWN in values or not all(isinstance(key, str) for key in keys):
                return UNKNOWN
            return dict(zip(keys, values, strict=True))
        case ast.JoinedStr():
            texts = [_formatted(one, value) for one in node.values]
            return "".join(one for one in texts if one is not None) if None not in texts else UNKNOWN
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            both = (value(left), value(right))
            if isinstance(both[0], str) and isinstance(both[1], str):
                return both[0] + both[1]
            if isinstance(both[0], list) and isinstance(both[1], list):
                return both[0] + both[1]
            return UNKNOWN
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
            return _comprehension(node, names, dialect, here)
        case ast.Call():
            return _call(node, names, dialect, here)
    return UNKNOWN


def _formatted(node: ast.expr, value: Callable[[ast.expr], object]) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.FormattedValue) and node.conversion == -1 and node.format_spec is None:
        inner = value(node.value)
        return inner if isinstance(inner, str) else None
    return None


def _comprehension(
    node: ast.GeneratorExp | ast.ListComp | ast.SetComp, names: Mapping[str, object], dialect: Dialect, here: _Here
) -> object:
    """A list of a config, all of it or those with, or without, certain names."""
    if len(node.generators) != 1 or node.generators[0].is_async:
        return UNKNOWN
    source = evaluate_expression(node.generators[0].iter, names, dialect, here)
    target, conditions = node.generators[0].target, node.generators[0].ifs
    if not isinstance(target, ast.Name) or not isinstance(node.elt, ast.Name) or target.id != node.elt.id:
        return UNKNOWN
    if not isinstance(source, ListOf) or source.keep is not None or len(conditions) > 1:
        return UNKNOWN
    if not conditions:
        return source
    match conditions[0]:
        case ast.Compare(
            left=ast.Attribute(value=ast.Name(id=name), attr="__name__"), ops=[operator], comparators=[right]
        ) if name == target.id:
            wanted = evaluate_expression(right, names, dialect, here)
            if isinstance(operator, ast.Eq | ast.NotEq) and isinstance(wanted, str):
                return ListOf(
                    source.config, source.attribute, Filtered(frozenset([wanted]), isinstance(operator, ast.Eq))
                )
            texts = [one for one in wanted if isinstance(one, str)] if isinstance(wanted, list) else None
            if isinstance(operator, ast.In | ast.NotIn) and texts is not None and texts == wanted:
                return ListOf(source.config, source.attribute, Filtered(frozenset(texts), isinstance(operator, ast.In)))
    return UNKNOWN


def _call(node: ast.Call, names: Mapping[str, object], dialect: Dialect, here: _Here) -> object:
    function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if any(keyword.arg is None for keyword in node.keywords) or any(isinstance(one, ast.Starred) for one in node.args):
        return UNKNOWN
    given = [evaluate_expression(one, names, dialect, here) for one in node.args]
    named = {one.arg: evaluate_expression(one.value, names, dialect, here) for one in node.keywords}
    if function == dialect.patch_config:
        source = named.get("source_module", given[0] if given else "")
        target = named.get("target_file", given[1] if len(given) > 1 else "")
        made = Config(
            here[0],
            source if isinstance(source, str) else "",
            target if isinstance(target, str) else "",
            span_of(node),
        )
        if set(named) - {"source_module", "target_file", "description", "transformers_version"} or len(given) > 3:
            made.unknown.update(("code", "imports", "blocks", "dropped", "excluded"))
        return made
    if function.endswith(_EXTERNAL):
        texts = [
            named.get(name, given[index] if index < len(given) else None)
            for index, name in enumerate(("target", "replacement_module", "replacement_name"))
        ]
        target, module, name = texts
        if not isinstance(target, str) or not isinstance(module, str) or not isinstance(name, str):
            return UNKNOWN
        if len(given) > 3 or "patch_type" in named:
            return UNKNOWN
        named_nodes = {one.arg: one.value for one in node.keywords}
        at = named_nodes["replacement_module"] if "replacement_module" in named_nodes else node.args[1]
        return Patch("class", target, None, (), (here[1], span_of(at)), f"{module}.{name}")
    if function in ("list", "tuple", "set", "sorted", "dict") and len(given) == 1 and not named:
        return given[0]
    return UNKNOWN
