"""Expressions of one file as operands and conditions, under what is known of the local names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.extract.quantified import QUANTIFIERS, Test, test_of_unknown, tests_of

Operand = tuple[Any, ...]
"""``("const", value)``, ``("name", dotted)``, ``("param", dotted)``, ``("call", dotted, arguments)``,
``("item", dotted, key)``, ``("opaque", line, column, label)``, ``("cond", condition)`` for a truth value, or
``("select", condition, operand, operand)``."""

Names = Mapping[str, Operand]

MAX_DEPTH = 25
_MAX_ARGUMENTS = 3
_MAX_ELEMENTS = 40
_SKIP_MARKS = ("skipif", "skipIf")
_SKIP_UNLESS = "skipUnless"


def dotted(node: ast.expr) -> str:
    """``a.b.c`` for a chain of attributes on a name, empty for anything else."""
    if node.__class__ is ast.Name:
        return node.id
    text = ""
    while node.__class__ is ast.Attribute:
        text = f".{node.attr}{text}"
        node = node.value
    return f"{node.id}{text}" if text and node.__class__ is ast.Name else ""


def condition(node: ast.expr, names: Names, depth: int = 0) -> Condition:
    """The truth of *node*."""
    if depth > MAX_DEPTH:
        return _opaque(node)
    kind = node.__class__
    if kind is ast.UnaryOp and isinstance(node.op, ast.Not):  # type: ignore[attr-defined]
        return negate(condition(node.operand, names, depth + 1))  # type: ignore[attr-defined]
    if isinstance(node, ast.BoolOp):
        conjunction = isinstance(node.op, ast.And)
        result = TRUE if conjunction else FALSE
        for value in node.values:
            one = condition(value, names, depth + 1)
            result = both(result, one) if conjunction else either(result, one)
        return result
    if isinstance(node, ast.Compare):
        result, left = TRUE, operand(node.left, names, depth + 1)
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = operand(comparator, names, depth + 1)
            result, left = both(result, compare(operator, left, right, node)), right
        return result
    return truth_of(operand(node, names, depth))


def operand(node: ast.expr, names: Names, depth: int = 0) -> Operand:
    """The value of *node*, as far as conditions care."""
    if depth > MAX_DEPTH:
        return _opaque(node)
    reader = _READERS.get(node.__class__)
    return reader(node, names, depth) if reader is not None else _opaque(node)


def truth_of(value: Operand) -> Condition:
    """The truth of an operand."""
    kind = value[0]
    if kind == "const":
        return TRUE if value[1] else FALSE
    if kind == "cond":
        held: Condition = value[1]
        return held
    if kind == "select":
        _, test, left, right = value
        return either(both(test, truth_of(left)), both(negate(test), truth_of(right)))
    return value


def strings_of(value: Operand) -> tuple[str, ...]:
    """The strings of a collection that holds nothing else."""
    listed = value[1] if value[0] == "const" and isinstance(value[1], tuple) else ()
    return listed if all(isinstance(one, str) for one in listed) else ()


def select(test: Condition, left: Operand, right: Operand) -> Operand:
    """``left if test else right``."""
    if test == TRUE or left == right:
        return left
    return right if test == FALSE else ("select", test, left, right)


def compare(operator: ast.cmpop, left: Operand, right: Operand, node: ast.expr) -> Condition:
    """The truth of a comparison; negative operators become the negation of the positive one."""
    kind = operator.__class__.__name__
    positive = {"NotEq": "Eq", "IsNot": "Is", "NotIn": "In"}.get(kind)
    if positive is not None:
        return negate(_compare(positive, left, right, node))
    return _compare(kind, left, right, node)


def _compare(kind: str, left: Operand, right: Operand, node: ast.expr) -> Condition:
    for one, other, on_left in ((left, right, True), (right, left, False)):
        if one[0] == "select":
            _, test, first, second = one
            one_way = _compare(kind, first, other, node) if on_left else _compare(kind, other, first, node)
            other_way = _compare(kind, second, other, node) if on_left else _compare(kind, other, second, node)
            return either(both(test, one_way), both(negate(test), other_way))
    if left[0] == "const" and right[0] != "const" and kind in ("Eq", "Is"):
        left, right = right, left
    if right[0] == "const":
        return _compare_constant(kind, left, right[1], node)
    if kind in ("Eq", "Is", "In") and "cond" not in (left[0], right[0]):
        return ("cmp", kind, left, right)
    return _opaque(node)


def _compare_constant(kind: str, left: Operand, value: object, node: ast.expr) -> Condition:
    if left[0] == "const":
        known = _constant_comparison(kind, left[1], value)
        return _opaque(node) if known is None else TRUE if known else FALSE
    if left[0] == "cond":
        truth = truth_of(left)
        if kind in ("Eq", "Is") and isinstance(value, bool):
            return truth if value else negate(truth)
        return FALSE if kind == "Is" and value is None else _opaque(node)
    if kind in ("Eq", "Is") and isinstance(value, bool) and left[0] in ("name", "call", "item", "param"):
        return left if value else negate(left)
    if kind == "In" and isinstance(value, tuple) and len(value) <= 8:
        result = FALSE
        for element in value:
            result = either(result, ("cmp", "Eq", left, ("const", element)))
        return result
    if kind in ("Eq", "Is", "In", "Gt", "GtE", "Lt", "LtE"):
        return ("cmp", kind, left, ("const", value))
    return _opaque(node)


def _constant_comparison(kind: str, left: object, right: object) -> bool | None:
    try:
        match kind:
            case "Eq":
                return left == right
            case "Is":
                return left is right if left is None or right is None else type(left) is type(right) and left == right
            case "In" if isinstance(right, str | tuple):
                return left in right
            case "Gt" if isinstance(left, int | float) and isinstance(right, int | float):
                return left > right
            case "Lt" if isinstance(left, int | float) and isinstance(right, int | float):
                return left < right
    except TypeError:
        return None
    return None


def _named(node: ast.expr, names: Names) -> Operand:
    name = dotted(node)
    if not name:
        return _opaque(node, _written(node))
    root, _, rest = name.partition(".")
    known = names.get(root)
    if known is None:
        return ("name", name)
    if not rest:
        return known
    if known[0] == "param":
        return ("param", f"{known[1]}.{rest}")
    if known[0] == "name":
        return ("name", f"{known[1]}.{rest}")
    if known[0] == "opaque":
        return ("opaque", known[1], known[2], name)
    return _opaque(node, name)


def _written(node: ast.expr) -> str:
    """``a.b().c`` as text, for a chain that goes through calls."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Call):
        if isinstance(node, ast.Attribute):
            parts.append(f".{node.attr}")
            node = node.value
        else:
            parts.append("()")
            node = node.func
    return node.id + "".join(reversed(parts)) if isinstance(node, ast.Name) else ""


