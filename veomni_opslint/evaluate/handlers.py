"""``try``, ``with`` and ``match``."""

from __future__ import annotations

import ast
from collections.abc import Callable

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.evaluate.cells import UNBOUND, Value, unknown
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.limits import NotPlain
from veomni_opslint.evaluate.loops import Loops
from veomni_opslint.evaluate.path import Exit, Note, Step, catches, flipped
from veomni_opslint.evaluate.patterns import Patterns
from veomni_opslint.evaluate.statements import RUNNERS
from veomni_opslint.evaluate.values import Choice, Class, Context, External, Instance, Maybe


class Handlers(Loops, Patterns):
    """Statements with several blocks, other than loops and ``if``."""

    def trial(self, node: ast.Try | ast.TryStar, frame: Frame) -> list[Exit]:
        handlers = [(self._caught_by(handler.type, frame), handler) for handler in node.handlers]
        exits = self._catching([names for names, _ in handlers], lambda: self.block(node.body, frame))
        raised = [exit_ for exit_ in exits if exit_.kind == "raise"]
        left = [exit_ for exit_ in exits if exit_.kind != "raise"]
        groups: dict[int, list[Exit]] = {}
        for exit_ in raised:
            index = _handler_for([names for names, _ in handlers], str(exit_.value or ""))
            if index is None:
                left.append(exit_)
            else:
                groups.setdefault(index, []).append(exit_)
        result = list(left)
        if node.orelse:
            rest = self.after(exits, lambda: self.block(node.orelse, frame), caught=True)
            result += rest[len(exits) :]
        for index, group in sorted(groups.items()):
            result += self._handle(handlers[index][1], group, frame)
        if node.finalbody:
            final = self.block(node.finalbody, frame)
            if any(exit_.when == TRUE for exit_ in final):
                return final
            result += final
        return result

    def _catching(self, names: list[frozenset[str]], run: Callable[[], list[Exit]]) -> list[Exit]:
        self.catching.append(frozenset[str]().union(*names))
        try:
            return run()
        finally:
            self.catching.pop()

    def _handle(self, handler: ast.ExceptHandler, group: list[Exit], frame: Frame) -> list[Exit]:
        def run() -> list[Exit]:
            if handler.name:
                self.assign_name(handler.name, unknown("is an exception"), frame)
            return self.block(handler.body, frame)

        return self.branches([(Step(_formula_of_group(group), _notes_of_group(group)), run)], exhaustive=False)

    def _caught_by(self, node: ast.expr | None, frame: Frame) -> frozenset[str]:
        if node is None:
            return frozenset(("BaseException",))
        value = self.evaluate(node, frame)
        names: set[str] = set()
        for kind in value if isinstance(value, tuple) else (value,):
            if isinstance(kind, External):
                names.add(kind.last)
            elif isinstance(kind, Class):
                names.add(kind.name)
            else:
                names.add("")
        return frozenset(names)

    def with_block(self, node: ast.With | ast.AsyncWith, frame: Frame) -> list[Exit]:
        caught: list[frozenset[str]] = []
        managers: list[Instance] = []
        for item in node.items:
            suppressed = self._suppressed(item.context_expr, frame)
            if suppressed is not None:
                caught.append(suppressed)
                continue
            manager = self.evaluate(item.context_expr, frame)
            entered = self._enter(manager, frame.module.text(item.context_expr))
            if isinstance(manager, Instance):
                managers.append(manager)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered, frame)
        if caught:
            exits = self._catching(caught, lambda: self.block(node.body, frame))
            exits = [
                exit_ for exit_ in exits
                if exit_.kind != "raise" or _handler_for(caught, str(exit_.value or "")) is None
            ]  # fmt: skip
        else:
            exits = self.block(node.body, frame)
        for manager in reversed(managers):
            if manager.cls.find("__exit__") is not UNBOUND:
                self.invoke(self.attribute(manager, "__exit__", "__exit__"), None, None, None)
        return exits

    def _suppressed(self, node: ast.expr, frame: Frame) -> frozenset[str] | None:
        if not isinstance(node, ast.Call) or self.evaluate(node.func, frame) != External("contextlib.suppress"):
            return None
        return frozenset[str]().union(*(self._caught_by(kind, frame) for kind in node.args))

    def _enter(self, manager: Value, text: str) -> Value:
        if isinstance(manager, Context):
            items = self.call(manager.function, manager.arguments)
            try:
                for item in self.elements(items):
                    return item.value if isinstance(item, Maybe) else item
            except NotPlain as problem:
                return unknown(problem.reason)
        if isinstance(manager, Instance) and manager.cls.find("__enter__") is not UNBOUND:
            return self.invoke(self.attribute(manager, "__enter__", "__enter__"))
        return unknown(f"comes from the context manager {text}")

    def matching(self, node: ast.Match, frame: Frame) -> list[Exit]:
        subject = self.evaluate(node.subject, frame)
        text = frame.module.text(node.subject)
        if isinstance(subject, Choice):
            return self.branches(
                [
                    (Step(when, self.notes_of(when)), lambda option=option: self._cases(node, 0, option, text, frame))  # type: ignore[misc]
                    for when, option in subject.options
                ],
                exhaustive=True,
            )
        return self._cases(node, 0, subject, text, frame)

    def _cases(self, node: ast.Match, index: int, subject: Value, text: str, frame: Frame) -> list[Exit]:
        if index == len(node.cases):
            return []
        case = node.cases[index]
        bound: dict[str, Value] = {}
        formula = self.pattern(case.pattern, subject, bound, text, frame)
        if formula == FALSE:
            return self._cases(node, index + 1, subject, text, frame)
        note = Note(f"{text} matches {frame.module.text(case.pattern)}")

        def chosen() -> list[Exit]:
            for name, value in bound.items():
                self.assign_name(name, value, frame)
            return self.block(case.body, frame)

        def guarded() -> list[Exit]:
            if case.guard is None:
                return chosen()
            for name, value in bound.items():
                self.assign_name(name, value, frame)
            guard_text = frame.module.text(case.guard)
            guard = self.truth_of(self.evaluate(case.guard, frame), guard_text)
            return self._either(guard, Note(guard_text), chosen, others)

        def others() -> list[Exit]:
            return self._cases(node, index + 1, subject, text, frame)

        return self._either(formula, note, guarded, others)

    def _either(
        self, formula: Condition, note: Note, then: Callable[[], list[Exit]], otherwise: Callable[[], list[Exit]]
    ) -> list[Exit]:
        if formula in (TRUE, FALSE):
            return then() if formula == TRUE else otherwise()
        return self.branches(
            [(Step(formula, (note,)), then), (Step(negate(formula), (note.flipped(),)), otherwise)], exhaustive=True
        )


