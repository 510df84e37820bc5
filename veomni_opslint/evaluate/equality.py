"""Whether two values are equal: yes, no, or not known."""

from __future__ import annotations

import math

from veomni_opslint.evaluate.cells import UNBOUND, Opaque, Value
from veomni_opslint.evaluate.containers import DictValue, ListValue, SetValue
from veomni_opslint.evaluate.identity import same
from veomni_opslint.evaluate.iteration import Iteration
from veomni_opslint.evaluate.limits import NotPlain
from veomni_opslint.evaluate.values import Choice, EnumMember, External, Instance, Maybe


class Equality(Iteration):
    """``==`` and ``is`` over values that are no choices."""

    def equal(self, left: Value, right: Value) -> bool | None:
        """The result of ``==``; None when it is not known."""
        if same(left, right):
            return not (isinstance(left, float) and math.isnan(left))
        if _undecidable(left) or _undecidable(right):
            return None
        if isinstance(left, EnumMember) or isinstance(right, EnumMember):
            return self._equal_members(left, right)
        left, right = _as_tuple(left), _as_tuple(right)
        if isinstance(left, tuple) and isinstance(right, tuple):
            return self._equal_sequences(list(left), list(right))
        if _is_plain(left) and _is_plain(right):
            return bool(left == right)
        if isinstance(left, ListValue) and isinstance(right, ListValue):
            try:
                return self._equal_sequences(self.ordered(left), self.ordered(right))
            except NotPlain:
                return None
        if isinstance(left, SetValue) and isinstance(right, SetValue):
            return None if _uncertain(left) or _uncertain(right) else left.entries.keys() == right.entries.keys()
        if isinstance(left, DictValue) and isinstance(right, DictValue):
            return self._equal_dicts(left, right)
        if isinstance(left, Instance) and isinstance(right, Instance):
            return self._equal_instances(left, right)
        return False

    def identical(self, left: Value, right: Value) -> bool | None:
        """The result of ``is``; None when it is not known."""
        if left is right:
            return True
        for one, other in ((left, right), (right, left)):
            if isinstance(other, bool | None) and isinstance(one, External) and one.dotted.startswith("builtins."):
                return False
        if _undecidable(left) or _undecidable(right):
            return True if same(left, right) and not isinstance(left, Opaque) else None
        if isinstance(left, bool | None) or isinstance(right, bool | None):
            return False
        if isinstance(left, str | int | float | bytes | tuple) and same(left, right):
            return None
        return same(left, right)

    def _equal_sequences(self, left: list[Value], right: list[Value]) -> bool | None:
        if len(left) != len(right):
            return False
        outcome: bool | None = True
        self.spend(len(left))
        for first, second in zip(left, right, strict=True):
            equal = self.equal(first, second)
            if equal is False:
                return False
            outcome = outcome if equal else None
        return outcome

    def _equal_members(self, left: Value, right: Value) -> bool | None:
        if isinstance(left, EnumMember) and isinstance(right, EnumMember) and left.cls is right.cls:
            return left.name == right.name
        first = left.plain if isinstance(left, EnumMember) else left
        second = right.plain if isinstance(right, EnumMember) else right
        if first is UNBOUND or second is UNBOUND:
            return False
        return self.equal(first, second)

    def _equal_dicts(self, left: DictValue, right: DictValue) -> bool | None:
        if _uncertain(left) or _uncertain(right):
            return None
        if left.entries.keys() != right.entries.keys():
            return False
        return self._equal_sequences(
            [left.entries[key][1] for key in left.entries], [right.entries[key][1] for key in left.entries]
        )

    def _equal_instances(self, left: Instance, right: Instance) -> bool | None:
        if left.cls.find("__eq__") is not UNBOUND or right.cls.find("__eq__") is not UNBOUND:
            return None
        if left.cls is right.cls and left.cls.flavor == "dataclass":
            names = [item.name for item in left.cls.fields]
            return self._equal_sequences(
                [left.attrs.get(name) for name in names], [right.attrs.get(name) for name in names]
            )
        return None if left.cls.opaque_base or right.cls.opaque_base else False


def _undecidable(value: Value) -> bool:
    return isinstance(value, Opaque | External | Choice | Maybe)


def _as_tuple(value: Value) -> Value:
    return value.sequence if isinstance(value, Instance) and value.cls.flavor == "namedtuple" else value


def _is_plain(value: Value) -> bool:
    return value is None or isinstance(value, str | int | float | bytes | complex | range)


def _uncertain(container: SetValue | DictValue) -> bool:
    return bool(container.lost) or any(isinstance(value, Choice) for _, value in container.entries.values())
