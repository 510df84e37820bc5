"""Conditions on the path to a statement, as plain nested tuples, and what they say when NPU guards are false.

A condition is ``("true",)``, ``("false",)``, ``("not", c)``, ``("and", c, …)``, ``("or", c, …)`` or an atom:

- ``("name", dotted)``: the truth of a name;
- ``("call", dotted, arguments)``: the truth of a call; arguments are literals, or None for one that is not;
- ``("item", dotted, key)``: the truth of ``name["key"]``;
- ``("cmp", operator, left, right)``: a comparison of two operands;
- ``("opaque", line, column)``: an expression that is not understood.

An operand of a comparison is ``("const", value)``, ``("name", dotted)``, ``("call", dotted, arguments)``,
``("item", dotted, key)`` or ``("opaque", line, column)``. Local names are versioned by a ``@line`` suffix where they
are assigned more than once, so that equal atoms mean equal values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

Condition = tuple[Any, ...]

TRUE: Condition = ("true",)
FALSE: Condition = ("false",)
MAX_TRIALS = 400
MAX_SIZE = 1000
"""Atoms and connectives in one condition: a larger conjunction loses parts, a larger disjunction becomes opaque."""
CUT_SIZE = 700
"""What is left of a conjunction that is too large: less than there may be, so that few of the next ones are."""
_CONNECTIVES = frozenset({"and", "or", "not"})


def negate(condition: Condition) -> Condition:
    """The negation, with double negations and constants removed."""
    kind = condition[0]
    if kind == "true":
        return FALSE
    if kind == "false":
        return TRUE
    if kind == "not":
        inner: Condition = condition[1]
        return inner
    return ("not", condition)


def both(left: Condition, right: Condition) -> Condition:
    """The conjunction, flattened, and cut where it is too large."""
    if left is right or left == TRUE:
        return right
    if right == TRUE:
        return left
    if left == FALSE or right == FALSE:
        return FALSE
    return _join("and", _parts("and", left), _parts("and", right))


def either(left: Condition, right: Condition) -> Condition:
    """The disjunction, flattened, and opaque where it is too large."""
    if left is right or left == FALSE:
        return right
    if right == FALSE:
        return left
    if left == TRUE or right == TRUE:
        return TRUE
    return _join("or", _parts("or", left), _parts("or", right))


def atoms(condition: Condition) -> Iterator[Condition]:
    """Each atom of the condition, in order, repeated where it is repeated."""
    stack = [condition]
    while stack:
        current = stack.pop()
        if current[0] in _CONNECTIVES:
            stack.extend(reversed(current[1:]))
        elif current[0] not in ("true", "false"):
            yield current


def truth(condition: Condition, value_of: Callable[[Condition], bool | None]) -> bool | None:
    """Three-valued truth under *value_of*, which answers None for an atom that may be either."""
    kind = condition[0]
    if kind == "true":
        return True
    if kind == "false":
        return False
    if kind == "not":
        inner = truth(condition[1], value_of)
        return None if inner is None else not inner
    if kind == "and" or kind == "or":
        decisive = kind == "or"
        unknown = False
        for part in condition[1:]:
            value = truth(part, value_of)
            if value is decisive:
                return decisive
            unknown = unknown or value is None
        return None if unknown else not decisive
    return value_of(condition)


def possible(condition: Condition, value_of: Callable[[Condition], bool | None]) -> bool:
    """Whether some values of the atoms that *value_of* leaves open make the condition true.

    Exact where MAX_TRIALS partial choices of values decide, which is so for seven open atoms and mostly for more;
    beyond that an open condition counts as possible.
    """
    first = truth(condition, value_of)
    if first is not None:
        return first
    known = {atom: value_of(atom) for atom in dict.fromkeys(atoms(condition))}
    free = [atom for atom, value in known.items() if value is None]
    pending = list(_choices(free, {}))
    for _ in range(MAX_TRIALS):
        if not pending:
            return False
        chosen = pending.pop()
        held = truth(condition, {**known, **chosen}.__getitem__)
        if held:
            return True
        if held is None:
            pending.extend(_choices(free, chosen))
    return True


def _choices(free: list[Condition], chosen: dict[Condition, bool]) -> Iterator[dict[Condition, bool]]:
    """Both values of the next atom."""
    atom = next(one for one in free if one not in chosen)
    yield {**chosen, atom: False}
    yield {**chosen, atom: True, **dict.fromkeys((one for one in free if _excludes(atom, one)), False)}


def _excludes(atom: Condition, other: Condition) -> bool:
    """Whether one operand is compared with two constants, of which it can be only one."""
    if atom[:2] != ("cmp", "Eq") or other[:3] != atom[:3] or atom[3][0] != "const" or other[3][0] != "const":
        return False
    return bool(atom[3] != other[3])


def _parts(kind: str, condition: Condition) -> tuple[Condition, ...]:
    return condition[1:] if condition[0] == kind else (condition,)


def _join(kind: str, left: tuple[Condition, ...], right: tuple[Condition, ...]) -> Condition:
    unique = dict.fromkeys(left)
    unique.update(dict.fromkeys(right))
    if len(unique) == 1:
        return left[0]
    # Neither side contradicts itself, or it would have become a constant.
    for part in left if len(left) < len(right) else right:
        if negate(part) in unique:
            return FALSE if kind == "and" else TRUE
    joined: Condition = (kind, *unique)
    if _size(joined) <= MAX_SIZE:
        return joined
    return ("opaque", 0, 0, "large") if kind == "or" else _cut(list(unique))


def _cut(parts: list[Condition]) -> Condition:
    """The conjunction of small parts and of those near the ends, among them the guards around and just before."""
    by_size: dict[int, list[int]] = {}
    for index, part in enumerate(parts):
        by_size.setdefault(_size(part), []).append(index)
    room = CUT_SIZE - 1
    kept: list[int] = []
    for size in sorted(by_size):
        indices = by_size[size]
        taken = min(len(indices), room // size)
        half = (taken + 1) // 2
        kept += indices if taken == len(indices) else [*indices[:half], *indices[len(indices) - taken + half :]]
        room -= taken * size
        if taken < len(indices):
            break
    if len(kept) < 2:
        return parts[kept[0]] if kept else TRUE
    return ("and", *(parts[index] for index in sorted(kept)))


def _size(condition: Condition) -> int:
    """The number of atoms and connectives."""
    kind = condition[0]
    if kind == "and" or kind == "or":
        return _size_of_parts(condition)
    return 1 + _size(condition[1]) if kind == "not" else 1


@lru_cache(maxsize=2048)
def _size_of_parts(condition: Condition) -> int:
    # Conditions grow part by part: the size of what is there already was asked for before.
    size = len(condition)
    for part in condition:
        kind = part[0]
        if kind == "not":
            size += 1 if part[1][0] not in _CONNECTIVES else _size(part[1])
        elif kind == "and" or kind == "or":
            size += _size_of_parts(part) - 1
    return size
