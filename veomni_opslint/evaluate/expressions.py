"""Expressions: from ``ast`` nodes to values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from veomni_opslint.conditions import FALSE, TRUE, both, negate
from veomni_opslint.evaluate.call_sites import CallSites
from veomni_opslint.evaluate.cells import UNBOUND, Value, unknown
from veomni_opslint.evaluate.comprehensions import Comprehensions
from veomni_opslint.evaluate.containers import DictValue, ListValue, SetValue
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.limits import MAX_NESTING, NotPlain, Raised, TooDeep
from veomni_opslint.evaluate.path import Note, Step
from veomni_opslint.evaluate.table_methods import update_table
from veomni_opslint.evaluate.values import Function, Instance, Maybe

_DUNDERS: dict[type[ast.operator], str] = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__", ast.Mod: "__mod__",
    ast.LShift: "__lshift__", ast.RShift: "__rshift__", ast.BitOr: "__or__", ast.BitAnd: "__and__",
    ast.MatMult: "__matmul__",
}  # fmt: skip


class Expressions(Comprehensions, CallSites):
    """Evaluating expressions."""

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        self.steps -= 1
        if self.steps < 0:
            self.spend()
        if self.nesting >= MAX_NESTING:
            raise TooDeep("is nested too deeply to follow")
        evaluator = _EVALUATORS.get(type(node))
        if evaluator is None:
            return unknown("is an expression of a kind that is not followed")
        self.nesting += 1
        try:
            return evaluator(self, node, frame)
        except NotPlain as problem:
            return unknown(problem.reason)
        finally:
            self.nesting -= 1

    def constant(self, node: ast.Constant, _frame: Frame) -> Value:
        value: Value = node.value
        return value

    def name(self, node: ast.Name, frame: Frame) -> Value:
        return self.lookup(node.id, frame)

    def attribute_of(self, node: ast.Attribute, frame: Frame) -> Value:
        value = self.evaluate(node.value, frame)
        return self.attribute(value, node.attr, frame.module.text(node) if self.catching else "")

    def joined_text(self, node: ast.JoinedStr, frame: Frame) -> Value:
        specs = [_spec_of(part) for part in node.values]
        values = [self.evaluate(part.value if isinstance(part, ast.FormattedValue) else part, frame)
                  for part in node.values]  # fmt: skip
        formats = [self.evaluate(spec, frame) if spec is not None else "" for spec in specs]

        def join(parts: list[Value]) -> Value:
            text = []
            for part, value, spec in zip(node.values, parts, parts[len(node.values) :], strict=False):
                conversion = (
                    chr(part.conversion) if isinstance(part, ast.FormattedValue) and part.conversion > 0 else ""
                )
                text.append(self.formatted(value, conversion, str(self.plain(spec))))
            return "".join(text)

        return self.combined([*values, *formats], join)

    def binary_of(self, node: ast.BinOp, frame: Frame) -> Value:
        chain = [node]
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        value = self.evaluate(chain[-1].left, frame)
        for link in reversed(chain):
            self.spend()
            value = self.operate(link.op, value, self.evaluate(link.right, frame))
        return value

    def operate(self, operator: ast.operator, left: Value, right: Value) -> Value:
        """The result of a binary operator, for each combination of choices."""

        def use(values: list[Value]) -> Value:
            first, second = values
            if isinstance(first, Instance) and first.cls.find(_DUNDERS.get(type(operator), "")) is not UNBOUND:
                return self.invoke(self.attribute(first, _DUNDERS[type(operator)], "an operator"), second)
            try:
                return self.binary(operator, first, second)
            except NotPlain as problem:
                parts = [self.settled(first), self.settled(second)]
                if len(parts[0]) == len(parts[1]) == 1:
                    return unknown(problem.reason)
                return self.in_each(self.combine(parts), use)

        return self.combined([left, right], use)

    def unary_of(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self.evaluate(node.operand, frame)
        if isinstance(node.op, ast.Not):
            return self.boolean(negate(self.truth_of(value, frame.module.text(node.operand))))
        return self.spread(value, lambda option: _signed(node.op, self.plain(option)))

    def either_of(self, node: ast.BoolOp, frame: Frame) -> Value:
        decisive = FALSE if isinstance(node.op, ast.And) else TRUE

        def rest(index: int) -> Value:
            operand = node.values[index]
            value = self.evaluate(operand, frame)
            if index == len(node.values) - 1:
                return value
            text = frame.module.text(operand)
            formula = self.truth_of(value, text)
            if formula in (TRUE, FALSE):
                return value if formula == decisive else rest(index + 1)
            goes_on = formula if decisive == FALSE else negate(formula)
            note = Note(text, decisive == FALSE)
            branches: list[tuple[Step, Callable[[], Value]]] = [
                (Step(goes_on, (note,)), lambda: rest(index + 1)),
                (Step(negate(goes_on), (note.flipped(),)), lambda: self.prune(value)),
            ]
            return self.choose([(step.formula, found) for step, found in self.fork(branches, exhaustive=True)])

        return rest(0)

    def comparison(self, node: ast.Compare, frame: Frame) -> Value:
        left = self.evaluate(node.left, frame)
        formula = TRUE
        text = frame.module.text(node)
        for operator, item in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(item, frame)
            result = self.compare(operator, left, right, text)
            if len(node.ops) == 1:
                return result
            formula = both(formula, self.truth_of(result, text))
            if formula == FALSE:
                break
            left = right
        return self.boolean(formula)

    def conditional(self, node: ast.IfExp, frame: Frame) -> Value:
        text = frame.module.text(node.test)
        formula = self.truth_of(self.evaluate(node.test, frame), text)
        if formula in (TRUE, FALSE):
            return self.evaluate(node.body if formula == TRUE else node.orelse, frame)
        branches: list[tuple[Step, Callable[[], Value]]] = [
            (Step(formula, (Note(text),)), lambda: self.evaluate(node.body, frame)),
            (Step(negate(formula), (Note(text, holds=False),)), lambda: self.evaluate(node.orelse, frame)),
        ]
        return self.choose([(step.formula, value) for step, value in self.fork(branches, exhaustive=True)])

    def _items(self, nodes: list[ast.expr], frame: Frame) -> list[Value]:
        items: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                items.extend(self.elements(self.evaluate(node.value, frame)))
            else:
                items.append(self.evaluate(node, frame))
        return items

    def tuple_of(self, node: ast.Tuple, frame: Frame) -> Value:
        items = self._items(node.elts, frame)
        if any(isinstance(item, Maybe) for item in items):
            options = [(when, tuple(self.certain(found))) for when, found in self.settled(ListValue(items))]
            return self.choose(options)
        return tuple(items)

    def list_of(self, node: ast.List, frame: Frame) -> Value:
        return ListValue(self._items(node.elts, frame))

    def set_of(self, node: ast.Set, frame: Frame) -> Value:
        return SetValue(self._items(node.elts, frame))

    def dict_of(self, node: ast.Dict, frame: Frame) -> Value:
        keys = [UNBOUND if key is None else self.evaluate(key, frame) for key in node.keys]
        values = [self.evaluate(value, frame) for value in node.values]

        def build(merged: list[Value]) -> Value:
            table, sources = DictValue(), iter(merged)
            for key, value in zip(keys, values, strict=True):
                if key is UNBOUND:
                    update_table(self, table, next(sources))
                else:
                    table.put(key, value)
            return table

        return self.combined([value for key, value in zip(keys, values, strict=True) if key is UNBOUND], build)

    def element_of(self, node: ast.Subscript, frame: Frame) -> Value:
        value = self.evaluate(node.value, frame)
        index = self.evaluate(node.slice, frame)
        return self.subscript(value, index, frame.module.text(node) if self.catching else "")

    def slice_of(self, node: ast.Slice, frame: Frame) -> Value:
        parts = [None if part is None else self.plain(self.prune(self.evaluate(part, frame)))
                 for part in (node.lower, node.upper, node.step)]  # fmt: skip
        return slice(*parts)

    def lambda_of(self, node: ast.Lambda, frame: Frame) -> Value:
        return self.function_of(node, "<lambda>", frame)

    def function_of(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str, frame: Frame
    ) -> Function:
        """The function that a def or lambda makes, its defaults evaluated."""
        defaults = tuple(self.evaluate(item, frame) for item in node.args.defaults)
        keyword_defaults = {
            item.arg: self.evaluate(default, frame)
            for item, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if default is not None
        }
        return Function(node, f"{frame.function_frame().prefix}{name}", frame.module, frame, defaults, keyword_defaults)

    def walrus(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self.evaluate(node.value, frame)
        self.assign(node.target, value, frame.function_frame())
        return value

    def yielded(self, node: ast.Yield, frame: Frame) -> Value:
        value = None if node.value is None else self.evaluate(node.value, frame)
        target = frame.function_frame().yields
        if target is not None:
            self.touch(target)
            target.items.append(value)
            if len(target.items) > 2_000:
                raise TooDeep("is a generator that yields too much to follow")
        return None

    def yielded_from(self, node: ast.YieldFrom, frame: Frame) -> Value:
        target = frame.function_frame().yields
        value = self.evaluate(node.value, frame)
        if target is not None:
            self.touch(target)
            try:
                target.items.extend(self.elements(value))
            except NotPlain as problem:
                target.lose(problem.reason)
        return None


def _spec_of(part: ast.expr) -> ast.expr | None:
    return part.format_spec if isinstance(part, ast.FormattedValue) else None


def _signed(operator: ast.unaryop, value: Any) -> Value:  # noqa: ANN401
    try:
        if isinstance(operator, ast.USub):
            return -value
        return +value if isinstance(operator, ast.UAdd) else ~value
    except TypeError as problem:
        raise Raised("TypeError") from problem


_EVALUATORS: dict[type[ast.expr], Callable[[Expressions, Any, Frame], Value]] = {
    ast.Constant: Expressions.constant,
    ast.Name: Expressions.name,
    ast.Attribute: Expressions.attribute_of,
    ast.Call: Expressions.call_of,
    ast.JoinedStr: Expressions.joined_text,
    ast.BinOp: Expressions.binary_of,
    ast.UnaryOp: Expressions.unary_of,
    ast.BoolOp: Expressions.either_of,
    ast.Compare: Expressions.comparison,
    ast.IfExp: Expressions.conditional,
    ast.Tuple: Expressions.tuple_of,
    ast.List: Expressions.list_of,
    ast.Set: Expressions.set_of,
    ast.Dict: Expressions.dict_of,
    ast.Subscript: Expressions.element_of,
    ast.Slice: Expressions.slice_of,
    ast.Lambda: Expressions.lambda_of,
    ast.NamedExpr: Expressions.walrus,
    ast.Yield: Expressions.yielded,
    ast.YieldFrom: Expressions.yielded_from,
    ast.ListComp: Expressions.list_comprehension,
    ast.SetComp: Expressions.set_comprehension,
    ast.GeneratorExp: Expressions.generator,
    ast.DictComp: Expressions.dict_comprehension,
}
