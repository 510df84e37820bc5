"""A wrapper has no forward or no backward, or its forward does not return (output, saved)."""

from __future__ import annotations

from collections.abc import Iterator

from veomni_opslint.extract.scope_state import span_of
from veomni_opslint.findings import Finding, Place, Related
from veomni_opslint.model import OpsModel
from veomni_opslint.model.function_bodies import FunctionBodies
from veomni_opslint.model.return_shapes import Shape
from veomni_opslint.model.wrapper_contracts import Built, Half, built
from veomni_opslint.model.wrappers import Wrappers
from veomni_opslint.rule import Rule

rule = Rule.of(__name__)

_PAIR = 2


def check(model: OpsModel) -> Iterator[Finding]:
    wrappers = model.wrappers
    if wrappers is None:
        return
    bodies = FunctionBodies(model.symbols)
    checked: set[Place | None] = set()
    for one in built(wrappers.results):
        yield from _halves(wrappers, one)
        for half in one.halves:
            if half.name == "forward" and half.status == "defined" and half.place not in checked:
                checked.add(half.place)
                yield from _returns(model, bodies, one, half)


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


def _returns(model: OpsModel, bodies: FunctionBodies, one: Built, half: Half) -> Iterator[Finding]:
    body = bodies.of(half.module, half.function) if half.function is not None else None
    for returned in body.returned() if body is not None else ():
        if returned.shape in (None, _PAIR):
            continue
        yield rule.finding(
            model.place(model.module(half.module).path, span_of(returned.node)),
            f"the forward of {one.label} returns {_described(returned.shape)} here instead of (output, saved): the "
            f"compound function that unpacks two values fails, or saves the wrong ones for the backward of `{one.op}`",
        )


def _described(shape: Shape) -> str:
    if isinstance(shape, int):
        return f"a tuple of {shape}"
    return "nothing" if shape == "none" else "a single value"