def arguments_of(node: ast.Call, names: Names) -> tuple[object, ...]:
    """The arguments of a call: constants, operands, and for keywords ``("=", name, argument)``."""
    arguments = tuple(_argument(argument, names) for argument in node.args)
    keywords = tuple(("=", keyword.arg, _argument(keyword.value, names)) for keyword in node.keywords)
    return arguments + keywords


def marks(node: ast.expr, names: Names) -> Condition:
    """The condition under which tests with these marks run: one mark, or a list of them."""
    result = TRUE
    for element in node.elts if isinstance(node, ast.List | ast.Tuple) else [node]:
        value = operand(element, names)
        if value[0] == "cond":
            result = both(result, value[1])
    return result


def _called(node: ast.Call, names: Names, depth: int) -> Operand:
    name = dotted(node.func)
    last = name.rpartition(".")[2]
    if last in _SKIP_MARKS and node.args:
        return ("cond", negate(condition(node.args[0], names, depth + 1)))
    if last == _SKIP_UNLESS and node.args:
        return ("cond", condition(node.args[0], names, depth + 1))
    if name == "bool" and len(node.args) == 1 and "bool" not in names:
        return ("cond", condition(node.args[0], names, depth + 1))
    if name in QUANTIFIERS and name not in names:
        tests = tests_of(node, names, operand, depth + 1)
        if tests is not None:
            return ("cond", _quantified(tests, name == "all", depth))
        one = test_of_unknown(node, names)
        if one is not None:
            held = _quantified([one], name == "all", depth)
            # Without an element, any() is false. That all() is true then is nobody's guard.
            return ("cond", held if name == "all" else both(_opaque(node, name), held))
    if isinstance(node.func, ast.Attribute) and node.func.attr == "startswith" and len(node.args) == 1:
        prefix = operand(node.args[0], names, depth + 1)
        if prefix[0] == "const" and isinstance(prefix[1], str):
            return ("cond", ("cmp", "Eq", operand(node.func.value, names, depth + 1), prefix))
    if not name or name.partition(".")[0] in names or len(node.args) + len(node.keywords) > _MAX_ARGUMENTS:
        return _opaque(node, name)
    return ("call", name, arguments_of(node, names))


