"""The code of a replacement: its source text, without the decorator of the patch config and under its new name."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import libcst as cst

from .errors import PatchgenError
from .patch_spec import Patch

_PATCHING = {"override_method", "replace_function", "replace_class", "add_helper"}


def replacement_node(value: Any, patch: Patch | None) -> cst.FunctionDef | cst.ClassDef:
    """The definition of *value* as it stands in the generated file; without *patch* it keeps its name.

    Raises:
        PatchgenError: the source of *value* cannot be read, or is not of the kind that the patch asks for.
    """
    value = _defined(value)
    try:
        module = cst.parse_module(textwrap.dedent(inspect.getsource(value)))
    except (OSError, TypeError, cst.ParserSyntaxError) as error:
        raise PatchgenError(f"the source of {value!r} cannot be read: {error}") from error
    node = module.body[0]
    if not isinstance(node, cst.FunctionDef | cst.ClassDef):
        raise PatchgenError(f"{value!r} is no function and no class")
    comments = (inspect.getcomments(value) or "").splitlines()
    if patch is None:
        return _undecorated(node, comments)
    if isinstance(node, cst.ClassDef) != (patch.kind == "class"):
        raise PatchgenError(f"{value!r} cannot replace the {patch.kind} {patch.target}")
    comments = [*(f"# {line}" for line in _described(patch)), *comments]
    name = patch.target.rpartition(".")[2]
    try:
        node = _undecorated(node, comments).visit(_Rename({**patch.name_map, node.name.value: name}))
    except cst.CSTValidationError as error:
        raise PatchgenError(f"the name_map for {patch.target} cannot be applied: {error}") from error
    return _untyped_self(node) if patch.kind == "method" else node


def _defined(value: Any) -> Any:
    """The function behind a property or a decorator."""
    if isinstance(value, property):
        value = value.fget
    return inspect.unwrap(value.func if isinstance(value, cached_property) else value)


def _described(patch: Patch) -> list[str]:
    return f"Patched: {patch.description}".splitlines() if patch.description else []


def _undecorated(node: Any, comments: list[str]) -> Any:
    """The definition below *comments*, without what applies it to a patch config."""
    return node.with_changes(
        decorators=[item for item in node.decorators if not _is_patching(item)],
        leading_lines=[cst.EmptyLine(comment=cst.Comment(comment)) for comment in comments],
    )


def _is_patching(decorator: cst.Decorator) -> bool:
    expression = decorator.decorator
    called = expression.func if isinstance(expression, cst.Call) else expression
    return isinstance(called, cst.Attribute) and called.attr.value in _PATCHING


class _Rename(cst.CSTTransformer):
    """Renames identifiers, but not the attributes and keywords that happen to have the same name."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self._names = names

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:  # noqa: ARG002  fixed by libcst
        return updated_node.with_changes(value=self._names.get(updated_node.value, updated_node.value))

    def leave_Annotation(self, original_node: cst.Annotation, updated_node: cst.Annotation) -> cst.Annotation:  # noqa: ARG002  fixed by libcst
        return updated_node.visit(_RenameQuoted(self))


class _RenameQuoted(cst.CSTTransformer):
    """Renames what an annotation says in quotes, but for the values of a ``Literal``."""

    def __init__(self, rename: _Rename) -> None:
        super().__init__()
        self._rename = rename

    def visit_Subscript(self, node: cst.Subscript) -> bool:
        return cst.Module([]).code_for_node(node.value).rpartition(".")[2] != "Literal"

    def leave_SimpleString(self, original_node: cst.SimpleString, updated_node: cst.SimpleString) -> cst.SimpleString:
        try:
            expression = cst.parse_expression(original_node.raw_value).visit(self._rename)
        except cst.ParserSyntaxError:
            return updated_node
        code = cst.Module([]).code_for_node(expression)
        return updated_node.with_changes(
            value=f"{original_node.prefix}{original_node.quote}{code}{original_node.quote}"
        )


def _untyped_self(node: cst.FunctionDef | cst.ClassDef) -> cst.FunctionDef | cst.ClassDef:
    """A function outside its class has to annotate ``self``; the method in the class does not."""
    if not isinstance(node, cst.FunctionDef) or not node.params.params or node.params.params[0].name.value != "self":
        return node
    first = node.params.params[0].with_changes(annotation=None)
    return node.with_changes(params=node.params.with_changes(params=[first, *node.params.params[1:]]))
