"""Running the bodies of project functions, and what their callers get."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from veomni_opslint.conditions import TRUE, both, negate
from veomni_opslint.evaluate.binding import bind, formals_of
from veomni_opslint.evaluate.cells import Opaque, Value
from veomni_opslint.evaluate.containers import IteratorValue, ListValue
from veomni_opslint.evaluate.escapes import Escapes
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.limits import MAX_CALLS, Raised, TooDeep
from veomni_opslint.evaluate.path import Exit
from veomni_opslint.evaluate.values import Arguments, Choice, External, Function, Instance


class Bodies(Escapes):
    """Calling project functions."""

    def call_function(self, function: Function, arguments: Arguments) -> Value:
        """Run the body of a project function."""
        if function.qualname == self.dialect.register_op and self._gives_op_spec(arguments):
            self.forget_tables(function)
            return self.register_op(arguments)
        if self.calls >= MAX_CALLS:
            raise TooDeep("calls functions within each other too deeply")
        if isinstance(function.node, ast.AsyncFunctionDef):
            self.report_registering(function, arguments, "is asynchronous")
            return self.unknown_call(function.name, "is the result of an async function", arguments)
        frame = Frame(function.module, "function", function.frame, f"{function.qualname}.<locals>.")
        frame.names.attrs.update(bind(formals_of(function), arguments))
        frame.cls = function.owner
        frame.arguments = tuple(frame.names.attrs.values())[:1]
        if isinstance(function.node, ast.Lambda):
            self.calls += 1
            try:
                return self.evaluate(function.node.body, frame)
            finally:
                self.calls -= 1
        body, yields = self._body(function)
        if body is None:
            self.report_registering(function, arguments, "its source cannot be read")
            return self.unknown_call(function.name, "comes from a function that cannot be read", arguments)
        if yields:
            return IteratorValue(self._generated(body, frame))
        return self._returned(self._run_body(body, frame))

    def _run_body(self, body: list[ast.stmt], frame: Frame) -> list[Exit]:
        self.calls += 1
        try:
            return self.block(body, frame)
        finally:
            self.calls -= 1

    def _generated(self, body: list[ast.stmt], frame: Frame) -> Iterator[Value]:
        frame.yields = ListValue()
        self._returned(self._run_body(body, frame))
        yield from self.iterate(frame.yields)

    def _body(self, function: Function) -> tuple[list[ast.stmt] | None, bool]:
        node = function.node
        if isinstance(node, ast.Lambda):
            return [ast.Expr(node.body)], False
        known = self.bodies.get(node)
        if known is None:
            try:
                body = node.body or function.module.facts.function_body(node)
            except (SyntaxError, ValueError, RecursionError, MemoryError, IndexError):
                known = (None, False)
            else:
                known = (body, _yields(body))
            self.bodies[node] = known
        return known

    def body_of(self, function: Function) -> list[ast.stmt] | None:
        return self._body(function)[0]

    def _returned(self, exits: list[Exit]) -> Value:
        if not exits:
            return None
        if exits[0].when == TRUE and exits[0].kind == "return":
            return exits[0].value
        options: list[tuple[tuple[object, ...], Value]] = []
        raising = [exit_ for exit_ in exits if exit_.kind == "raise"]
        otherwise = TRUE
        for exit_ in exits:
            otherwise = both(otherwise, negate(exit_.when))
            if exit_.kind == "return":
                options.append((exit_.when, exit_.value))
        if self.feasible(otherwise):
            options.append((otherwise, None))
        if not options:
            raise Raised(str(raising[0].value or "") if raising else "")
        self.leave(raising)
        return self.choose(options)

    def _gives_op_spec(self, arguments: Arguments) -> bool:
        value = arguments.get(0, "spec")
        options = [option for _, option in value.options] if isinstance(value, Choice) else [value]
        return any(
            (isinstance(option, Instance) and option.role == "op_spec") or isinstance(option, Opaque | External)
            for option in options
        )


def _yields(body: list[ast.stmt]) -> bool:
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))
    return False
