"""The patterns of ``match`` statements."""

from __future__ import annotations

import ast

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either
from veomni_opslint.evaluate.cells import Value, unknown
from veomni_opslint.evaluate.containers import DictValue, ListValue
from veomni_opslint.evaluate.core import reason_of
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.identity import key_of
from veomni_opslint.evaluate.limits import NotPlain, Raised
from veomni_opslint.evaluate.statements import Statements
from veomni_opslint.evaluate.type_tests import instance_test
from veomni_opslint.evaluate.values import Arguments, Class, Instance


class Patterns(Statements):
    """Matching values against patterns."""

    def pattern(self, node: ast.pattern, subject: Value, bound: dict[str, Value], text: str, frame: Frame) -> Condition:
        """The condition under which the subject matches; the names that the pattern binds go into *bound*."""
        written = f"{text} matches {frame.module.text(node)}"
        if isinstance(node, ast.MatchValue):
            value = self.evaluate(node.value, frame)
            return self.truth_of(self.compare(ast.Eq(), subject, value, written), written)
        if isinstance(node, ast.MatchSingleton):
            return self.truth_of(self.compare(ast.Is(), subject, node.value, written), written)
        if isinstance(node, ast.MatchAs):
            formula = TRUE if node.pattern is None else self.pattern(node.pattern, subject, bound, text, frame)
            if node.name is not None:
                bound[node.name] = subject
            return formula
        if isinstance(node, ast.MatchOr):
            formula = FALSE
            for option in node.patterns:
                formula = either(formula, self.pattern(option, subject, bound, text, frame))
                if formula == TRUE:
                    break
            return formula
        try:
            if isinstance(node, ast.MatchSequence):
                return self._sequence(node, subject, bound, text, frame)
            if isinstance(node, ast.MatchMapping):
                return self._mapping(node, subject, bound, text, frame)
            if isinstance(node, ast.MatchClass):
                return self._class(node, subject, bound, text, frame)
        except NotPlain as problem:
            self._bind_unknown(node, bound, problem.reason)
        return self.atom(object(), written)

    def _sequence(
        self, node: ast.MatchSequence, subject: Value, bound: dict[str, Value], text: str, frame: Frame
    ) -> Condition:
        if not isinstance(subject, tuple | ListValue) and not (
            isinstance(subject, Instance) and subject.cls.flavor == "namedtuple"
        ):
            if reason_of(subject):
                raise NotPlain(reason_of(subject))
            return FALSE
        items = self.ordered(subject)
        star = next((i for i, item in enumerate(node.patterns) if isinstance(item, ast.MatchStar)), None)
        if (len(items) != len(node.patterns)) if star is None else (len(items) < len(node.patterns) - 1):
            return FALSE
        parts: list[Value] = items
        if star is not None:
            after = len(node.patterns) - star - 1
            parts = [*items[:star], ListValue(items[star : len(items) - after]), *items[len(items) - after :]]
        formula = TRUE
        for pattern, part in zip(node.patterns, parts, strict=True):
            if isinstance(pattern, ast.MatchStar):
                if pattern.name is not None:
                    bound[pattern.name] = part
                continue
            formula = both(formula, self.pattern(pattern, part, bound, text, frame))
        return formula

    def _mapping(
        self, node: ast.MatchMapping, subject: Value, bound: dict[str, Value], text: str, frame: Frame
    ) -> Condition:
        if not isinstance(subject, DictValue):
            if reason_of(subject):
                raise NotPlain(reason_of(subject))
            return FALSE
        table = dict(subject.entries)
        subject.check_known()
        formula = TRUE
        for key, pattern in zip(node.keys, node.patterns, strict=True):
            entry = table.pop(key_of(self.evaluate(key, frame)), None)
            if entry is None:
                return FALSE
            formula = both(formula, self.pattern(pattern, entry[1], bound, text, frame))
        if node.rest is not None:
            bound[node.rest] = DictValue(table.values())
        return formula

    def _class(
        self, node: ast.MatchClass, subject: Value, bound: dict[str, Value], text: str, frame: Frame
    ) -> Condition:
        kind = self.evaluate(node.cls, frame)
        formula = self.truth_of(instance_test(self, Arguments((subject, kind), {}, node, frame)), text)
        if formula == FALSE:
            return FALSE
        names = [item.name for item in kind.fields] if isinstance(kind, Class) else []
        patterns = list(zip(node.kwd_attrs, node.kwd_patterns, strict=True))
        if names and len(node.patterns) <= len(names):
            patterns += list(zip(names, node.patterns, strict=False))
        elif len(node.patterns) == 1 and not isinstance(kind, Class):
            formula = both(formula, self.pattern(node.patterns[0], subject, bound, text, frame))
        elif node.patterns:
            raise NotPlain("is matched by a class whose fields are not known")
        for name, pattern in patterns:
            try:
                part = self.attribute(subject, name, text)
            except Raised:
                return FALSE
            formula = both(formula, self.pattern(pattern, part, bound, text, frame))
        return formula

    @staticmethod
    def _bind_unknown(node: ast.pattern, bound: dict[str, Value], reason: str) -> None:
        for inner in ast.walk(node):
            if isinstance(inner, ast.MatchAs | ast.MatchStar) and inner.name is not None:
                bound.setdefault(inner.name, unknown(reason))
            elif isinstance(inner, ast.MatchMapping) and inner.rest is not None:
                bound.setdefault(inner.rest, unknown(reason))