def _quantified(tests: Iterable[Test], every: bool, depth: int) -> Condition:
    result = TRUE if every else FALSE
    for filters, test, known in tests:
        asked = TRUE
        for one in filters:
            asked = both(asked, condition(one, known, depth + 1))
        held = condition(test, known, depth + 1)
        result = both(result, either(negate(asked), held)) if every else either(result, both(asked, held))
    return result


def _argument(node: ast.expr, names: Names) -> object:
    if isinstance(node, ast.Constant):
        return node.value if node.value is not ... else None
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        listed = operand(node, names)
        return listed[1] if listed[0] == "const" and listed[1] else _opaque(node)
    known = _named(node, names) if isinstance(node, ast.Name | ast.Attribute) else ("opaque",)
    if known[0] == "const":
        return known[1]
    return known if known[0] in ("name", "param", "opaque") and len(known) > 1 else _opaque(node, dotted(node))


def _opaque(node: ast.expr, label: str = "") -> Operand:
    return ("opaque", node.lineno, node.col_offset, label)


def _constant(node: ast.Constant, names: Names, depth: int) -> Operand:
    return ("const", node.value if node.value is not ... else "...")


def _condition_operand(node: ast.expr, names: Names, depth: int) -> Operand:
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return _opaque(node)
    return ("cond", condition(node, names, depth + 1))


def _if_exp(node: ast.IfExp, names: Names, depth: int) -> Operand:
    test = condition(node.test, names, depth + 1)
    return select(test, operand(node.body, names, depth + 1), operand(node.orelse, names, depth + 1))


def _collection(node: ast.Tuple | ast.List | ast.Set, names: Names, depth: int) -> Operand:
    if len(node.elts) > _MAX_ELEMENTS:
        return _opaque(node)
    values = [operand(element, names, depth + 1) for element in node.elts]
    if all(value[0] == "const" for value in values):
        return ("const", tuple(value[1] for value in values))
    return _opaque(node)


def _subscript(node: ast.Subscript, names: Names, depth: int) -> Operand:
    base = dotted(node.value)
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if base and base.partition(".")[0] not in names and isinstance(key, str):
        return ("item", base, key)
    return _opaque(node)


_READERS: dict[type[ast.expr], Callable[[Any, Names, int], Operand]] = {
    ast.Constant: _constant,
    ast.Name: lambda node, names, depth: _named(node, names),
    ast.Attribute: lambda node, names, depth: _named(node, names),
    ast.Call: _called,
    ast.NamedExpr: lambda node, names, depth: operand(node.value, names, depth + 1),
    ast.IfExp: _if_exp,
    ast.BoolOp: _condition_operand,
    ast.Compare: _condition_operand,
    ast.UnaryOp: _condition_operand,
    ast.Tuple: _collection,
    ast.List: _collection,
    ast.Set: _collection,
    ast.Subscript: _subscript,
}
