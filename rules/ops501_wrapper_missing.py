"""The wrapper tables declare an implementation or a variant that no builder accepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from veomni_opslint.errors import did_you_mean
from veomni_opslint.findings import Finding, Place, Related
from veomni_opslint.rule import Rule

if TYPE_CHECKING:
    from veomni_opslint.model import OpsModel
    from veomni_opslint.model.wrappers import Element, Wrappers

rule = Rule.of(__name__)

_EFFECT = "training with async Ulysses stops at the first layer that asks for it"


def check(model: OpsModel) -> Iterator[Finding]:
    wrappers = model.wrappers
    if wrappers is None or wrappers.builders is None:
        return
    declaring = [table for table in (wrappers.implementations, wrappers.variants) if table is not None]
    for op in dict.fromkeys(op for table in declaring for op in table.ops):
        if wrappers.builders_of(op):
            yield from _refusals(model, wrappers, op)
        else:
            place = next(table.of(op)[0].place for table in declaring if op in table.ops)
            yield rule.finding(
                place,
                f"the tables declare wrappers for `{op}`, but {model.dialect.builders} has no builder for it: "
                f"{_EFFECT}; add its builder, or take the op out of the tables",
                [Related(wrappers.builders_place, "the table of builders")],
            )


def _refusals(model: OpsModel, wrappers: Wrappers, op: str) -> Iterator[Finding]:
    implementations = wrappers.declared_implementations(op) or ()
    variants = wrappers.declared_variants(op) or ()
    dead = {
        role: [one for one in elements if _refused(wrappers, op, role, one.value)]
        for role, elements in (("implementation", implementations), ("variant", variants))
    }
    if wrappers.implementations is not None and implementations and len(dead["implementation"]) == len(implementations):
        entry = wrappers.implementations.of(op)[0]
        yield _finding(wrappers, op, entry.place, "its implementations", "them", "")
        return
    for role, elements in dead.items():
        for one in elements:
            hint = _meant(wrappers, op, role, one.value)
            yield _finding(wrappers, op, one.place, f"the {role} `{one.value}`", "it", hint)
    gone = {one.value for elements in dead.values() for one in elements}
    for one in implementations:
        places: dict[Place, list[str]] = {}
        for variant, element in [] if one.value in gone else _pairs(model, wrappers, op, one, variants, gone):
            places.setdefault(element.place, []).append(f"`{variant}`")
        for place, names in places.items():
            yield _finding(wrappers, op, place, f"`{one.value}` for {', '.join(names)}", "it", "")


def _refused(wrappers: Wrappers, op: str, role: str, name: str) -> bool:
    """Whether the builders refuse a name whatever they are given for the other role."""
    results = [one for one in wrappers.results if one.op == op and name == getattr(one, role)]
    return bool(results) and all(one.verdict == "refused" for one in results)


def _pairs(
    model: OpsModel, wrappers: Wrappers, op: str, implementation: Element, variants: Iterable[Element], gone: set[str]
) -> Iterator[tuple[str, Element]]:
    """Declared variants for which an implementation is refused, and where it is declared for them.

    A table by op cannot say that an implementation is for some variants only: where the registry has no kernel for a
    pair either, builder and registry agree, and nothing is missing.
    """
    registered = model.kernel_variants()
    known = bool(registered) and not model.registrations.unresolved
    for variant in variants:
        declared = wrappers.declared_implementations(op, variant.value) or ()
        element = next((one for one in declared if one.value == implementation.value), None)
        result = wrappers.result(op, variant.value, implementation.value)
        if element is None or variant.value in gone or result is None or result.verdict != "refused":
            continue
        has_kernel = known and implementation.value in registered.get((op, variant.value), ())
        if wrappers.keyed_by_variant or has_kernel or implementation.value == model.dialect.eager or not registered:
            yield variant.value, element


def _meant(wrappers: Wrappers, op: str, role: str, name: str) -> str:
    """A name that a builder knows and the tables do not, where it looks like *name*."""
    elements = wrappers.declared_implementations(op) if role == "implementation" else wrappers.declared_variants(op)
    declared = {one.value for one in elements or ()}
    mentioned = {one.value for each in wrappers.builders_of(op) for one in each.mentions if one.role == role}
    return did_you_mean(name, sorted(mentioned - declared))


def _finding(wrappers: Wrappers, op: str, place: Place, declared: str, refused: str, meant: str) -> Finding:
    builder = wrappers.builders_of(op)[-1]
    name = f"`{builder.function}`" if builder.function.isidentifier() else builder.function or "its builder"
    hint = meant or f"; make the builder accept {refused}, or take {refused} out of the tables"
    return rule.finding(
        place,
        f"the tables declare {declared} for wrappers of `{op}`, but {name} refuses {refused}: {_EFFECT}{hint}",
        [Related(builder.definition or builder.place, "the builder")],
    )
