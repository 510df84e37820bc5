"""Statements, and what a block does after a statement that may have left it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, negate
from veomni_opslint.evaluate.cells import Opaque, Value, unknown
from veomni_opslint.evaluate.containers import DictValue, ListValue, SetValue
from veomni_opslint.evaluate.expressions import Expressions
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.library_functions import HARMLESS_DECORATORS, LIBRARY
from veomni_opslint.evaluate.limits import GivenUp, NotPlain, Raised, TooDeep
from veomni_opslint.evaluate.path import Exit, Note, Step, flipped
from veomni_opslint.evaluate.values import Arguments, Class, External

_NO_EXITS: list[Exit] = []


class Statements(Expressions):
    """Running statements."""

    def block(self, body: list[ast.stmt], frame: Frame) -> list[Exit]:
        for index, statement in enumerate(body):
            if self.catching:
                exits = self._may_leave(body, index, frame)
                if exits is not None:
                    return exits
                continue
            depth = len(self.path)
            exits = self._guarded(statement, frame)
            if self.pending or len(self.path) > depth:
                self.pending.clear()
                del self.path[depth:]
            if exits:
                return self.after(exits, lambda rest=index + 1: self.block(body[rest:], frame))  # type: ignore[misc]
        return _NO_EXITS

    def _may_leave(self, body: list[ast.stmt], index: int, frame: Frame) -> list[Exit] | None:
        """Run one statement, and the rest of the block when the statement may raise; None when it cannot."""
        outer, self.pending = self.pending, []
        outer_base, self.base = self.base, len(self.path)
        depth = self.base
        self.open_level()
        kept = False
        exits: list[Exit] = _NO_EXITS
        raised: list[Exit] = []
        try:
            exits = self._guarded(body[index], frame)
            raised = self.pending
            self.pending = []
            if not raised:
                self.keep_level()
                kept = True
            elif self.feasible(TRUE):
                later = self.after(exits, lambda: self.block(body[index + 1 :], frame))
                steps = [held.step for held in self.path[depth:]]
                exits = [_within(steps, exit_) for exit_ in later]
        finally:
            formula = TRUE
            for held in self.path[depth:]:
                formula = both(formula, held.step.formula)
            del self.path[depth:]
            self.pending, self.base = outer, outer_base
            if not kept:
                self.merge([(formula, self.undo_level())], exhaustive=False)
        if raised:
            return [*raised, *exits]
        if exits:
            return self.after(exits, lambda: self.block(body[index + 1 :], frame))
        return None

    def after(self, exits: list[Exit], rest: Callable[[], list[Exit]], *, caught: bool = False) -> list[Exit]:
        """The exits of a block, given those of one statement of it and what runs where there is none.

        That an exception which nothing catches is not raised is no condition worth reporting.
        """
        remaining = TRUE
        for exit_ in exits:
            remaining = both(remaining, negate(exit_.when))
        if not exits:
            return rest()
        if remaining == FALSE or not self.feasible(remaining):
            return exits
        notes = tuple(note for exit_ in exits for note in flipped(exit_.notes)
                      if exit_.kind != "raise" or caught or self.catching)  # fmt: skip
        return exits + self.branches([(Step(remaining, notes), rest)], exhaustive=False)

    def branches(self, branches: list[tuple[Step, Callable[[], list[Exit]]]], *, exhaustive: bool) -> list[Exit]:
        """Run statements in branches; the exits are those of all of them."""
        return [exit_.under(step) for step, exits in self.fork(branches, exhaustive=exhaustive) for exit_ in exits]

    def _guarded(self, statement: ast.stmt, frame: Frame) -> list[Exit]:
        self.steps -= 1
        if self.steps < 0:
            self.spend()
        at_top = frame.kind == "module" and frame.module is self.running[-1]
        if not at_top:
            return self._attempt(statement, frame, at_top=False)
        self.statements[-1] = statement
        if self.watched:
            return self._attempt(statement, frame, at_top=True)
        self.watched = len(self.levels) + 1
        self.open_level()
        try:
            return self._attempt(statement, frame, at_top=True)
        except GivenUp as problem:
            self._abandon_statement(problem.reason)
            raise
        finally:
            self.watched = 0
            self.keep_level()

    def _abandon_statement(self, reason: str) -> None:
        for level in self.levels[self.watched - 1 :]:
            self.abandon(level.log.values(), reason)

    def _attempt(self, statement: ast.stmt, frame: Frame, *, at_top: bool) -> list[Exit]:
        self.here = (statement, frame)
        nesting, calls, depth = self.nesting, self.calls, len(self.path)
        try:
            return self.run(statement, frame)
        except Raised as error:
            if at_top and not self.catching:
                self.give_up(statement, frame, f"this code {error.reason}")
                return _NO_EXITS
            return [Exit("raise", TRUE, (), error.error, statement)]
        except (TooDeep, RecursionError, MemoryError) as problem:
            if not at_top:
                raise
            self.nesting, self.calls = nesting, calls
            del self.path[depth:]
            reason = getattr(problem, "reason", "is nested too deeply to follow")
            self._abandon_statement(reason)
            self.give_up(statement, frame, reason)
            return _NO_EXITS

    def give_up(self, statement: ast.stmt, frame: Frame, reason: str) -> None:
        """Go on after a module-level statement that cannot be followed; the names it binds are unknown."""
        raise NotImplementedError

    def run(self, statement: ast.stmt, frame: Frame) -> list[Exit]:
        """Run one statement."""
        runner = RUNNERS.get(type(statement))
        if runner is None:
            return _NO_EXITS
        return runner(self, statement, frame) or _NO_EXITS

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
        return [Exit("raise", TRUE, (), "AssertionError")] if formula == FALSE else _NO_EXITS

    def global_names(self, node: ast.Global, frame: Frame) -> None:
        frame.global_names.update(node.names)

    def nonlocal_names(self, node: ast.Nonlocal, frame: Frame) -> None:
        frame.nonlocal_names.update(node.names)


def _within(steps: list[Step], exit_: Exit) -> Exit:
    for step in reversed(steps):
        exit_ = exit_.under(step)
    return exit_


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
