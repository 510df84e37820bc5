"""The tests that ``all(…)`` and ``any(…)`` ask of elements: of each that is written, or of any one that is not."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_MAX_ELEMENTS = 12
_Names = Mapping[str, tuple[Any, ...]]
Test = tuple[list[ast.expr], ast.expr, _Names]
"""The filters before a test, the test, and what is known of names there."""
_Operand = Callable[[ast.expr, _Names, int], tuple[Any, ...]]

QUANTIFIERS = frozenset({"all", "any"})


def tests_of(node: ast.Call, names: _Names, operand: _Operand, depth: int) -> Iterator[Test] | None:
    """Each test; None where the elements are not known."""
    argument = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if isinstance(argument, ast.GeneratorExp | ast.ListComp | ast.SetComp):
        generator = argument.generators[0]
        elements = _elements(generator.iter)
        if len(argument.generators) > 1 or generator.is_async or not isinstance(generator.target, ast.Name):
            return None
        if elements is None:
            return None
        target = generator.target.id
        known = [{**names, target: operand(element, names, depth)} for element in elements]
        return ((generator.ifs, argument.elt, held) for held in known)
    elements = _elements(argument) if argument is not None else None
    return (([], element, names) for element in elements) if elements is not None else None


def test_of_unknown(node: ast.Call, names: _Names) -> Test | None:
    """The test that a comprehension asks of whatever it goes through; None where it is no plain comprehension."""
    argument = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if not isinstance(argument, ast.GeneratorExp | ast.ListComp | ast.SetComp):
        return None
    generator = argument.generators[0]
    if len(argument.generators) > 1 or generator.is_async:
        return None
    targets = [one.id for one in ast.walk(generator.target) if isinstance(one, ast.Name)]
    # Said of the place of the whole call, so that another call asks of other elements.
    held = {name: ("opaque", node.lineno, node.col_offset, name) for name in targets}
    return generator.ifs, argument.elt, {**names, **held}


def _elements(node: ast.expr) -> list[ast.expr] | None:
    if not isinstance(node, ast.List | ast.Tuple | ast.Set) or len(node.elts) > _MAX_ELEMENTS:
        return None
    return None if any(isinstance(element, ast.Starred) for element in node.elts) else node.elts
