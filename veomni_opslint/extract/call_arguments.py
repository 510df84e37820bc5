"""The arguments that a call gives, with what is written out in ``*(…)`` and ``**{…}`` among them."""

from __future__ import annotations

import ast


def given_by(call: ast.Call) -> tuple[int, bool, tuple[str, ...], bool]:
    """How many positional arguments, whether ``*x`` adds some more, which keywords, and whether ``**x`` adds some."""
    positional = 0
    star = False
    for argument in call.args:
        known = _length(argument.value) if isinstance(argument, ast.Starred) else 1
        star = star or known is None
        positional += known or 0
    names: list[str] = []
    double_star = False
    for keyword in call.keywords:
        if keyword.arg is not None:
            names.append(keyword.arg)
            continue
        keys = _keys(keyword.value)
        double_star = double_star or keys is None
        names += keys or ()
    return positional, star, tuple(names), double_star


def _length(node: ast.expr) -> int | None:
    if not isinstance(node, ast.Tuple | ast.List):
        return None
    lengths = [_length(one.value) if isinstance(one, ast.Starred) else 1 for one in node.elts]
    return None if None in lengths else sum(one for one in lengths if one is not None)


def _keys(node: ast.expr) -> list[str] | None:
    """The keys of a dictionary that is written out: ``{"a": 1}`` or ``dict(a=1)``."""
    if isinstance(node, ast.Dict):
        keys = [one.value if isinstance(one, ast.Constant) else None for one in node.keys]
        found = [one for one in keys if isinstance(one, str)]
        return found if len(found) == len(keys) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
        named = [one.arg for one in node.keywords if one.arg is not None]
        return named if len(named) == len(node.keywords) else None
    return None
