"""The code of a replacement: its source text, without the decorator of the patch config and under its new name."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping
from typing import Any

import libcst as cst

from .patch_spec import Patch

_PATCHING = {"override_method", "replace_function", "replace_class", "add_helper"}


class PatchgenError(ValueError):
    """A patch config cannot be applied; the message says why."""


def replacement_node(value: Any, patch: Patch | None) -> cst.FunctionDef | cst.ClassDef:
    """The definition of *value* as it stands in the generated file; without *patch* it keeps its name.

    Raises:
        PatchgenError: the source of *value* cannot be read.
    """
    try:
        source = textwrap.dedent(inspect.getsource(value))
    except (OSError, TypeError) as error:
        raise PatchgenError(f"the source of {value!r} cannot be read: {error}") from error
    statement = cst.parse_module(source).body[0]
    if not isinstance(statement, cst.FunctionDef | cst.ClassDef):
        raise PatchgenError(f"{value!r} is no function and no class")
    node = statement.with_changes(
        decorators=[item for item in statement.decorators if not _is_patching(item)], leading_lines=[]
    )
    if patch is None:
        return node
    name = patch.target.rpartition(".")[2]
    node = node.visit(_Rename({**patch.name_map, node.name.value: name}))
    if patch.kind == "method":
        node = _untyped_self(node)
    if patch.description:
        comment = cst.EmptyLine(comment=cst.Comment(f"# Patched: {patch.description}"))
        node = node.with_changes(leading_lines=[comment])
    return node


class _Rename(cst.CSTTransformer):
    """Renames identifiers, but not the attributes and keywords that happen to have the same name."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self._names = names

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        return updated_node.with_changes(value=self._names.get(original_node.value, original_node.value))


def _untyped_self(node: cst.FunctionDef | cst.ClassDef) -> cst.FunctionDef | cst.ClassDef:
    """A function outside its class has to annotate ``self``; the method in the class does not."""
    if not isinstance(node, cst.FunctionDef) or not node.params.params or node.params.params[0].name.value != "self":
        return node
    first = node.params.params[0].with_changes(annotation=None)
    return node.with_changes(params=node.params.with_changes(params=[first, *node.params.params[1:]]))


def _is_patching(decorator: cst.Decorator) -> bool:
    expression = decorator.decorator
    called = expression.func if isinstance(expression, cst.Call) else expression
    return isinstance(called, cst.Attribute) and called.attr.value in _PATCHING
