"""Blocks: one statement after the other, and what is left of a block after a statement that may have left it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from veomni_opslint.conditions import FALSE, TRUE, both, negate
from veomni_opslint.evaluate.expressions import Expressions
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.limits import GivenUp, Raised, TooDeep
from veomni_opslint.evaluate.path import Exit, Step, flipped

NO_EXITS: Final[list[Exit]] = []


class Blocks(Expressions):
    """Running statements in order."""

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
        return NO_EXITS

    def _may_leave(self, body: list[ast.stmt], index: int, frame: Frame) -> list[Exit] | None:
        """Run one statement, and the rest of the block when the statement may raise; None when it cannot."""
        outer, self.pending = self.pending, []
        outer_base, self.base = self.base, len(self.path)
        depth = self.base
        self.open_level()
        kept = False
        exits: list[Exit] = NO_EXITS
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
                return NO_EXITS
            return [Exit("raise", TRUE, (), error.error, statement)]
        except (TooDeep, RecursionError, MemoryError) as problem:
            if not at_top:
                raise
            self.nesting, self.calls = nesting, calls
            del self.path[depth:]
            reason = getattr(problem, "reason", "is nested too deeply to follow")
            self._abandon_statement(reason)
            self.give_up(statement, frame, reason)
            return NO_EXITS

    def run(self, statement: ast.stmt, frame: Frame) -> list[Exit]:
        """Run one statement."""
        raise NotImplementedError

    def give_up(self, statement: ast.stmt, frame: Frame, reason: str) -> None:
        """Go on after a module-level statement that cannot be followed; the names it binds are unknown."""
        raise NotImplementedError


def _within(steps: list[Step], exit_: Exit) -> Exit:
    for step in reversed(steps):
        exit_ = exit_.under(step)
    return exit_
