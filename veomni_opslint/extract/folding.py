"""Strings that code puts together from what is known: the names of modules that it imports."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from veomni_opslint.extract.operands import Operand, operand

_MAX_DEPTH = 8


def folded(node: ast.expr, names: Mapping[str, Operand]) -> str | None:
    """The string that *node* is: of an f-string of which only the beginning is known, the packages in that."""
    if isinstance(node, ast.JoinedStr):
        known = ""
        for part in node.values:
            text = _part(part, names, 0)
            if text is None:
                return known.rpartition(".")[0] or None
            known += text
        return known
    return _folded(node, names, 0)


def _folded(node: ast.expr, names: Mapping[str, Operand], depth: int) -> str | None:
    if depth > _MAX_DEPTH:
        return None
    if isinstance(node, ast.Constant | ast.Name):
        value = operand(node, names)
        return value[1] if value[0] == "const" and isinstance(value[1], str) else None
    parts: list[str | None]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_folded(node.left, names, depth + 1), _folded(node.right, names, depth + 1)]
    elif isinstance(node, ast.JoinedStr):
        parts = [_part(part, names, depth + 1) for part in node.values]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords:
        return _method(node, node.func, names, depth)
    else:
        return None
    known = [part for part in parts if part is not None]
    return "".join(known) if len(known) == len(parts) else None


def _part(node: ast.expr, names: Mapping[str, Operand], depth: int) -> str | None:
    """A part of an f-string."""
    if isinstance(node, ast.FormattedValue):
        return _folded(node.value, names, depth + 1) if node.conversion == -1 and node.format_spec is None else None
    return _folded(node, names, depth + 1)


def _method(call: ast.Call, function: ast.Attribute, names: Mapping[str, Operand], depth: int) -> str | None:
    """``"{}.a".format("b")`` and ``".".join(("b", "a"))``."""
    owner = _folded(function.value, names, depth + 1)
    given = call.args
    if function.attr == "join" and len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List):
        given = given[0].elts
    texts = [_folded(one, names, depth + 1) for one in given]
    known = [text for text in texts if text is not None]
    if owner is None or len(known) != len(texts):
        return None
    if function.attr == "join":
        return owner.join(known)
    if function.attr == "format" and owner.count("{}") == len(known) and owner.count("{") == len(known):
        for text in known:
            owner = owner.replace("{}", text, 1)
        return owner
    return None