def _handler_for(handlers: list[frozenset[str]], error: str) -> int | None:
    for index, names in enumerate(handlers):
        if catches(names, error) is not False:
            return index
    return None


def _formula_of_group(group: list[Exit]) -> Condition:
    """When one of the exits is taken.

    Of "the first fails, or the first succeeds and the second fails" it is the plain form.
    """
    formula, successes = FALSE, TRUE
    plain = True
    for exit_ in group:
        formula = either(formula, exit_.when)
        last = exit_.when[-1] if exit_.when[0] == "and" else exit_.when
        plain = plain and exit_.when == both(successes, last)
        successes = both(successes, negate(last))
    return negate(successes) if plain else formula


def _notes_of_group(group: list[Exit]) -> tuple[Note, ...]:
    if len(group) == 1:
        return group[0].notes
    last = [exit_.notes[-1:] for exit_ in group]
    if all(notes and not notes[0].holds for notes in last):
        return flipped(tuple(note.flipped() for notes in last for note in notes))
    return tuple(dict.fromkeys(note for notes in last for note in notes))


RUNNERS[ast.Try] = Handlers.trial
RUNNERS[ast.TryStar] = Handlers.trial
RUNNERS[ast.With] = Handlers.with_block
RUNNERS[ast.AsyncWith] = Handlers.with_block
RUNNERS[ast.Match] = Handlers.matching
