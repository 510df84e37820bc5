"""How many values a function returns: what each ``return``, and reaching the end, hands to a caller that unpacks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from veomni_opslint.extract.operands import dotted

Shape = int | Literal["one", "none", "other"] | None
"""The length of a tuple; one value that is no tuple; None returned; a value that cannot be unpacked; not known."""

_MAX_DEPTH = 6
_TENSOR_METHODS = frozenset({
    "to", "float", "half", "bfloat16", "double", "type", "type_as", "contiguous", "clone", "detach", "view", "view_as",
    "reshape", "reshape_as", "transpose", "permute", "squeeze", "unsqueeze", "flatten", "expand", "expand_as", "t",
    "mul", "add", "sub", "div", "pow", "rsqrt", "sqrt", "neg", "exp", "mean", "sum", "matmul", "mm", "bmm", "add_",
    "mul_", "div_", "sub_", "copy_", "zero_", "fill_", "masked_fill", "repeat", "cuda", "npu", "cpu", "square", "abs",
    "sigmoid", "new_empty", "new_zeros", "new_tensor", "narrow", "select", "index_select", "gather", "clamp",
})  # fmt: skip
_TENSOR_FUNCTIONS = frozenset({
    "cat", "stack", "concat", "rsqrt", "sqrt", "matmul", "mm", "bmm", "einsum", "zeros", "ones", "empty", "full",
    "zeros_like", "ones_like", "empty_like", "full_like", "mul", "add", "sub", "div", "pow", "where", "sigmoid", "silu",
    "linear", "rms_norm", "layer_norm", "normalize", "tensor", "neg", "exp", "softmax", "roll", "mean", "sum", "square",
})  # fmt: skip
_TENSOR_MODULES = ("torch", "F", "functional", "nn.functional", "torch.nn.functional")
_OTHER_CODE = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda})
_BINDING = frozenset({
    ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.AugAssign, ast.For, ast.comprehension, ast.withitem,
})  # fmt: skip
_NO_CODE = ("ctx", "op")
_ARITHMETIC = (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow, ast.MatMult, ast.Mod)


class Returned(NamedTuple):
    """One way in which a function ends: ``node`` is the ``return``, or the last statement before its end."""

    node: ast.stmt
    shape: Shape
    value: ast.expr | None


class Body(NamedTuple):
    """A function: its statements, its parameters, and how to find the functions and classes that it names."""

    node: ast.FunctionDef | ast.Lambda
    statements: tuple[ast.stmt, ...]
    called: Callable[[str], Body | int | None]
    """For a dotted callee: the function, or the number of values of an object of the class (0: no tuple), if known."""
    worst: bool = True
    """Whether of a conditional expression the branch counts that is wrong for a pair; otherwise both have to agree."""

    def returned(self, depth: int = 0) -> Iterator[Returned]:
        """Each way in which it returns."""
        if isinstance(self.node, ast.Lambda):
            holder = ast.copy_location(ast.Return(self.node.body), self.node)
            yield Returned(holder, self.shape(self.node.body, depth), self.node.body)
            return
        if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own_nodes(self.statements)):
            return
        for node in own_nodes(self.statements):
            if isinstance(node, ast.Return):
                yield Returned(node, "none" if node.value is None else self.shape(node.value, depth), node.value)
        if self.statements and _falls_through(self.statements):
            yield Returned(self.statements[-1], "none", None)

    def shape(self, node: ast.expr, depth: int = 0) -> Shape:
        """What an expression hands to a caller that unpacks it."""
        if depth > _MAX_DEPTH:
            return None
        match node:
            case ast.Tuple(elts=elements):
                return None if any(isinstance(one, ast.Starred) for one in elements) else len(elements)
            case ast.Constant(value=value):
                return "none" if value is None else "other"
            case ast.Dict() | ast.JoinedStr() | ast.Compare() | ast.Set() | ast.Lambda():
                return "other"
            case ast.IfExp(body=body, orelse=orelse):
                branches = (self.shape(body, depth + 1), self.shape(orelse, depth + 1))
                return _worst(*branches) if self.worst or branches[0] == branches[1] else None
            case ast.NamedExpr(value=value):
                return self.shape(value, depth + 1)
            case ast.UnaryOp():
                return "one"
            case ast.BinOp(left=left, op=operator, right=right):
                if isinstance(operator, _ARITHMETIC):
                    return "one"
                parts = (self.shape(left, depth + 1), self.shape(right, depth + 1))
                lengths = [part for part in parts if isinstance(part, int)]
                if len(lengths) == len(parts) and isinstance(operator, ast.Add):
                    return sum(lengths)
                return "one" if "one" in parts else None
            case ast.Name(id=name):
                return self._named(name, depth)
            case ast.Call():
                return self._call(node, depth)
        return None

    def _named(self, name: str, depth: int) -> Shape:
        bound = [value for one in _binding_nodes(self.statements) for value in _bound(one, name)]
        if not bound:
            return "one" if name in _parameters(self.node) else None
        shapes = {self._of_binding(value, depth) for value in bound}
        return shapes.pop() if len(shapes) == 1 else None

    def _of_binding(self, value: ast.expr | Literal["one"] | None, depth: int) -> Shape:
        if isinstance(value, ast.expr):
            return self.shape(value, depth + 1)
        return value

    def _call(self, node: ast.Call, depth: int) -> Shape:
        name = dotted(node.func)
        found = self.called(name) if name else None
        if isinstance(node.func, ast.Attribute) and found is None:
            if self._gives_tensor(node.func, name):
                return "one"
            found = self._of_object(node.func)
        if isinstance(found, int):
            return found or "other"
        if found is None or depth > _MAX_DEPTH:
            return None
        shapes = {one.shape for one in found.returned(depth + 1)}
        return shapes.pop() if len(shapes) == 1 else None

    def _gives_tensor(self, callee: ast.Attribute, name: str) -> bool:
        """Whether a call is of a method that tensors have, on a value made here, or of a function of torch."""
        owner = name.rpartition(".")[0]
        if owner in _TENSOR_MODULES:
            return callee.attr in _TENSOR_FUNCTIONS
        root = owner.partition(".")[0]
        local = not name or root in _parameters(self.node) or self._is_bound(root)
        return local and callee.attr in _TENSOR_METHODS

    def _is_bound(self, name: str) -> bool:
        return any(True for one in _binding_nodes(self.statements) for _ in _bound(one, name))

    def _of_object(self, callee: ast.Attribute) -> Body | int | None:
        """``Class(…).method``."""
        if isinstance(callee.value, ast.Call) and dotted(callee.value.func):
            return self.called(f"{dotted(callee.value.func)}.{callee.attr}")
        return None


@lru_cache(maxsize=512)
def own_nodes(statements: tuple[ast.stmt, ...]) -> list[ast.AST]:
    """All nodes of a function's own code, without those of functions and classes inside it, in order.

    Not to be changed: the list is shared by all who ask.
    """
    found: list[ast.AST] = []
    pending: list[ast.AST] = list(reversed(statements))
    while pending:
        node = pending.pop()
        found.append(node)
        if node.__class__ in _OTHER_CODE:
            continue
        for name in reversed(node._fields):
            child = getattr(node, name, None)
            if child.__class__ is list:
                pending.extend(one for one in reversed(child) if isinstance(one, ast.AST))
            elif isinstance(child, ast.AST) and name not in _NO_CODE:
                pending.append(child)
    return found


def bound_in(statements: tuple[ast.stmt, ...]) -> set[str]:
    """Names that a function's own code binds."""
    found = set()
    for node in own_nodes(statements):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
    return found


