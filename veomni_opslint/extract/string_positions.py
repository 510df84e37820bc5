"""The value of a string expression together with the place in the file of each of its characters."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from veomni_opslint.extract.operands import dotted

_LITERAL = re.compile(r"(?P<prefix>[A-Za-z]{0,2})(?P<quote>\"\"\"|'''|\"|')")
_ESCAPE = re.compile(
    r"\\(?:(\n)|([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|N\{[^}]*\}|.)", re.DOTALL
)
_MARGIN = re.compile(r"[ \t]*")
_MAX_DEPTH = 40
_DEDENTING = frozenset({"dedent", "cleandoc"})


@dataclass(frozen=True, slots=True)
class PlacedText:
    """Characters and, for each, the line (from 1) and column (characters, from 0) that it comes from."""

    text: str
    places: tuple[tuple[int, int], ...]

    def __add__(self, other: PlacedText) -> PlacedText:
        return PlacedText(self.text + other.text, self.places + other.places)

    def cut(self, start: int, end: int) -> PlacedText:
        """The characters from *start* to *end*."""
        return PlacedText(self.text[start:end], self.places[start:end])


Inner = Callable[[ast.expr], "PlacedText | None"]


def placed_text(
    node: ast.expr, lines: list[str], assigned: Mapping[str, ast.expr], depth: int = 0
) -> PlacedText | None:
    """The value of *node*, or None where it cannot be known. *assigned*: values of names that are bound once."""
    if depth > _MAX_DEPTH:
        return None

    def inner(expression: ast.expr) -> PlacedText | None:
        return placed_text(expression, lines, assigned, depth + 1)

    match node:
        case ast.Constant(value=str() as value):
            found = _literal(node, lines, [])
            return found if found is not None and found.text == value else _at_start(node, value)
        case ast.JoinedStr(values=values):
            return _f_string(node, values, lines, inner)
        case ast.Name(id=name) if name in assigned:
            return inner(assigned[name])
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = inner(left), inner(right)
            return one + other if one is not None and other is not None else None
        case ast.Call(func=function, args=arguments, keywords=[]):
            return _call(function, arguments, inner)
    return None


def dedented(value: PlacedText) -> PlacedText:
    """``textwrap.dedent`` that keeps the places."""
    pieces: list[PlacedText] = []
    start = 0
    for line in value.text.splitlines(keepends=True):
        pieces.append(value.cut(start, start + len(line)))
        start += len(line)
    margins = [_margin(piece.text) for piece in pieces if piece.text.strip()]
    common = margins[0] if margins else ""
    for margin in margins[1:]:
        while not margin.startswith(common):
            common = common[:-1]
    result = PlacedText("", ())
    for piece in pieces:
        blank = not piece.text.strip()
        skip = max(len(piece.text.rstrip("\n")), 0) if blank else len(common)
        result = result + piece.cut(skip, len(piece.text))
    return result


def _margin(line: str) -> str:
    found = _MARGIN.match(line)
    return found.group() if found is not None else ""


def _call(function: ast.expr, arguments: list[ast.expr], inner: Inner) -> PlacedText | None:
    name = dotted(function).rpartition(".")[2]
    if name in _DEDENTING and len(arguments) == 1:
        value = inner(arguments[0])
        return dedented(value) if isinstance(value, PlacedText) else None
    if not isinstance(function, ast.Attribute):
        return None
    base = inner(function.value)
    if not isinstance(base, PlacedText):
        return None
    if function.attr in ("strip", "lstrip", "rstrip") and not arguments:
        start = len(base.text) - len(base.text.lstrip()) if function.attr != "rstrip" else 0
        end = len(base.text.rstrip()) if function.attr != "lstrip" else len(base.text)
        return base.cut(start, max(start, end))
    if function.attr == "join" and len(arguments) == 1 and isinstance(arguments[0], ast.List | ast.Tuple):
        parts = [inner(element) for element in arguments[0].elts]
        result = PlacedText("", ())
        for index, part in enumerate(parts):
            if not isinstance(part, PlacedText):
                return None
            if index:
                result = result + PlacedText(base.text, tuple(part.places[:1] or base.places[:1]) * len(base.text))
            result = result + part
        return result
    return None


def _f_string(node: ast.JoinedStr, values: list[ast.expr], lines: list[str], inner: Inner) -> PlacedText | None:
    holes: list[str] = []
    for value in values:
        if not isinstance(value, ast.FormattedValue):
            continue
        if value.format_spec is not None or value.conversion not in (-1, 115):
            return None
        known = inner(value.value)
        if isinstance(known, PlacedText):
            holes.append(known.text)
        elif isinstance(value.value, ast.Constant):
            holes.append(str(value.value.value))
        else:
            return None
    return _literal(node, lines, holes)


def _at_start(node: ast.expr, value: str) -> PlacedText:
    return PlacedText(value, ((node.lineno, node.col_offset),) * len(value))


def _literal(node: ast.expr, lines: list[str], holes: list[str]) -> PlacedText | None:
    """Read the string tokens of one expression; implicit concatenation gives several."""
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    segment = lines[node.lineno - 1 : end_line]
    if not segment:
        return None
    last = segment[-1].encode()[:end_column].decode(errors="replace")
    start = len(segment[0].encode()[: node.col_offset].decode(errors="replace"))
    segment = [*segment[:-1], last]
    source = "\n".join(segment)
    characters: list[str] = []
    places: list[tuple[int, int]] = []
    left = list(holes)
    position = start

    def place(offset: int) -> tuple[int, int]:
        line = source.count("\n", 0, offset)
        return node.lineno + line, offset - (source.rfind("\n", 0, offset) + 1)

    while position < len(source):
        if source[position] in " \t\n\\()":
            position += 1
            continue
        if source[position] == "#":
            position = source.find("\n", position)
            if position < 0:
                break
            continue
        token = _LITERAL.match(source, position)
        if token is None:
            return None
        position = token.end()
        raw, formatted = "r" in token["prefix"].lower(), "f" in token["prefix"].lower()
        while not source.startswith(token["quote"], position):
            if position >= len(source):
                return None
            at = place(position)
            if source[position] == "\\":
                found = _ESCAPE.match(source, position)
                if found is None:
                    return None
                decoded = found.group() if raw else _decoded(found)
                position = found.end()
            elif formatted and source[position] in "{}":
                if source.startswith(source[position] * 2, position):
                    decoded, position = source[position], position + 2
                else:
                    closing = source.find("}", position)
                    if closing < 0 or not left:
                        return None
                    decoded, position = left.pop(0), closing + 1
            else:
                decoded, position = source[position], position + 1
            characters.append(decoded)
            places.extend([at] * len(decoded))
        position += len(token["quote"])
    return PlacedText("".join(characters), tuple(places))


def _decoded(escape: re.Match[str]) -> str:
    newline, octal, *hexadecimal = escape.groups()
    if newline:
        return ""
    if octal:
        return chr(int(octal, 8))
    for digits in hexadecimal:
        if digits:
            return chr(int(digits, 16)) if int(digits, 16) < 0x110000 else ""
    named = {
        "n": "\n",
        "t": "\t",
        "r": "\r",
        "\\": "\\",
        "'": "'",
        '"': '"',
        "a": "\a",
        "b": "\b",
        "f": "\f",
        "v": "\v",
    }
    return named.get(escape.group()[1:], escape.group())
