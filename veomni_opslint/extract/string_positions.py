"""The value of a string expression together with the place in the file of each of its characters."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.placed_text import (
    CharacterPlace,
    PlacedText,
    cleaned,
    concatenated,
    dedented,
    joined,
)
from veomni_opslint.extract.string_literals import read_literal

_MAX_DEPTH = 40
_MAX_LENGTH = 500_000
_FUNCTIONS: dict[str, Callable[[PlacedText], PlacedText]] = {"dedent": dedented, "cleandoc": cleaned}
_CONVERSIONS: dict[int, Callable[[object], str]] = {-1: str, ord("s"): str, ord("r"): repr, ord("a"): ascii}


class PlacedTextReader:
    """Reads the strings of one file. ``assigned`` has the values of names that are bound once."""

    def __init__(self, lines: Sequence[str], assigned: Mapping[str, ast.expr]) -> None:
        self.lines = lines
        self.assigned = assigned
        self._known: dict[str, PlacedText | None] = {}

    def read(self, node: ast.expr, depth: int = 0) -> PlacedText | None:
        """The value of *node*, or None where it cannot be known, or is longer than any code is."""
        if depth > _MAX_DEPTH:
            return None
        match node:
            case ast.Constant(value=str() as value):
                return self._placed(node, value, ())
            case ast.JoinedStr():
                return self._formatted(node, depth)
            case ast.Name(id=name):
                return self._named(name, depth)
            case ast.NamedExpr(value=inner):
                return self.read(inner, depth + 1)
            case ast.BinOp(op=ast.Add()):
                return self._concatenated(_terms(node), concatenated, depth)
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._call(function, arguments, depth)
        return None

    def _named(self, name: str, depth: int) -> PlacedText | None:
        if name not in self._known:
            # Unknown while it is read, for a value that refers to itself.
            self._known[name] = None
            value = self.assigned.get(name)
            self._known[name] = self.read(value, depth + 1) if value is not None else None
        return self._known[name]

    def _concatenated(
        self, nodes: Sequence[ast.expr], join: Callable[[Sequence[PlacedText]], PlacedText], depth: int
    ) -> PlacedText | None:
        pieces: list[PlacedText] = []
        length = 0
        for node in nodes:
            piece = self.read(node, depth + 1)
            if piece is None or (length := length + len(piece.text)) > _MAX_LENGTH:
                return None
            pieces.append(piece)
        return join(pieces)

    def _call(self, function: ast.expr, arguments: Sequence[ast.expr], depth: int) -> PlacedText | None:
        name = dotted(function).rpartition(".")[2]
        if name in _FUNCTIONS and len(arguments) == 1:
            value = self.read(arguments[0], depth + 1)
            return _FUNCTIONS[name](value) if value is not None else None
        base = self.read(function.value, depth + 1) if isinstance(function, ast.Attribute) else None
        if base is None or not isinstance(function, ast.Attribute):
            return None
        match function.attr, arguments:
            case "strip" | "lstrip" | "rstrip" as method, []:
                return base.stripped(method)
            case "strip" | "lstrip" | "rstrip" as method, [ast.Constant(value=str() | None as characters)]:
                return base.stripped(method, characters)
            case "join", [listed]:
                if isinstance(listed, ast.Name):
                    listed = self.assigned.get(listed.id, listed)
                if isinstance(listed, ast.List | ast.Tuple):
                    return self._concatenated(listed.elts, lambda parts: joined(base, parts), depth)
        return None

    def _formatted(self, node: ast.JoinedStr, depth: int) -> PlacedText | None:
        value = ""
        holes: list[str] = []
        for part in node.values:
            text = str(part.value) if isinstance(part, ast.Constant) else self._hole(part, depth)
            if text is None or len(value) > _MAX_LENGTH:
                return None
            if isinstance(part, ast.FormattedValue):
                holes.append(text)
            value += text
        return self._placed(node, value, holes)

    def _hole(self, part: ast.expr, depth: int) -> str | None:
        if not isinstance(part, ast.FormattedValue) or part.format_spec is not None:
            return None
        value = self.assigned.get(part.value.id, part.value) if isinstance(part.value, ast.Name) else part.value
        if isinstance(value, ast.Constant):
            return _CONVERSIONS[part.conversion](value.value)
        known = self.read(value, depth + 1)
        return _CONVERSIONS[part.conversion](known.text) if known is not None else None

    def _placed(self, node: ast.expr, value: str, holes: Sequence[str]) -> PlacedText | None:
        """The literals of *node*, whose value is known; all at its beginning where they are not understood."""
        if len(value) > _MAX_LENGTH:
            return None
        found = read_literal(node, self.lines, holes)
        if found is not None and found.text == value:
            return found
        column = len(self.lines[node.lineno - 1].encode()[: node.col_offset].decode(errors="replace"))
        return PlacedText.at(CharacterPlace(node.lineno, column, 0), value)


def _terms(node: ast.expr) -> list[ast.expr]:
    """The terms of a sum, which may be a long one."""
    terms: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        terms.append(node.right)
        node = node.left
    return [node, *reversed(terms)]