@lru_cache(maxsize=512)
def _binding_nodes(statements: tuple[ast.stmt, ...]) -> list[ast.AST]:
    return [one for one in own_nodes(statements) if one.__class__ in _BINDING]


def _bound(node: ast.AST, name: str) -> Iterator[ast.expr | Literal["one"] | None]:
    """What a node binds a name to; ``"one"`` for a part of an unpacked value, None for something not known."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id == name:
                yield node.value
            elif isinstance(target, ast.Tuple | ast.List):
                yield from _unpacked(target, node.value, name)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
        if isinstance(node.target, ast.Name) and node.target.id == name:
            yield node.value
    elif isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Name) and node.target.id == name:
            yield "one" if not isinstance(node.op, ast.Add) else None
    elif isinstance(node, ast.For | ast.comprehension | ast.withitem):
        held = node.optional_vars if isinstance(node, ast.withitem) else node.target
        if held is not None and any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(held)):
            yield None


def _unpacked(target: ast.Tuple | ast.List, value: ast.expr, name: str) -> Iterator[ast.expr | Literal["one"] | None]:
    paired = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
    for index, one in enumerate(target.elts):
        if isinstance(one, ast.Name) and one.id == name:
            yield value.elts[index] if paired and isinstance(value, ast.Tuple | ast.List) else "one"
        elif any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(one)):
            yield None


def _parameters(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The parameters that stand for one value each; the first of a method is not the output of an op."""
    arguments = node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return frozenset(names) - {"self", "cls"}


def _worst(left: Shape, right: Shape) -> Shape:
    """The shape of a value that may have either: one that is wrong for a pair counts."""
    if left == right:
        return left
    for one, other in ((left, right), (right, left)):
        if one not in (None, 2) and other in (None, 2):
            return one
    return left if left not in (None, 2) else None


def _falls_through(statements: tuple[ast.stmt, ...] | list[ast.stmt]) -> bool:
    """Whether the end of a block can be reached, as far as its statements say."""
    for statement in statements:
        match statement:
            case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
                return False
            case ast.If(body=body, orelse=orelse):
                if orelse and not _falls_through(body) and not _falls_through(orelse):
                    return False
            case ast.With(body=body) | ast.AsyncWith(body=body):
                if not _falls_through(body) and not _suppresses(statement):
                    return False
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                if final and not _falls_through(final):
                    return False
                if not _falls_through([*body, *orelse]) and not any(_falls_through(one.body) for one in handlers):
                    return False
            case ast.While(test=ast.Constant(value=True)):
                if not any(isinstance(one, ast.Break) for one in ast.walk(statement)):
                    return False
            case ast.Match(cases=cases):
                if any(_catches_all(one) for one in cases) and not any(_falls_through(one.body) for one in cases):
                    return False
            case ast.Expr(value=ast.Call(func=callee)) if dotted(callee) in ("sys.exit", "os.abort", "pytest.fail"):
                return False
            case ast.Assert(test=ast.Constant(value=False)):
                return False
    return True


def _catches_all(case: ast.match_case) -> bool:
    return isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None


def _suppresses(node: ast.stmt) -> bool:
    items = node.items if isinstance(node, ast.With | ast.AsyncWith) else []
    return any(
        isinstance(one.context_expr, ast.Call) and dotted(one.context_expr.func).rpartition(".")[2] == "suppress"
        for one in items
    )
