"""The wrapper tables name a kernel that is not registered, or a config field that does not exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from veomni_opslint.errors import did_you_mean
from veomni_opslint.findings import Finding, Place, Related
from veomni_opslint.rule import Rule

if TYPE_CHECKING:
    from veomni_opslint.model import OpsModel
    from veomni_opslint.model.wrappers import Element, Entry, Table, Wrappers

rule = Rule.of(__name__)


def check(model: OpsModel) -> Iterator[Finding]:
    wrappers = model.wrappers
    if wrappers is None:
        return
    if model.registrations.kernel_specs and not model.registrations.unresolved:
        yield from _unregistered(model, wrappers)
    yield from _defaults(model, wrappers)
    yield from _fields(model, wrappers)
    yield from _gaps(wrappers)


def _unregistered(model: OpsModel, wrappers: Wrappers) -> Iterator[Finding]:
    registered = model.kernel_variants()
    ops = {op for op, _ in registered}
    tables = [table for table in (wrappers.implementations, wrappers.variants) if table is not None]
    for op in dict.fromkeys(op for table in tables for op in table.ops):
        if op not in ops:
            place = next(table.of(op)[0].place for table in tables if op in table.ops)
            yield rule.finding(
                place,
                f"the tables declare wrappers for `{op}`, but no kernel of that op is registered"
                f"{did_you_mean(op, sorted(ops))}",
            )
            continue
        variants = wrappers.declared_variants(op) or ()
        with_kernel = [one for one in variants if (op, one.value) in registered]
        for one in variants:
            if one not in with_kernel:
                yield _unknown_variant(op, one, registered)
        for one in wrappers.declared_implementations(op) or ():
            if one.value != model.dialect.eager:
                yield from _without_kernel(model, wrappers, op, one, with_kernel)


def _unknown_variant(op: str, variant: Element, registered: Iterable[tuple[str, str]]) -> Finding:
    names = {name for one, name in registered if one == op}
    return rule.finding(
        variant.place,
        f"the tables declare the variant `{variant.value}` of `{op}`, but no kernel is registered for it: no model can "
        f"have such a slot; the variants are {_listed(names)}{did_you_mean(variant.value, sorted(names))}",
    )


def _without_kernel(
    model: OpsModel, wrappers: Wrappers, op: str, implementation: Element, variants: Iterable[Element]
) -> Iterator[Finding]:
    registered = model.kernel_variants()
    lacking: list[str] = []
    having: list[str] = []
    for variant in variants:
        names = [one.value for one in wrappers.declared_implementations(op, variant.value) or ()]
        if implementation.value in names:
            has_kernel = implementation.value in registered[op, variant.value]
            (having if has_kernel else lacking).append(variant.value)
    if not having and lacking:
        kernels = {kernel for name in lacking for kernel in registered[op, name]}
        yield rule.finding(
            implementation.place,
            f"the tables declare the implementation `{implementation.value}` of `{op}`, but no such kernel is "
            f"registered for {_listed(lacking)}: a run that selects it fails when the model's slots are bound; "
            f"registered are {_listed(kernels)}{did_you_mean(implementation.value, sorted(kernels))}",
        )
        return
    # A pair that the builder refuses too is no promise: the tables cannot say it for one variant only.
    places: dict[Place, list[str]] = {}
    for name in lacking:
        result = wrappers.result(op, name, implementation.value)
        if wrappers.keyed_by_variant or result is None or result.verdict != "refused":
            declared = wrappers.declared_implementations(op, name) or ()
            place = next(one.place for one in declared if one.value == implementation.value)
            places.setdefault(place, []).append(name)
    for place, promised in places.items():
        yield rule.finding(
            place,
            f"the tables declare `{implementation.value}` of `{op}` for {_listed(promised)} too, but it is registered "
            f"for {_listed(having)} only: a run of a model with that variant fails when its slots are bound; register "
            "the kernel, or make the builder refuse the pair",
        )


def _defaults(model: OpsModel, wrappers: Wrappers) -> Iterator[Finding]:
    """Default variants that are not among the declared or the registered ones."""
    registered = model.kernel_variants() if not model.registrations.unresolved else {}
    for entry, element in _values(wrappers.default_variants):
        declared = wrappers.declared_variants(entry.op)
        names = {one.value for one in declared or ()}
        kernels = {variant for op, variant in registered if op == entry.op}
        if declared is not None and element.value not in names:
            yield rule.finding(
                element.place,
                f"the default variant of `{entry.op}` is `{element.value}`, which the tables do not declare: asking "
                "for the op by its name alone raises; "
                f"declared are {_listed(names)}{did_you_mean(element.value, sorted(names))}",
            )
        elif declared is None and kernels and element.value not in kernels:
            yield rule.finding(
                element.place,
                f"the default variant of `{entry.op}` is `{element.value}`, for which no kernel is registered; "
                f"registered are {_listed(kernels)}{did_you_mean(element.value, sorted(kernels))}",
            )


def _fields(model: OpsModel, wrappers: Wrappers) -> Iterator[Finding]:
    if model.ops_config is None:
        return
    dialect = model.dialect
    names = {field.name for field in model.ops_config.fields}
    # A property, or an attribute that is no field, can be read as well.
    names |= {one.name for one in model.module(model.ops_config.module).bindings if one.scope != 0}
    own = {op: dialect.config_field_of.get(op, op + dialect.implementation_suffix) for op in _ops(wrappers)}
    for entry, element in _values(wrappers.config_fields):
        if element.value not in names:
            yield rule.finding(
                element.place,
                f"`{element.value}` is no field of {dialect.ops_config}, so reading the implementation of `{entry.op}` "
                f"raises{did_you_mean(element.value, sorted(names))}",
                [Related(model.ops_config.place, f"the fields of {dialect.ops_config}")],
            )
        elif element.value != own.get(entry.op) and own.get(entry.op) in names and element.value in own.values():
            yield rule.finding(
                element.place,
                f"`{entry.op}` reads `{element.value}`, the field of another op, so its own field has no effect on its "
                f"wrappers; did you mean `{own[entry.op]}`?",
                [Related(model.ops_config.place, f"the fields of {dialect.ops_config}")],
            )


def _gaps(wrappers: Wrappers) -> Iterator[Finding]:
    """Ops with wrappers that the tables of defaults and fields leave out, and entries of those for nothing."""
    declared = {op for table in (wrappers.implementations, wrappers.variants) if table is not None for op in table.ops}
    built = {builder.op for builder in wrappers.builders or ()}
    for table in (wrappers.default_variants, wrappers.config_fields):
        if table is None or wrappers.unknown:
            continue
        for op in sorted((built & declared if declared else built) - set(table.ops)):
            yield rule.finding(
                table.place,
                f"{table.name} has no entry for `{op}`, which has wrappers: asking for one raises a KeyError; add it",
                _related_builder(wrappers, op),
            )
        for entry in table.entries:
            if entry.op not in built | declared and built | declared:
                yield rule.finding(
                    entry.place,
                    f"{table.name} has an entry for `{entry.op}`, which has no wrapper"
                    f"{did_you_mean(entry.op, sorted(built | declared))}",
                )


def _related_builder(wrappers: Wrappers, op: str) -> list[Related]:
    places: list[Place] = [builder.place for builder in wrappers.builders_of(op)[:1]]
    return [Related(place, "the builder") for place in places]


def _ops(wrappers: Wrappers) -> list[str]:
    return list(dict.fromkeys(op for table in wrappers.tables for op in table.ops))


def _values(table: Table | None) -> Iterator[tuple[Entry, Element]]:
    for entry in table.entries if table is not None else ():
        for element in entry.elements or ():
            yield entry, element


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) or "none"
