"""Whether two pieces of source say the same: comments, docstrings, line breaks and quotes do not count.

Most pairs are decided by their lines, because parsing costs more; what the lines cannot decide, the syntax trees do.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from veomni_opslint.parsing import parse

_OPENING = ("(", "[", "{")
_CLOSING = (")", "]", "}")
_BEFORE_VALUE = (" = (", "return (")
_MAX_JOINED = 60
_BODIES = ("body", "orelse", "finalbody")
_Pair = tuple[ast.AST, ast.AST]
_FORMAL = ("ctx", "type_comment", "kind")


def dedented_lines(lines: Sequence[str], node: ast.stmt) -> list[str]:
    """The lines of a statement, a definition without its decorators, moved to the margin."""
    written = lines[node.lineno - 1 : node.end_lineno]
    indent = " " * node.col_offset
    if not indent:
        return list(written)
    return [line[len(indent) :] if line.startswith(indent) else line.lstrip(" ") for line in written]


def first_difference(expected: Sequence[str], found: Sequence[str]) -> tuple[int, int] | None:
    """The indices of the first lines of both that say something else; None if they say the same.

    Where one of them cannot be parsed, or is nested too deeply, they count as the same.
    """
    if expected == found or same_lines(expected, found):
        return None
    try:
        different = _different(parse("\n".join(expected)), parse("\n".join(found)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return None if different is None else (_line(different[0]) - 1, _line(different[1]) - 1)


def same_tree(expected: ast.AST, found: ast.AST) -> bool:
    """Whether two syntax trees say the same; those that are nested too deeply do."""
    try:
        return _different(expected, found) is None
    except RecursionError:
        return True


def same_lines(expected: Sequence[str], found: Sequence[str]) -> bool:
    """Whether the lines differ at most in where they break, as a formatter breaks them; False if that is not sure."""
    left, right = _code_lines(expected), _code_lines(found)
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            i, j = i + 1, j + 1
            continue
        ends = _joined_alike(left, i, right, j)
        if ends is None:
            return False
        i, j = ends
    return i == len(left) and j == len(right)


def _code_lines(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if (text := line.lstrip()) and text[0] != "#"]


def _joined_alike(left: Sequence[str], i: int, right: Sequence[str], j: int) -> tuple[int, int] | None:
    """Where both go on, when some lines from *i* and from *j* are the same once they are joined."""
    first, second = left[i].rstrip(), right[j].rstrip()
    if (wrapped := _unwrapped(left, i)) is not None and wrapped[0] == second:
        return wrapped[1], j + 1
    if (wrapped := _unwrapped(right, j)) is not None and wrapped[0] == first:
        return i + 1, wrapped[1]
    i, j = i + 1, j + 1
    for _ in range(_MAX_JOINED):
        if first == second:
            return i, j
        if len(first) < len(second) and i < len(left):
            first, i = _join(first, left[i]), i + 1
        elif j < len(right):
            second, j = _join(second, right[j]), j + 1
        else:
            return None
    return None


def _unwrapped(lines: Sequence[str], index: int) -> tuple[str, int] | None:
    """A statement on one line, without the parentheses that a formatter puts around a long value; the line after it."""
    opening = lines[index].rstrip()
    if not opening.endswith(_BEFORE_VALUE):
        return None
    text = opening.removesuffix("(")
    closing = text[: len(text) - len(text.lstrip())] + ")"
    for end in range(index + 1, min(index + _MAX_JOINED, len(lines))):
        line = lines[end].rstrip()
        if line == closing:
            return None if text.endswith(",") else (text, end + 1)
        text = _join(text, line) if end > index + 1 else text + line.strip()
    return None


def _join(text: str, line: str) -> str:
    """As a formatter joins two lines inside brackets."""
    line = line.strip()
    if line.startswith(_CLOSING):
        return text.removesuffix(",") + line
    if line.startswith("."):
        return text + line
    return text + line if text.endswith(_OPENING) else f"{text} {line}"


def _different(expected: ast.AST, found: ast.AST) -> _Pair | None:
    """The innermost nodes that differ and have a place."""
    pair = (expected, found)
    if type(expected) is not type(found):
        return pair
    if isinstance(expected, ast.arg) and expected.arg == "self" == getattr(found, "arg", ""):
        # A generator may drop the annotation, which names a class of the patch config's imports.
        return None
    for name in expected._fields:
        if name in _FORMAL:
            continue
        wanted, given = getattr(expected, name, None), getattr(found, name, None)
        if isinstance(wanted, list) and isinstance(given, list):
            inner = _different_members(wanted, given, pair, name in _BODIES)
        elif isinstance(wanted, ast.AST) and isinstance(given, ast.AST):
            inner = _different(wanted, given)
        else:
            inner = None if type(wanted) is type(given) and wanted == given else pair
        if inner is not None:
            return _placed(inner, pair)
    return None


def _different_members(wanted: Sequence[object], given: Sequence[object], owners: _Pair, body: bool) -> _Pair | None:
    if body:
        # Formatters sort, merge and split imports.
        imported, found_imports = _imported(wanted), _imported(given)
        if imported.keys() != found_imports.keys():
            missing = next((node for key, node in imported.items() if key not in found_imports), owners[0])
            return missing, next((node for key, node in found_imports.items() if key not in imported), owners[1])
        wanted, given = _other_statements(wanted), _other_statements(given)
    inner: _Pair | None
    for expected, found in zip(wanted, given, strict=False):
        if isinstance(expected, ast.AST) and isinstance(found, ast.AST):
            inner = _different(expected, found)
        else:
            inner = None if expected == found else owners
        if inner is not None:
            return _placed(inner, owners)
    if len(wanted) == len(given):
        return None
    first = min(len(wanted), len(given))
    return _placed((_member(wanted, first, owners[0]), _member(given, first, owners[1])), owners)


def _member(members: Sequence[object], index: int, owner: ast.AST) -> ast.AST:
    """The member of that index, or the last one, or what they belong to."""
    member = members[min(index, len(members) - 1)] if members else owner
    return member if isinstance(member, ast.AST) else owner


def _placed(inner: _Pair, outer: _Pair) -> _Pair:
    return (
        inner[0] if hasattr(inner[0], "lineno") else outer[0],
        inner[1] if hasattr(inner[1], "lineno") else outer[1],
    )


def _line(node: ast.AST) -> int:
    line = getattr(node, "lineno", 1)
    return line if isinstance(line, int) else 1


def _imported(body: Sequence[object]) -> dict[tuple[int, str, str, str], ast.AST]:
    """What the imports among some statements import, with the nodes."""
    found: dict[tuple[int, str, str, str], ast.AST] = {}
    for node in body:
        if isinstance(node, ast.Import):
            found.update({(0, alias.name, "", alias.asname or ""): node for alias in node.names})
        elif isinstance(node, ast.ImportFrom):
            names = ((alias.name, alias.asname or alias.name) for alias in node.names)
            found.update({(node.level, node.module or "", name, bound): node for name, bound in names})
    return found


def _other_statements(body: Sequence[object]) -> list[object]:
    """The statements without imports, without strings that stand alone, and without ``pass``, which these replace."""
    return [
        one
        for one in body
        if not isinstance(one, ast.Pass | ast.Import | ast.ImportFrom)
        and not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str))
    ]
