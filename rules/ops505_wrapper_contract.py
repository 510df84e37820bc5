"""A wrapper has no forward or no backward, or its forward does not return (output, saved)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from veomni_opslint.extract.operands import dotted
from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.findings import Finding, Place, Related
from veomni_opslint.rule import Rule

if TYPE_CHECKING:
    from veomni_opslint.model import OpsModel
    from veomni_opslint.model.return_shapes import Returned, Shape
    from veomni_opslint.model.wrapper_contracts import Built, Half
    from veomni_opslint.model.wrappers import Wrappers

rule = Rule.of(__name__)

_PAIR = 2


def check(model: OpsModel) -> Iterator[Finding]:
    wrappers = model.wrappers
    if wrappers is None:
        return
    from veomni_opslint.model.function_bodies import FunctionBodies  # noqa: PLC0415 - many trees have no wrappers
    from veomni_opslint.model.wrapper_contracts import built  # noqa: PLC0415 - as above

    bodies = FunctionBodies(model.symbols)
    forwards: dict[Place | None, tuple[Built, Half, tuple[Returned, ...]]] = {}
    for one in built(wrappers.results):
        yield from _halves(wrappers, one)
        for half in one.halves:
            if half.name == "forward" and half.status == "defined" and half.function is not None:
                returned = tuple(bodies.of(half.module, half.function).returned())
                forwards.setdefault(half.place, (one, half, returned))
    saved = {_made(part) for _, _, ends in forwards.values() for end in ends for part in _pair(end)[1:]} - {""}
    for one, half, ends in forwards.values():
        for end in ends:
            yield from _returns(model, one, half, end, saved)


def _halves(wrappers: Wrappers, one: Built) -> Iterator[Finding]:
    builder = wrappers.builders_of(one.op)[-1]
    place = one.place or builder.definition or builder.place
    related = [Related(builder.definition or builder.place, "the builder that returns it")]
    missing = [half.name for half in one.halves if half.status == "missing"]
    if missing:
        yield rule.finding(
            place,
            f"{one.label}, which is built as a wrapper of `{one.op}`, has no {' and no '.join(missing)}: the compound "
            "function that calls it fails during training; a wrapper has a forward that returns (output, saved) and "
            "a backward",
            related,
        )
    unbound = [half for half in one.halves if half.status == "unbound"]
    if unbound:
        yield rule.finding(
            place,
            f"{one.label} is returned as a wrapper of `{one.op}` without being instantiated, so its "
            f"{unbound[0].name} takes the input as `self`; return an object of it, or make its methods static",
            related,
        )


def _returns(model: OpsModel, one: Built, half: Half, end: Returned, saved: set[str]) -> Iterator[Finding]:
    swapped = [_made(part) in saved for part in _pair(end)] == [True, False]
    if end.shape in (None, _PAIR) and not swapped:
        return
    got = "(saved, output)" if swapped else _described(end.shape)
    yield rule.finding(
        model.place(model.module(half.module).path, span_of(end.node)),
        f"the forward of {one.label} returns {got} here instead of (output, saved): the compound function that unpacks "
        f"two values fails, or saves the wrong ones for the backward of `{one.op}`",
    )


def _pair(end: Returned) -> tuple[ast.expr, ...]:
    """The two expressions of a pair that is written out."""
    return tuple(end.value.elts) if isinstance(end.value, ast.Tuple) and end.shape == _PAIR else ()


def _made(node: ast.expr) -> str:
    """The name of the class, or function, whose call an expression is."""
    name = dotted(node.func) if isinstance(node, ast.Call) else ""
    return name if name.rpartition(".")[2][:1].isupper() else ""


def _described(shape: Shape) -> str:
    if isinstance(shape, int):
        return f"a tuple of {shape}"
    return "nothing" if shape == "none" else "a single value"
