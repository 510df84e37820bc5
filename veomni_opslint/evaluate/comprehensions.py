"""Comprehensions and generator expressions, whose elements may depend on conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from veomni_opslint.conditions import FALSE, TRUE, both, negate
from veomni_opslint.evaluate.cells import UNBOUND, Value, unknown
from veomni_opslint.evaluate.containers import UNORDERED, DictValue, IteratorValue, ListValue, SetValue
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.limits import NotPlain
from veomni_opslint.evaluate.names import Names
from veomni_opslint.evaluate.path import Exit, Note, Step
from veomni_opslint.evaluate.table_methods import update_table
from veomni_opslint.evaluate.values import Maybe


class Comprehensions(Names):
    """Evaluating comprehensions."""

    def list_comprehension(self, node: ast.ListComp, frame: Frame) -> Value:
        items, unordered = self._comprehension(node, [node.elt], frame)
        return ListValue((_only(item) for item in items), unordered=unordered)

    def set_comprehension(self, node: ast.SetComp, frame: Frame) -> Value:
        items, _ = self._comprehension(node, [node.elt], frame)
        return SetValue(_only(item) for item in items)

    def generator(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        items, unordered = self._comprehension(node, [node.elt], frame)
        return IteratorValue((_only(item) for item in items), unordered=unordered)

    def dict_comprehension(self, node: ast.DictComp, frame: Frame) -> Value:
        items, unordered = self._comprehension(node, [node.key, node.value], frame)
        table = DictValue()
        for item in items:
            if isinstance(item, Maybe):
                update_table(self, table, self._conditional_entry(item))
            else:
                table.put(*_pair(item))
        table.unordered = unordered
        return table

    def _conditional_entry(self, item: Maybe) -> DictValue:
        key, value = _pair(item.value)
        return DictValue([(key, self.choose([(item.when, value), (negate(item.when), UNBOUND)]))])

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, results: list[ast.expr], frame: Frame
    ) -> tuple[Iterator[Value], bool]:
        inner = Frame(frame.module, "comprehension", frame, frame.prefix)
        source = self.evaluate(node.generators[0].iter, frame)
        unordered = self.unordered(source)
        return self._clauses(node.generators, 0, source, results, inner), unordered

    def _clauses(
        self, clauses: list[ast.comprehension], index: int, source: Value, results: list[ast.expr], frame: Frame
    ) -> Iterator[Value]:
        clause = clauses[index]
        try:
            items = self.iterate(unknown(UNORDERED) if index and self.unordered(source) else source)
        except NotPlain as problem:
            reason = problem.reason

            def body() -> list[Exit]:
                self.assign(clause.target, unknown(reason), frame)
                list(self._matching(clauses, index, results, frame))
                return []

            self.unknown_rounds(body, f"for … in {frame.module.text(clause.iter)}")
            raise
        for item in items:
            self.spend()
            held = self.holds(item.when) if isinstance(item, Maybe) else True
            if isinstance(item, Maybe) and held is None:
                yield from self._conditional_round(clauses, index, item, results, frame)
            elif held:
                self.assign(clause.target, item.value if isinstance(item, Maybe) else item, frame)
                yield from self._matching(clauses, index, results, frame)

    def _conditional_round(
        self, clauses: list[ast.comprehension], index: int, item: Maybe, results: list[ast.expr], frame: Frame
    ) -> Iterator[Value]:
        def round_() -> list[Value]:
            self.assign(clauses[index].target, item.value, frame)
            return list(self._matching(clauses, index, results, frame))

        step = Step(item.when, self.notes_of(item.when))
        for _, found in self.fork([(step, round_)], exhaustive=False):
            yield from (_under(step, element) for element in found)

    def _matching(
        self, clauses: list[ast.comprehension], index: int, results: list[ast.expr], frame: Frame, test: int = 0
    ) -> Iterator[Value]:
        clause = clauses[index]
        if test < len(clause.ifs):
            node = clause.ifs[test]
            text = frame.module.text(node)
            formula = self.truth_of(self.evaluate(node, frame), text)
            if formula == TRUE:
                yield from self._matching(clauses, index, results, frame, test + 1)
            elif formula != FALSE:
                step = Step(formula, (Note(text),))
                rest = partial(self._matching, clauses, index, results, frame, test + 1)
                for _, found in self.fork([(step, lambda: list(rest()))], exhaustive=False):
                    yield from (_under(step, element) for element in found)
        elif index + 1 < len(clauses):
            source = self.evaluate(clauses[index + 1].iter, frame)
            yield from self._clauses(clauses, index + 1, source, results, frame)
        else:
            yield tuple(self.evaluate(node, frame) for node in results)


def _under(step: Step, item: Value) -> Maybe:
    if isinstance(item, Maybe):
        return Maybe(both(step.formula, item.when), item.value)
    return Maybe(step.formula, item)


def _only(item: Value) -> Value:
    if isinstance(item, Maybe):
        return Maybe(item.when, _only(item.value))
    return item[0] if isinstance(item, tuple) else item


def _pair(item: Value) -> tuple[Value, Value]:
    key, value = item if isinstance(item, tuple) else (item, item)
    return key, value
