"""Truth, comparison, arithmetic and text of values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

from veomni_opslint.conditions import FALSE, TRUE, Condition, both, either, negate
from veomni_opslint.evaluate.cells import UNBOUND, Opaque, Value
from veomni_opslint.evaluate.containers import Container, DictValue, KeyedContainer, ListValue, SetValue
from veomni_opslint.evaluate.core import reason_of
from veomni_opslint.evaluate.formatting import Formatting
from veomni_opslint.evaluate.identity import key_of
from veomni_opslint.evaluate.limits import MAX_BITS, MAX_ITEMS, MAX_TEXT, NotPlain, Raised
from veomni_opslint.evaluate.values import Arguments, Choice, EnumMember, External, Instance, Maybe

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}
_ORDERINGS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SYMBOLS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in"}
_NEGATIONS: dict[type[ast.cmpop], ast.cmpop] = {ast.NotEq: ast.Eq(), ast.NotIn: ast.In(), ast.IsNot: ast.Is()}

Handler: TypeAlias = "Callable[[Operators, Arguments], Value]"


class Operators(Formatting):
    """Operators over values."""

    def truth_of(self, value: Value, text: str) -> Condition:
        value = self.prune(value)
        if isinstance(value, Choice):
            formula = FALSE
            for when, option in value.options:
                formula = either(formula, both(when, self.truth_of(option, text)))
            return self._simplified(formula)
        if isinstance(value, Opaque):
            return self._simplified(self.atom(("true", value.key), text))
        if isinstance(value, External):
            known = value.dotted.startswith("builtins.")
            return TRUE if known else self._simplified(self.atom(("true", value), text))
        if isinstance(value, Container):
            return self._simplified(self._filled(value, text))
        if isinstance(value, Instance):
            return self._truth_of_instance(value, text)
        if isinstance(value, EnumMember):
            return TRUE if value.plain is UNBOUND else self.truth_of(value.plain, text)
        if value is None or isinstance(value, str | int | float | bytes | complex | tuple | range):
            return TRUE if value else FALSE
        return FALSE if value is UNBOUND else TRUE

    def _simplified(self, formula: Condition) -> Condition:
        held = self.holds(formula)
        if held is None:
            return formula
        return TRUE if held else FALSE

    def _filled(self, value: Container, text: str) -> Condition:
        if value.lost:
            return self.atom(object(), text)
        formula = FALSE
        if isinstance(value, ListValue):
            for item in value.items:
                formula = either(formula, item.when if isinstance(item, Maybe) else TRUE)
        elif isinstance(value, KeyedContainer):
            for when, _, _ in value.elements():
                formula = either(formula, TRUE if when is None else when)
        else:
            return TRUE
        return formula

    def _truth_of_instance(self, value: Instance, text: str) -> Condition:
        if value.cls.flavor == "namedtuple":
            return TRUE if value.cls.fields else FALSE
        for name in ("__bool__", "__len__"):
            if value.cls.find(name) is not UNBOUND:
                return self.truth_of(self.invoke(self.attribute(value, name, name)), text)
        return self.atom(("true", value), text) if value.cls.opaque_base else TRUE

    def boolean(self, formula: Condition) -> Value:
        """The value True where the formula holds and False elsewhere."""
        held = self.holds(formula)
        return Choice(((formula, True), (negate(formula), False))) if held is None else held

    def compare(self, operator: ast.cmpop, left: Value, right: Value, text: str) -> Value:
        opposite = _NEGATIONS.get(type(operator))
        if opposite is not None:
            result = self.compare(opposite, left, right, text)
            if isinstance(result, Choice):
                return Choice(tuple((when, option is False) for when, option in result.options))
            return result if isinstance(result, Opaque) else not result
        return self.spread(
            left, lambda first: self.spread(right, lambda second: self._compare(operator, first, second, text))
        )

    def _compare(self, operator: ast.cmpop, left: Value, right: Value, text: str) -> Value:
        if isinstance(operator, ast.In):
            return self.boolean(self._contains(right, left, text))
        if isinstance(operator, ast.Eq | ast.Is):
            symbol = "==" if isinstance(operator, ast.Eq) else "is"
            result = self.equal(left, right) if symbol == "==" else self.identical(left, right)
            written = text.replace("!=", "==").replace(" is not ", " is ")
            return self._undecided(symbol, left, right, written) if result is None else result
        try:
            outcome = bool(_ORDERINGS[type(operator)](self.plain(left), self.plain(right)))
        except NotPlain:
            return self._undecided(_SYMBOLS[type(operator)], left, right, text)
        except TypeError as problem:
            raise Raised("TypeError") from problem
        return outcome

    def _undecided(self, symbol: str, left: Value, right: Value, text: str) -> Value:
        return self.boolean(self.atom((symbol, atom_key(left), atom_key(right)), text))

    def _contains(self, container: Value, item: Value, text: str) -> Condition:
        if isinstance(container, str) and isinstance(item, str):
            return TRUE if item in container else FALSE
        unknown_atom = self.atom(("in", atom_key(item), atom_key(container)), text.replace(" not in ", " in "))
        try:
            if isinstance(container, KeyedContainer):
                return self._has_key(container, item)
            formula = FALSE
            for element in self.elements(container):
                inner = element.value if isinstance(element, Maybe) else element
                for when, option in inner.options if isinstance(inner, Choice) else ((TRUE, inner),):
                    equal = self.equal(option, item)
                    if equal is False:
                        continue
                    found = both(when, element.when) if isinstance(element, Maybe) else when
                    formula = either(formula, unknown_atom if equal is None else found)
        except NotPlain:
            return unknown_atom
        return formula

    def _has_key(self, container: KeyedContainer, item: Value) -> Condition:
        container.check_known()
        entry = container.entries.get(key_of(item))
        if entry is None:
            return FALSE
        if isinstance(entry[1], Choice):
            formula = TRUE
            for when, option in entry[1].options:
                if option is UNBOUND:
                    formula = both(formula, negate(when))
            return formula
        return TRUE

    def binary(self, operator: ast.operator, left: Value, right: Value) -> Value:
        if isinstance(left, ListValue):
            return self._list_operation(operator, left, right)
        if isinstance(left, SetValue) and isinstance(right, SetValue):
            return self._set_operation(operator, left, right)
        if isinstance(left, DictValue) and isinstance(right, DictValue) and isinstance(operator, ast.BitOr):
            return self._joined_dict(left, right)
        if isinstance(operator, ast.Mod) and isinstance(left, str):
            return self.percent(left, right)
        if isinstance(left, tuple) and isinstance(right, tuple) and isinstance(operator, ast.Add):
            return left + right
        if isinstance(operator, ast.Mult) and isinstance(right, ListValue):
            left, right = right, left
            return self._list_operation(operator, left, right)
        if isinstance(operator, ast.Mult) and isinstance(left, tuple) and isinstance(right, int):
            return left * _repeats(len(left), right)
        first, second = self.plain(left), self.plain(right)
        _check_size(operator, first, second)
        try:
            result: Value = _BINARY[type(operator)](first, second)
        except KeyError:
            raise NotPlain("is the result of an operator that is not followed") from None
        except (TypeError, ZeroDivisionError, ValueError, OverflowError) as problem:
            raise Raised(type(problem).__name__) from problem
        return result

    def _list_operation(self, operator: ast.operator, left: Value, right: Value) -> Value:
        if isinstance(operator, ast.Add) and isinstance(right, ListValue):
            items = [*self.elements(left), *self.elements(right)]
            return ListValue(items, unordered=self.unordered(left) or self.unordered(right))
        if isinstance(operator, ast.Mult) and isinstance(right, int):
            items = self.elements(left)
            return ListValue(items * _repeats(len(items), right), unordered=self.unordered(left))
        raise NotPlain(reason_of(right) or "is the result of an operator that is not followed")

    def _set_operation(self, operator: ast.operator, left: SetValue, right: SetValue) -> Value:
        first, second = self.certain(left), self.certain(right)
        left_keys, right_keys = {key_of(item) for item in first}, {key_of(item) for item in second}
        if isinstance(operator, ast.BitOr):
            items = first + second
        elif isinstance(operator, ast.BitAnd):
            items = [item for item in first if key_of(item) in right_keys]
        elif isinstance(operator, ast.Sub):
            items = [item for item in first if key_of(item) not in right_keys]
        elif isinstance(operator, ast.BitXor):
            items = [item for item in first if key_of(item) not in right_keys]
            items += [item for item in second if key_of(item) not in left_keys]
        else:
            raise NotPlain("is the result of an operator that is not followed")
        return SetValue(items, frozen=left.frozen)

    def _joined_dict(self, left: DictValue, right: DictValue) -> Value:
        result = DictValue(self.pairs(left) + self.pairs(right))
        result.unordered = left.unordered or right.unordered
        return result


def atom_key(value: Value, depth: int = 6) -> Hashable:
    """A key that is equal for values that are certainly equal, as part of the key of an atom."""
    if isinstance(value, Opaque):
        return value.key
    if isinstance(value, External):
        return value
    if value is None or isinstance(value, str | int | float | bytes):
        return (type(value), value)
    if isinstance(value, tuple) and depth:
        return tuple(atom_key(item, depth - 1) for item in value)
    return object()


def _repeats(size: int, times: int) -> int:
    if size * times > MAX_ITEMS:
        raise NotPlain("is too large to follow")
    return times


def _check_size(kind: ast.operator, left: Any, right: Any) -> None:  # noqa: ANN401
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length()
        if isinstance(kind, ast.Pow):
            bits *= abs(right)
        elif isinstance(kind, ast.LShift):
            bits += right
        elif isinstance(kind, ast.Mult):
            bits += right.bit_length()
        if bits > MAX_BITS:
            raise NotPlain("is too large to follow")
    for text, times in ((left, right), (right, left)):
        if isinstance(text, str | bytes) and isinstance(times, int) and len(text) * times > MAX_TEXT:
            raise NotPlain("is too large to follow")
    if isinstance(left, str) and isinstance(right, str) and len(left) + len(right) > MAX_TEXT:
        raise NotPlain("is too large to follow")
