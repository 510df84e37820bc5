"""Loops: with known rounds, which run one by one, and with rounds that are not known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from veomni_opslint.conditions import FALSE, TRUE
from veomni_opslint.evaluate.cells import Value, unknown
from veomni_opslint.evaluate.containers import UNORDERED
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.path import Exit, Note, Step
from veomni_opslint.evaluate.statements import RUNNERS, Statements
from veomni_opslint.evaluate.values import Maybe

_CHANGED = "changes in a loop whose rounds are not known"


class Loops(Statements):
    """Running loops."""

    def for_loop(self, node: ast.For | ast.AsyncFor, frame: Frame) -> list[Exit]:
        source = self.evaluate(node.iter, frame)
        try:
            if isinstance(node, ast.AsyncFor):
                source = unknown("comes from an asynchronous loop")
            elif self.unordered(source) and _depends_on_order(node):
                source = unknown(UNORDERED)
            items = self.iterate(source)
        except NotPlain as problem:
            return self._for_unknown(node, frame, problem.reason)
        return _without_breaks(self._rounds(node, frame, items))

    def _rounds(self, node: ast.For | ast.AsyncFor, frame: Frame, items: Iterator[Value]) -> list[Exit]:
        while True:
            self.spend()
            try:
                item = next(items)
            except StopIteration:
                return self.block(node.orelse, frame)
            except NotPlain as problem:
                return self._for_unknown(node, frame, problem.reason)
            exits = [exit_ for exit_ in self._round(node, frame, item) if exit_.kind != "continue"]
            if exits:
                return self.after(exits, lambda: self._rounds(node, frame, items))

    def _round(self, node: ast.For | ast.AsyncFor, frame: Frame, item: Value) -> list[Exit]:
        def run(value: Value) -> list[Exit]:
            self.assign(node.target, value, frame)
            return self.block(node.body, frame)

        if isinstance(item, Maybe):
            held = self.holds(item.when)
            if held is None:
                step = Step(item.when, self.notes_of(item.when))
                return self.branches([(step, lambda: run(item.value))], exhaustive=False)
            return run(item.value) if held else []
        return run(item)

    def _for_unknown(self, node: ast.For | ast.AsyncFor, frame: Frame, reason: str) -> list[Exit]:
        def body() -> list[Exit]:
            self.assign(node.target, unknown(reason), frame)
            return self.block(node.body, frame)

        text = f"for {frame.module.text(node.target)} in {frame.module.text(node.iter)}"
        exits = self.unknown_rounds(body, text)
        return _without_breaks(self.after(exits, lambda: self.block(node.orelse, frame)))

    def while_loop(self, node: ast.While, frame: Frame) -> list[Exit]:
        return _without_breaks(self._while_rounds(node, frame))

    def _while_rounds(self, node: ast.While, frame: Frame) -> list[Exit]:
        text = frame.module.text(node.test)
        while True:
            self.spend()
            formula = self.truth_of(self.evaluate(node.test, frame), text)
            if formula == FALSE:
                return self.block(node.orelse, frame)
            if formula != TRUE:
                return self._while_unknown(node, frame, text)
            exits = [exit_ for exit_ in self.block(node.body, frame) if exit_.kind != "continue"]
            if exits:
                return self.after(exits, lambda: self._while_rounds(node, frame))

    def _while_unknown(self, node: ast.While, frame: Frame, text: str) -> list[Exit]:
        exits = self.unknown_rounds(lambda: self.block(node.body, frame), text)
        self.evaluate(node.test, frame)
        return self.after(exits, lambda: self.block(node.orelse, frame))

    def unknown_rounds(self, body: Callable[[], list[Exit]], text: str) -> list[Exit]:
        # Whatever one round changes is unknown when the next begins: find it in a trial whose effects are undone.
        self.dry += 1
        depth, pending = len(self.path), len(self.pending)
        self.open_level()
        try:
            body()
        except Raised:
            pass
        finally:
            self.dry -= 1
            del self.path[depth:]
            del self.pending[pending:]
            self.abandon(self.undo_level(), _CHANGED)

        def real_round() -> list[Exit]:
            exits = [exit_ for exit_ in body() if exit_.kind != "continue"]
            self.abandon(self.levels[-1].log.values(), _CHANGED)
            return exits

        step = Step(self.atom(object(), text), (Note(text),))
        return self.branches([(step, real_round)], exhaustive=False)


def _without_breaks(exits: list[Exit]) -> list[Exit]:
    return [exit_ for exit_ in exits if exit_.kind != "break"] if exits else exits


def _depends_on_order(node: ast.For | ast.AsyncFor) -> bool:
    return any(isinstance(inner, ast.Break | ast.AugAssign | ast.Return) for inner in ast.walk(node))


RUNNERS[ast.For] = Loops.for_loop
RUNNERS[ast.AsyncFor] = Loops.for_loop
RUNNERS[ast.While] = Loops.while_loop
