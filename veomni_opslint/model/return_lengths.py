"""How many values a call hands back, wherever that is the same on every path that returns a tuple."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from veomni_opslint.conditions import TRUE
from veomni_opslint.extract.operands import dotted
from veomni_opslint.facts import Call, FileFacts, Scope, statements_of
from veomni_opslint.model.call_targets import CallSite, CallTargets
from veomni_opslint.model.call_texts import without_nested
from veomni_opslint.model.callables import Known
from veomni_opslint.model.implementations import Implementation
from veomni_opslint.model.return_shapes import Body, Returned, bound_in

_SAME_RESULT = frozenset({
    "staticmethod", "classmethod", "override", "final", "wraps", "no_grad", "enable_grad", "inference_mode", "compile",
    "lru_cache", "cache", "disable", "allow_in_graph", "custom_fwd", "custom_bwd", "autocast_custom_fwd",
    "autocast_custom_bwd", "auto_docstring", "dynamic_rope_update", "override_method", "replace_function", "add_helper",
    "add_helper_after", "register", "use_kernel_func_from_hub", "ignore",
})  # fmt: skip
"""Decorators, by the last part of their names, after which a function returns what it returns without them."""
_RETURN = re.compile(r"^[ \t]*return[ (]+([^\n]*?),?\)?$", re.MULTILINE)
_RETURNED_CALL = re.compile(r"^[ \t]*return (\w+)\(", re.MULTILINE)
_NAMED_TUPLES = ("NamedTuple", "typing.NamedTuple")

Lengths = frozenset[int]
"""The lengths of the tuples that may come back; empty where something else may, or something that is not known."""
NOT_KNOWN: Lengths = frozenset()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReturnLengths:
    """Looks at each function once."""

    targets: CallTargets
    _known: dict[tuple[str, int], Lengths] = field(default_factory=dict, repr=False)
    _kernels: dict[tuple[str, int], list[tuple[Implementation, Known]]] = field(default_factory=dict, repr=False)
    _written: dict[tuple[str, int], Lengths] = field(default_factory=dict, repr=False)

    def of(self, callee: Known) -> Lengths:
        """What a call of *callee* hands back."""
        key = (callee.module, callee.scope.index)
        if key not in self._known:
            self._known[key] = NOT_KNOWN
            self._known[key] = self._of_scope(callee.module, callee.scope)
        return self._known[key]

    def through_slots(self, callee: Known) -> list[tuple[Implementation, Known]]:
        """The kernels that a function calls for its result, ``return slot(...)``, whatever else it returns."""
        key = (callee.module, callee.scope.index)
        if key not in self._kernels:
            self._kernels[key] = list(self._find_kernels(callee)) if callee.scope.kind == "function" else []
        return self._kernels[key]

    def _find_kernels(self, callee: Known) -> Iterator[tuple[Implementation, Known]]:
        for name in _RETURNED_CALL.findall(self._text(callee)):
            if name in self.targets.slot_names:
                facts = self.targets.callables.facts(callee.module, callee.scope.index)
                site = CallSite(callee.module, facts, _call(callee.scope, name), False)
                for reached in self.targets.reached(site):
                    if len(reached.possible) == 1 and reached.possible[0] is not None and reached.label:
                        yield reached, reached.possible[0]

    def _text(self, callee: Known) -> str:
        facts = self.targets.callables.facts(callee.module, callee.scope.index)
        span = callee.scope.span
        return "\n".join(facts.lines[span[0] : span[2]])

    def seems_to_return(self, callee: Known, names: int) -> bool:
        """Whether a line of the function looks as if it returned that many values; much faster than to know it."""
        key = (callee.module, callee.scope.index)
        if key not in self._written:
            self._written[key] = frozenset(
                without_nested(one).rstrip(", ").count(",") + 1 for one in _RETURN.findall(self._text(callee))
            )
        return names in self._written[key]

    def _of_scope(self, module: str, scope: Scope) -> Lengths:
        if scope.name == "__init__" or scope.kind != "function":
            return NOT_KNOWN
        if scope.is_async or any(one.rpartition(".")[2] not in _SAME_RESULT for one in scope.decorators):
            return NOT_KNOWN
        body = self._body(module, scope)
        lengths: set[int] = set()
        for one in body.returned():
            if isinstance(one.shape, int):
                lengths.add(one.shape)
            elif one.shape != "none" and not (one.shape is None and self._is_slot(module, scope, one)):
                return NOT_KNOWN
        return frozenset(lengths)

    def _is_slot(self, module: str, scope: Scope, returned: Returned) -> bool:
        """Whether a kernel is returned that is not known: it takes the place of what the other paths return."""
        name = dotted(returned.value.func) if isinstance(returned.value, ast.Call) else ""
        site = CallSite(module, self.targets.callables.facts(module, scope.index), _call(scope, name), False)
        found = self.targets.targets(site, name) if name else ()
        return any((one.module, one.name) in self.targets.slots for one in found if one.kind == "value")

    def _body(self, module: str, scope: Scope) -> Body:
        facts = self.targets.callables.facts(module, scope.index)
        arguments = scope.arguments or ast.arguments([], [], None, [], [], None, [])
        line, column, end_line, end_column = scope.span
        node = ast.FunctionDef(
            scope.name,
            arguments,
            [],
            [],
            lineno=line,
            col_offset=column,
            end_lineno=end_line,
            end_col_offset=end_column,
        )
        statements = statements_of(facts, scope)
        return Body(node, statements, lambda name: self._called(module, facts, scope, name, statements), worst=False)

    def _called(
        self, module: str, facts: FileFacts, scope: Scope, name: str, statements: tuple[ast.stmt, ...]
    ) -> Body | int | None:
        root = name.partition(".")[0]
        hidden = {one.name for one in scope.parameters} | bound_in(statements) if scope.deferred else ()
        if root in hidden and root not in ("self", "cls"):
            return None
        reached = self.targets.reached(CallSite(module, facts, _call(scope, name), False))
        possible = [one for implementation in reached for one in implementation.possible]
        if len(possible) != 1 or possible[0] is None or any(one.label for one in reached):
            return None
        known = possible[0]
        if known.scope.kind == "class":
            return len(known.signature.parameters) if known.scope.bases and _is_named_tuple(known.scope) else None
        lengths = self.of(known)
        # A function that is called is a body of its own only as far as its length is one number.
        return next(iter(lengths)) if len(lengths) == 1 and known.scope.name != "__init__" else None


def _call(scope: Scope, name: str) -> Call:
    return Call(scope.index, name, (0, 0, 0, 0), TRUE, 0, False, (), False, 0, False, False)


def _is_named_tuple(scope: Scope) -> bool:
    return any(base in _NAMED_TUPLES for base in scope.bases)
