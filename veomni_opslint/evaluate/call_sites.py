"""Calls as they are written: their arguments, with ``*`` and ``**``, and ``super()``."""

from __future__ import annotations

import ast
from typing import Any

from veomni_opslint.conditions import TRUE
from veomni_opslint.evaluate.cells import Value, unknown
from veomni_opslint.evaluate.containers import DictValue
from veomni_opslint.evaluate.core import reason_of
from veomni_opslint.evaluate.frames import Frame
from veomni_opslint.evaluate.limits import NotPlain
from veomni_opslint.evaluate.names import Names
from veomni_opslint.evaluate.values import Arguments, Class, External, Super


class CallSites(Names):
    """Evaluating calls."""

    def call_of(self, node: ast.Call, frame: Frame) -> Value:
        function = self.evaluate(node.func, frame)
        self.here = (node, frame)
        if function == External("builtins.super"):
            return self._super(node, frame)
        return self.in_each(
            self._argument_lists(node, frame), lambda parts: self._call_with(function, node, frame, parts)
        )

    def _argument_lists(self, node: ast.Call, frame: Frame) -> list[tuple[Any, list[Value]]]:
        values = [self.evaluate(item.value if isinstance(item, ast.Starred) else item, frame) for item in node.args] + [
            self.evaluate(item.value, frame) for item in node.keywords
        ]
        starred = [isinstance(item, ast.Starred) for item in node.args] + [item.arg is None for item in node.keywords]
        if not any(starred):
            return [(TRUE, values)]
        parts = []
        for value, star in zip(values, starred, strict=True):
            try:
                parts.append(self.settled(self.prune(value)) if star else [(TRUE, value)])
            except NotPlain as problem:
                parts.append([(TRUE, unknown(problem.reason))])
        try:
            return self.combine(parts)
        except NotPlain as problem:
            return [(TRUE, [unknown(problem.reason) if star else value
                            for value, star in zip(values, starred, strict=True)])]  # fmt: skip

    def _call_with(self, function: Value, node: ast.Call, frame: Frame, parts: list[Value]) -> Value:
        positional: list[Value] = []
        lost = lost_keywords = ""
        for item, value in zip(node.args, parts, strict=False):
            if not isinstance(item, ast.Starred):
                if not lost:
                    positional.append(value)
                continue
            try:
                positional.extend(self.ordered(value))
            except NotPlain as problem:
                lost = lost or problem.reason
        keywords: dict[str, Value] = {}
        nodes: dict[str, ast.expr] = {}
        for keyword, value in zip(node.keywords, parts[len(node.args) :], strict=True):
            if keyword.arg is not None:
                keywords[keyword.arg] = value
                nodes[keyword.arg] = keyword.value
                continue
            try:
                given = self._keywords_in(value)
            except NotPlain as problem:
                lost_keywords = lost_keywords or problem.reason
                continue
            keywords.update(given)
            nodes.update((name, keyword.value) for name in given)
        self.here = (node, frame)
        return self.call(function, Arguments(tuple(positional), keywords, node, frame, lost, lost_keywords, nodes))

    def _keywords_in(self, value: Value) -> dict[str, Value]:
        if not isinstance(value, DictValue):
            raise NotPlain(reason_of(value) or "is a mapping that is not known")
        return {str(self.plain(key)): item for _, key, item in value.elements()}

    def _super(self, node: ast.Call, frame: Frame) -> Value:
        if node.args:
            after, receiver = (self.evaluate(item, frame) for item in node.args[:2])
            return Super(after, receiver) if isinstance(after, Class) else unknown("comes from super()")
        scope: Frame | None = frame
        while scope is not None and not (scope.kind == "function" and scope.cls is not None):
            scope = scope.parent
        if scope is None or scope.cls is None or not scope.arguments:
            return unknown("comes from super()")
        return Super(scope.cls, scope.arguments[0])
