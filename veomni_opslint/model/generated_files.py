"""What a generated file holds, by name: definitions, methods, statements, imports, and the patches its header lists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.facts import FileFacts, Import, Span
from veomni_opslint.model.patch_values import PatchKind

_LISTED = re.compile(r"^#\s+- (?P<kind>\w+): (?P<target>[\w.]+)\s*$", re.MULTILINE)
_CODE = re.compile(r"^(?![#\s])", re.MULTILINE)
_KINDS: dict[str, PatchKind] = {
    "class_replacement": "class",
    "function_replacement": "function",
    "method_override": "method",
}
DefinitionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class GeneratedFile:
    """An index of one generated file."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.body: list[ast.stmt] = facts.tree.body if facts.tree is not None else []

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the file."""
        return self.facts.lines

    @cached_property
    def definitions(self) -> Mapping[str, list[DefinitionNode]]:
        """Classes and functions at module level by name, in order."""
        found: dict[str, list[DefinitionNode]] = {}
        for node in self.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.setdefault(node.name, []).append(node)
        return found

    @cached_property
    def imports(self) -> Mapping[str, list[tuple[Import, str, Span]]]:
        """Imports at module level by the name that they bind: the import, the name imported, its place."""
        found: dict[str, list[tuple[Import, str, Span]]] = {}
        for imported in self.facts.imports:
            if imported.scope == 0:
                for bound, name, span in names_of(imported):
                    found.setdefault(bound, []).append((imported, name, span))
        return found

    @cached_property
    def listed(self) -> Mapping[tuple[PatchKind, str], int]:
        """The patches that the header lists, with their lines; empty when the header has no such list."""
        code = _CODE.search(self.facts.text)
        header = self.facts.text[: code.start() if code is not None else None]
        return {
            (_KINDS[one["kind"]], one["target"]): header.count("\n", 0, one.start()) + 1
            for one in _LISTED.finditer(header)
            if one["kind"] in _KINDS
        }

    def find(self, kind: str, target: str) -> list[DefinitionNode]:
        """The definitions of that name: methods for ``Class.method``."""
        owner, _, method = target.rpartition(".")
        if kind != "method":
            return list(self.definitions.get(target, ()))
        return [
            node
            for found in self.definitions.get(owner, ())
            if isinstance(found, ast.ClassDef)
            for node in found.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == method
        ]

    def assignments(self, name: str) -> list[ast.stmt]:
        """The statements at module level that assign a name."""
        return self._assignments.get(name, [])

    @cached_property
    def _assignments(self) -> Mapping[str, list[ast.stmt]]:
        found: dict[str, list[ast.stmt]] = {}
        for node in self.body:
            for name in dict.fromkeys(assigned_names(node)):
                found.setdefault(name, []).append(node)
        return found

    def last_import(self) -> Span:
        """The place of the last import at module level, or the start of the file."""
        places = [span_of(node) for node in self.body if isinstance(node, ast.Import | ast.ImportFrom)]
        return places[-1] if places else (1, 0, 1, 0)


def assigned_names(node: ast.stmt) -> tuple[str, ...]:
    """The plain names that an assignment binds."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return tuple(target.id for target in targets if isinstance(target, ast.Name))


def names_of(imported: Import) -> Iterator[tuple[str, str, Span]]:
    """What an import statement binds: the name here, the name there (empty for a module), and the place."""
    if imported.how == "from":
        for name in imported.names:
            yield name.bound, name.name, name.span
    elif imported.how == "import":
        yield imported.bound, "", imported.span
