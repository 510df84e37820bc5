"""What each kind of statement does; imports, loops, ``with``, ``try`` and ``match`` have modules of their own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from veomni_opslint.conditions import FALSE, TRUE, Condition, negate
from veomni_opslint.evaluate.blocks import NO_EXITS, Blocks
from veomni_opslint.evaluate.cells import Opaque, Value, unknown
from veomni_opslint.evaluate.containers import DictValue, ListValue, SetValue
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.library_functions import HARMLESS_DECORATORS, LIBRARY
from veomni_opslint.evaluate.limits import NotPlain
from veomni_opslint.evaluate.path import Exit, Note, Step
from veomni_opslint.evaluate.values import Arguments, Class, External


class Statements(Blocks):
    """Running statements."""

    def run(self, statement: ast.stmt, frame: Frame) -> list[Exit]:
        """Run one statement."""
        runner = RUNNERS.get(type(statement))
        if runner is None:
            return NO_EXITS
        return runner(self, statement, frame) or NO_EXITS

    def expression(self, node: ast.Expr, frame: Frame) -> None:
        self.evaluate(node.value, frame)

    def assignment(self, node: ast.Assign, frame: Frame) -> None:
        value = self.evaluate(node.value, frame)
        for target in node.targets:
            self.assign(target, value, frame)

    def annotated(self, node: ast.AnnAssign, frame: Frame) -> None:
        if frame.kind == "class" and isinstance(node.target, ast.Name):
            frame.annotations.append((node.target.id, node.annotation))
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value, frame), frame)

    def augmented(self, node: ast.AugAssign, frame: Frame) -> None:
        target = node.target
        right_node, owner, index = node.value, None, None
        if isinstance(target, ast.Name):
            current = self.lookup(target.id, frame)
        elif isinstance(target, ast.Attribute):
            owner = self.evaluate(target.value, frame)
            current = self.attribute(owner, target.attr, "")
        else:
            owner = self.evaluate(target.value, frame)
            index = self.evaluate(target.slice, frame)
            try:
                current = self.subscript(owner, index, "")
            except NotPlain as problem:
                current = unknown(problem.reason)
        right = self.evaluate(right_node, frame)
        value = self.spread(current, lambda option: self._changed(node.op, option, right, node, frame))
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value, frame)
        elif isinstance(target, ast.Attribute):
            self.set_attribute(owner, target.attr, value)
        else:
            self.set_item(owner, index, value)

    def _changed(self, operator: ast.operator, value: Value, right: Value, node: ast.stmt, frame: Frame) -> Value:
        method = ""
        if isinstance(value, ListValue) and isinstance(operator, ast.Add):
            method = "extend"
        elif isinstance(value, DictValue | SetValue) and isinstance(operator, ast.BitOr):
            method = "update"
        if method and not (isinstance(value, SetValue) and value.frozen):
            self.call(self.attribute(value, method, ""), Arguments((right,), {}, node, frame))
            return value
        return self.operate(operator, value, right)

    def condition(self, node: ast.If, frame: Frame) -> list[Exit]:
        text = frame.module.text(node.test)
        formula = self.truth_of(self.evaluate(node.test, frame), text)
        if formula in (TRUE, FALSE):
            return self.block(node.body if formula == TRUE else node.orelse, frame)
        return self.branches(
            [
                (Step(formula, (Note(text),)), lambda: self.block(node.body, frame)),
                (Step(negate(formula), (Note(text, holds=False),)), lambda: self.block(node.orelse, frame)),
            ],
            exhaustive=True,
        )

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
        function: Value = self.function_of(node, node.name, frame)
        self.assign_name(node.name, self._decorated(function, node, frame), frame)

    def class_definition(self, node: ast.ClassDef, frame: Frame) -> None:
        cls = self.define_class(node, frame)
        self.assign_name(node.name, self._decorated(cls, node, frame), frame)

    def _decorated(
        self, value: Value, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, frame: Frame
    ) -> Value:
        decorators = [(item, self.evaluate(item, frame)) for item in node.decorator_list]
        for item, decorator in reversed(decorators):
            self.here = (item, frame)
            if frame.kind == "module" and frame.module is self.running[-1]:
                self.statements[-1] = item
            if isinstance(decorator, Opaque) or (isinstance(decorator, External) and not _is_modelled(decorator)):
                text = frame.module.text(item)
                value = unknown(f"is decorated by {text}, which is not followed", hides=value)
            elif decorator is None:
                value = unknown("is decorated by None")
            else:
                value = self.call(decorator, Arguments((value,), {}, item, frame))
        return value

    def returned(self, node: ast.Return, frame: Frame) -> list[Exit]:
        value = None if node.value is None else self.evaluate(node.value, frame)
        return [Exit("return", TRUE, (), value)]

    def deletion(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.delete_name(target.id, frame)
            elif isinstance(target, ast.Subscript):
                owner = self.evaluate(target.value, frame)
                self.delete_item(owner, self.evaluate(target.slice, frame))
            elif isinstance(target, ast.Attribute):
                self.delete_attribute(self.evaluate(target.value, frame), target.attr)

    def raising(self, node: ast.Raise, frame: Frame) -> list[Exit]:
        value = self.evaluate(node.exc, frame) if node.exc is not None else None
        kind = value.cls if hasattr(value, "cls") else value
        name = ""
        if isinstance(kind, External):
            name = kind.last
        elif isinstance(kind, Class):
            name = kind.name
        elif isinstance(kind, Opaque) and kind.call.startswith("builtins."):
            name = kind.call.removeprefix("builtins.")
        return [Exit("raise", TRUE, (), name)]

    def asserted(self, node: ast.Assert, frame: Frame) -> list[Exit]:
        formula: Condition = self.truth_of(self.evaluate(node.test, frame), frame.module.text(node.test))
        return [Exit("raise", TRUE, (), "AssertionError")] if formula == FALSE else NO_EXITS

    def global_names(self, node: ast.Global, frame: Frame) -> None:
        frame.global_names.update(node.names)

    def nonlocal_names(self, node: ast.Nonlocal, frame: Frame) -> None:
        frame.nonlocal_names.update(node.names)


def _is_modelled(decorator: External) -> bool:
    return (
        decorator.dotted.startswith("builtins.")
        or decorator.dotted in LIBRARY
        or decorator.dotted in HARMLESS_DECORATORS
    )


RUNNERS: dict[type[ast.stmt], Callable[[Any, Any, Frame], list[Exit] | None]] = {
    ast.Expr: Statements.expression,
    ast.Assign: Statements.assignment,
    ast.AnnAssign: Statements.annotated,
    ast.AugAssign: Statements.augmented,
    ast.If: Statements.condition,
    ast.FunctionDef: Statements.definition,
    ast.AsyncFunctionDef: Statements.definition,
    ast.ClassDef: Statements.class_definition,
    ast.Return: Statements.returned,
    ast.Delete: Statements.deletion,
    ast.Raise: Statements.raising,
    ast.Assert: Statements.asserted,
    ast.Global: Statements.global_names,
    ast.Nonlocal: Statements.nonlocal_names,
    ast.Break: lambda _run, _node, _frame: [Exit("break", TRUE, ())],
    ast.Continue: lambda _run, _node, _frame: [Exit("continue", TRUE, ())],
}
