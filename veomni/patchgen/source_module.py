"""The source of a modeling module: its text, and its parts with imports that hold in another folder."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec

import libcst as cst

from .errors import PatchgenError

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


def read_source(module: str) -> str:
    """The text of *module*, which is found and not imported.

    Raises:
        PatchgenError: there is no such module, or it has no source.
    """
    spec = _find(module)
    try:
        text = spec.loader.get_source(module) if isinstance(spec.loader, InspectLoader) else None
    except (ImportError, SyntaxError, UnicodeDecodeError) as error:
        raise PatchgenError(f"the source module {module} cannot be read: {error}") from error
    if not text:
        raise PatchgenError(f"the source module {module} has no Python source")
    return text


def parse_source(module: str) -> cst.Module:
    """The code of *module*: every import absolute, since the generated file lies one folder deeper.

    Raises:
        PatchgenError: as ``read_source``, or the module cannot be parsed.
    """
    try:
        source = cst.parse_module(read_source(module))
    except cst.ParserSyntaxError as error:
        raise PatchgenError(f"the source module {module} cannot be parsed: {error.message}") from error
    try:
        return source.visit(_AbsoluteImports(_find(module).parent or ""))
    except ImportError as error:
        raise PatchgenError(f"the source module {module} has an import that cannot work: {error}") from error


def split_header(source: cst.Module) -> tuple[str, list[Statement]]:
    """The comments at the top, such as a licence, and the statements without the docstring."""
    lines, body = list(source.header), list(source.body)
    if source.get_docstring() is not None:
        del body[0]
    elif body:
        # Comments right above the first statement, below a blank line, are about that statement.
        top = max((i for i, line in enumerate(lines) if line.comment is None), default=len(lines))
        body[0] = body[0].with_changes(leading_lines=[*lines[top:], *body[0].leading_lines])
        del lines[top:]
    return "".join(source.code_for_node(line) for line in lines).strip("\n"), body


def split_after_imports(body: Sequence[Statement]) -> tuple[list[Statement], list[Statement]]:
    """What stands above the first definition up to the last import there, and the rest."""
    definition = next((i for i, node in enumerate(body) if isinstance(node, cst.FunctionDef | cst.ClassDef)), len(body))
    end = max((i + 1 for i, node in enumerate(body[:definition]) if _is_import(node)), default=0)
    return list(body[:end]), list(body[end:])


def _find(module: str) -> ModuleSpec:
    try:
        spec = importlib.util.find_spec(module)
    except Exception as error:  # the packages around the module are imported, and may raise anything
        raise PatchgenError(f"the source module {module} cannot be found: {error}") from error
    if spec is None:
        raise PatchgenError(f"the source module {module} cannot be found")
    return spec


class _AbsoluteImports(cst.CSTTransformer):
    def __init__(self, package: str) -> None:
        super().__init__()
        self._package = package

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> cst.ImportFrom:
        if not original_node.relative:
            return updated_node
        tail = cst.Module([]).code_for_node(original_node.module) if original_node.module else ""
        name = importlib.util.resolve_name("." * len(original_node.relative) + tail, self._package)
        module = cst.parse_expression(name)
        return updated_node.with_changes(relative=[], module=module, whitespace_after_from=cst.SimpleWhitespace(" "))


def _is_import(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and isinstance(node.body[0], cst.Import | cst.ImportFrom)
