"""Conditions agree with plain Python evaluation over all values of their atoms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veomni_opslint.conditions import (
    CUT_SIZE,
    FALSE,
    MAX_SIZE,
    TRUE,
    Condition,
    atoms,
    both,
    either,
    negate,
    possible,
    truth,
)

ATOMS: tuple[Condition, ...] = (
    ("name", "a"),
    ("call", "f", ("x", None)),
    ("item", "table", "key"),
    ("cmp", "Eq", ("name", "kind"), ("const", "npu")),
)
A, B, C, D = ATOMS

built = st.recursive(
    st.sampled_from([TRUE, FALSE, *ATOMS]),
    lambda inner: st.one_of(
        inner.map(negate),
        st.tuples(inner, inner).map(lambda p: both(*p)),
        st.tuples(inner, inner).map(lambda p: either(*p)),
    ),
    max_leaves=12,
)
written = st.recursive(
    st.sampled_from([TRUE, FALSE, *ATOMS]),
    lambda inner: st.one_of(
        inner.map(lambda one: ("not", one)),
        st.lists(inner, max_size=3).map(lambda parts: ("and", *parts)),
        st.lists(inner, max_size=3).map(lambda parts: ("or", *parts)),
    ),
    max_leaves=12,
)
partial = st.dictionaries(st.sampled_from(ATOMS), st.sampled_from([True, False]))


def evaluate(condition: Condition, values: dict[Condition, bool]) -> bool:
    """What Python makes of a condition."""
    match condition:
        case ("true",):
            return True
        case ("false",):
            return False
        case ("not", inner):
            return not evaluate(inner, values)
        case ("and", *parts):
            return all(evaluate(part, values) for part in parts)
        case ("or", *parts):
            return any(evaluate(part, values) for part in parts)
    return values[condition]


def worlds(fixed: dict[Condition, bool] | None = None) -> Iterator[dict[Condition, bool]]:
    """All values of the atoms that agree with *fixed*."""
    for values in product((False, True), repeat=len(ATOMS)):
        world = dict(zip(ATOMS, values, strict=True))
        if all(world[atom] is value for atom, value in (fixed or {}).items()):
            yield world


def outcomes(condition: Condition, fixed: dict[Condition, bool]) -> set[bool]:
    """The truth values that a condition takes over the worlds that agree with *fixed*."""
    return {evaluate(condition, world) for world in worlds(fixed)}


@settings(deadline=None)
@given(condition=st.one_of(built, written), fixed=partial)
def test_truth_is_sound(condition: Condition, fixed: dict[Condition, bool]) -> None:
    """A truth value is given only where every world agrees on it, and always when all atoms are known."""
    value = truth(condition, fixed.get)
    assert value is None or {value} == outcomes(condition, fixed)
    for world in worlds(fixed):
        assert truth(condition, world.get) is evaluate(condition, world)


@settings(deadline=None)
@given(condition=st.one_of(built, written), fixed=partial)
def test_possible_is_exact(condition: Condition, fixed: dict[Condition, bool]) -> None:
    """Possible means that some world makes it true."""
    assert possible(condition, fixed.get) is (True in outcomes(condition, fixed))


@settings(deadline=None)
@given(left=built, right=built)
def test_connectives(left: Condition, right: Condition) -> None:
    """Simplifying a conjunction, a disjunction or a negation keeps its truth in every world."""
    conjunction, disjunction, negation = both(left, right), either(left, right), negate(left)
    for world in worlds():
        one, other = evaluate(left, world), evaluate(right, world)
        assert evaluate(conjunction, world) is (one and other)
        assert evaluate(disjunction, world) is (one or other)
        assert evaluate(negation, world) is (not one)


@settings(deadline=None)
@given(condition=written)
def test_atoms_are_those_written(condition: Condition) -> None:
    """Every atom is given, in order, as often as it is written."""

    def listed(part: Condition) -> list[Condition]:
        if part[0] in ("and", "or", "not"):
            return [atom for inner in part[1:] for atom in listed(inner)]
        return [] if part in (TRUE, FALSE) else [part]

    assert list(atoms(condition)) == listed(condition)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (negate(TRUE), FALSE),
        (negate(FALSE), TRUE),
        (negate(negate(A)), A),
        (both(TRUE, A), A),
        (both(A, TRUE), A),
        (both(A, FALSE), FALSE),
        (both(A, A), A),
        (both(A, negate(A)), FALSE),
        (both(both(A, B), both(B, C)), ("and", A, B, C)),
        (either(FALSE, A), A),
        (either(A, FALSE), A),
        (either(A, TRUE), TRUE),
        (either(A, A), A),
        (either(A, negate(A)), TRUE),
        (either(either(A, B), either(B, C)), ("or", A, B, C)),
        (both(either(A, B), C), ("and", ("or", A, B), C)),
    ],
)
def test_normal_form(result: Condition, expected: Condition) -> None:
    """Equal conditions that arise on different ways are written the same."""
    assert result == expected


@pytest.mark.parametrize("count", [2, 7, 20])
def test_few_of_many_open_atoms_decide(count: int) -> None:
    """A contradiction is seen as such among any number of atoms, as long as few choices lead to it."""
    free = names(count)
    contradiction = ("and", ("or", *free), *(("not", atom) for atom in free))
    assert possible(contradiction, lambda _: None) is False
    assert possible(("and", ("or", *free), *(("not", atom) for atom in free[1:])), lambda _: None) is True


@pytest.mark.parametrize(("count", "seen"), [(7, True), (12, False)])
def test_too_many_open_atoms_count_as_possible(count: int, seen: bool) -> None:
    """Beyond the limit nothing is ruled out that only all of them together decide."""
    free = names(count)
    contradiction = ("and", ("or", *free), free[-1], ("not", free[-1]))
    assert possible(contradiction, lambda _: None) is not seen


@pytest.mark.parametrize("branches", [3, 9])
def test_a_name_is_one_of_many_constants_at_most(branches: int) -> None:
    """Where one branch of a chain raises, what follows it is not reached with the value of that branch."""

    def is_(value: int) -> Condition:
        return ("cmp", "Eq", ("name", "kernel"), ("const", value))

    known = [("and", is_(index), ("name", f"available{index}")) for index in range(branches)]
    passed = ("or", *known)
    at_first = ("and", passed, is_(0), ("not", ("name", "available0")))
    assert possible(at_first, lambda _: None) is False
    assert possible(("and", passed, is_(0)), lambda _: None) is True


def chain(join: Callable[[Condition, Condition], Condition], parts: list[Condition]) -> Condition:
    """All parts joined, one after the other."""
    result = parts[0]
    for part in parts[1:]:
        result = join(result, part)
    return result


def names(count: int) -> list[Condition]:
    """So many different atoms."""
    return [("name", f"x{index}") for index in range(count)]


def test_largest_conditions() -> None:
    """A chain is one flat condition up to the limit, and repeating it adds nothing."""
    parts = names(MAX_SIZE - 1)
    assert chain(both, parts * 2) == ("and", *parts)
    assert chain(either, parts * 2) == ("or", *parts)


def test_too_large_conjunction_keeps_its_ends() -> None:
    """The conditions around a long function, and the last one in it, still count."""
    parts = names(MAX_SIZE)
    half = CUT_SIZE // 2
    cut = ("and", *parts[:half], *parts[half - CUT_SIZE + 1 :])
    assert chain(both, parts) == cut
    assert chain(both, [*parts, A, B]) == (*cut, A, B)
    large = either(A, ("and", *names(MAX_SIZE - 4)))
    assert chain(both, [B, large, C, negate(D)]) == ("and", B, C, negate(D))
    huge = ("or", *names(MAX_SIZE - 1))
    assert both(B, huge) == B
    assert both(huge, negate(huge)) == FALSE
    assert both(huge, ("or", *names(MAX_SIZE - 2), B)) == TRUE


def test_too_large_disjunction_is_opaque() -> None:
    """Nothing is known of a choice among too many."""
    assert chain(either, names(MAX_SIZE)) == ("opaque", 0, 0, "large")
